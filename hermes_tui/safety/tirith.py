"""Tirith, the external scanner, run beside the own analysis when it is installed.

Contract (its documentation): ``tirith check --json --non-interactive --shell posix -- COMMAND`` exits with 0 to allow,
1 to block and 2 to warn. A block becomes a strong question, a warning a question; anything else is a failure.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hermes_tui.safety.verdict import Decision, Verdict, strictest

_log = logging.getLogger(__name__)

TIMEOUT_S = 5.0
_MAX_FINDINGS = 20
_MAX_OUTPUT = 1 << 20


@dataclass(frozen=True, slots=True)
class Findings:
    """What Tirith said: a decision, its findings in words, and why it failed if it did."""

    decision: Decision
    texts: tuple[str, ...] = ()
    failure: str = ""


def find_tirith(home: Path | None = None) -> str | None:
    """Return the binary: ``$TIRITH_BIN``, then ``PATH``, then ``bin`` below ``home``; None if there is none."""
    configured = os.environ.get("TIRITH_BIN", "")
    for candidate in (configured, shutil.which("tirith"), str(home / "bin" / "tirith") if home else ""):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    return None


class Tirith:
    """Asks Tirith about commands. Says once that it is missing or failing, and goes by ``fail_open`` then."""

    def __init__(self, binary: str | None, *, fail_open: bool = True, timeout_s: float = TIMEOUT_S) -> None:
        self._binary = binary
        self._fail_open = fail_open
        self._timeout_s = timeout_s
        self._told = False

    @property
    def available(self) -> bool:
        return self._binary is not None

    async def check(self, command: str) -> Findings:
        """Return Tirith's findings within the time limit; never raises but when cancelled."""
        if self._binary is None:
            return self._failed("Tirith is not installed")
        arguments = ("check", "--json", "--non-interactive", "--shell", "posix", "--", command)
        try:
            process = await asyncio.create_subprocess_exec(
                self._binary,
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ},
            )
        except (OSError, ValueError) as error:
            return self._failed(f"Tirith could not be started: {error}")
        try:
            output, _ = await asyncio.wait_for(process.communicate(), self._timeout_s)
        except TimeoutError:
            return self._failed(f"Tirith did not answer within {self._timeout_s:g} s")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        decision = {0: Decision.ALLOW, 1: Decision.ASK_STRONG, 2: Decision.ASK}.get(
            process.returncode if process.returncode is not None else -1
        )
        if decision is None:
            return self._failed(f"Tirith ended with status {process.returncode}")
        return Findings(decision, _texts(output[:_MAX_OUTPUT]) if decision is not Decision.ALLOW else ())

    def _failed(self, why: str) -> Findings:
        """Return the answer for a scanner that gave none; the reason is told once."""
        failure = "" if self._told else why
        if failure:
            _log.warning("%s", why)
        self._told = True
        return Findings(
            Decision.ALLOW if self._fail_open else Decision.ASK, (), failure or ("" if self._fail_open else why)
        )


def _texts(output: bytes) -> tuple[str, ...]:
    """Return the findings as lines: severity, title."""
    try:
        content: Any = json.loads(output)
    except ValueError:
        return ()
    found = content.get("findings", []) if isinstance(content, dict) else []
    texts = []
    for finding in found[:_MAX_FINDINGS] if isinstance(found, list) else []:
        if isinstance(finding, dict):
            title = str(finding.get("title") or finding.get("description") or finding.get("rule_id") or "a finding")
            severity = str(finding.get("severity", "")).lower()
            texts.append(f"Tirith: {title}" + (f" ({severity})" if severity else ""))
    return tuple(dict.fromkeys(texts))


def combine(verdict: Verdict, findings: Findings) -> Verdict:
    """Return the verdict with the findings: they only make it stricter, and "always" is not offered for them."""
    decision = strictest(verdict.decision, findings.decision)
    if findings.decision is Decision.ALLOW:
        return verdict
    reason = "; ".join(part for part in (verdict.reason, *findings.texts, findings.failure) if part)
    return replace(verdict, decision=decision, reason=reason, rule=None, session_rule=None)
