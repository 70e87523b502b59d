"""What a handler gave back -> the result that the model reads and the person sees."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_tui.agent.spill import cap, clean_text
from hermes_tui.protocol.messages import ImagePart, Part, ToolOutcome, ToolResult
from hermes_tui.tools.registry import DEFAULT_MAX_RESULT_CHARS, ToolEntry, contract_error, json_text

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RawResult:
    """A handler's result, read: text for the model, and images."""

    text: str
    parts: tuple[Part, ...] = ()


def read_raw(name: str, raw: object) -> RawResult:
    """Return what a handler gave back; an error result where it broke the contract."""
    if isinstance(raw, Mapping) and raw.get("_multimodal") and isinstance(raw.get("content"), list):
        texts: list[str] = []
        images: list[Part] = []
        for part in raw["content"]:
            match part:
                case {"type": "text", "text": str(text)}:
                    texts.append(text)
                case {"type": "image_url", "image_url": {"url": str(url)}}:
                    images.append(ImagePart(url))
        return RawResult("\n".join(texts), tuple(images))
    return RawResult(contract_error(name, raw) or str(raw))


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about a finished call beside its result."""

    call_id: str
    entry: ToolEntry
    spill_dir: Path
    display: dict[str, Any]
    limit: int | None = None
    note: str = ""
    redact: Callable[[str], str] | None = None
    duration_s: float = 0.0
    waited_s: float = 0.0


def finished(raw: RawResult, facts: Facts) -> ToolResult:
    """Return the result of a call whose handler came back. Blocks on the disk where the result is long."""
    text = clean_text(raw.text)
    if facts.redact is not None:
        text = facts.redact(text)
    data = _object(text)
    if facts.note:
        text = json_text({**data, "note": facts.note}) if data is not None else f"{text}\n\n[{facts.note}]"
    display = dict(facts.display)
    outcome, error, exit_code = _judged(data or {}, display)
    limit = facts.entry.max_result_size_chars or DEFAULT_MAX_RESULT_CHARS
    capped = cap(text, min(limit, facts.limit or limit), facts.spill_dir, facts.call_id)
    if capped.text is not text:
        whole = f"the whole is in {capped.path}" if capped.path else f"the whole is lost: {capped.error}"
        logger.info("result of tool %s truncated from %d characters; %s", facts.entry.name, len(text), whole)
    return ToolResult(
        call_id=facts.call_id,
        content=capped.text,
        outcome=outcome,
        parts=raw.parts,
        error=error,
        exit_code=exit_code,
        duration_s=facts.duration_s,
        waited_s=facts.waited_s,
        size_chars=len(text),
        spilled_to=capped.path or str(display.get("spilled_to", "")),
        display=display,
    )


def _object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _judged(data: Mapping[str, Any], display: dict[str, Any]) -> tuple[ToolOutcome, str, int | None]:
    """Return outcome, error text and exit code. The tool may say its outcome itself, in ``display["outcome"]``."""
    code = display.get("exit_code", data.get("exit_code"))
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    error = data.get("error")
    said = display.pop("outcome", None)
    text = str(error) if error else ""
    if said in set(ToolOutcome):
        return ToolOutcome(said), text, exit_code
    failed = bool(text) or bool(exit_code)
    return (ToolOutcome.FAILED if failed else ToolOutcome.DONE), text, exit_code
