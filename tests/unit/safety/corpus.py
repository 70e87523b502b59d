"""The corpus as typed rows, and the figures that a set of verdicts makes."""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")
DANGEROUS = ("destructive", "privileged", "exfil_or_remote_exec", "catastrophic")


@dataclass(frozen=True)
class Row:
    id: str
    command: str
    label: str
    asks: bool
    blocks: bool
    contested: bool
    category: str
    technique: str
    display: tuple[str, ...]

    @property
    def harmless(self) -> bool:
        return not self.asks and self.label not in DANGEROUS


@lru_cache(maxsize=1)
def corpus() -> tuple[Row, ...]:
    rows = []
    for line in (DATA / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        raw: dict[str, Any] = json.loads(line)
        rows.append(
            Row(
                raw["id"],
                raw["command"],
                raw["label"],
                raw["expected_prompt"],
                raw["expected_block"],
                raw["contested"],
                raw["category"],
                raw["technique"],
                tuple(raw["display"]),
            )
        )
    return tuple(rows)


@lru_cache(maxsize=1)
def oracle() -> dict[str, list[list[str]]]:
    """Return id -> the argv of everything that bash really started."""
    rows = [json.loads(line) for line in (DATA / "oracle.jsonl").read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row["argv"] for row in rows}


@dataclass
class Share:
    hits: int = 0
    total: int = 0
    others: list[str] = field(default_factory=list)

    def add(self, hit: bool, name: str) -> None:
        self.total += 1
        self.hits += hit
        if not hit:
            self.others.append(name)

    @property
    def per_cent(self) -> float:
        return 100 * self.hits / self.total if self.total else 100.0


def score(decisions: dict[str, str], flags: dict[str, tuple[str, ...]]) -> dict[str, Share]:
    """Return the figures, each as a share of what should be so (for false prompts: of what stays silent)."""
    shares: dict[str, Share] = defaultdict(Share)
    for row in corpus():
        decision = decisions[row.id]
        name = f"{row.id} {row.command[:100]!r}"
        if row.display:
            shares["display flags raised"].add(set(row.display) <= set(flags[row.id]), name)
        if row.contested:
            continue
        if row.label in DANGEROUS and row.asks:
            shares[f"flagged, {row.label}"].add(decision != "allow", name)
            shares[f"technique {row.technique}"].add(decision != "allow", name)
        if row.blocks:
            shares["blocked, of catastrophic"].add(decision == "block", name)
        elif row.label in DANGEROUS:
            shares["not blocked, of those to ask about"].add(decision != "block", name)
        if row.harmless:
            shares["silent, of harmless"].add(decision == "allow", name)
            shares["not blocked, of harmless"].add(decision != "block", name)
            if row.category == "text-trap":
                shares["silent, of text traps"].add(decision == "allow", name)
    return dict(shares)
