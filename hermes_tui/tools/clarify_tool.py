"""clarify: a question to the person, with choices or free text."""

import time
from typing import Any
from uuid import uuid4

from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.inquiries import ClarifyAnswer, ClarifyInquiry, InquiryOutcome
from hermes_tui.tools.handlers import Arguments, ToolFailure, text_argument, with_context
from hermes_tui.tools.registry import registry

MAX_CHOICES = 4
DEFAULT_TIMEOUT_S = 120.0
_CHOICE_KEYS = ("label", "text", "title", "value", "name", "choice")

_UNANSWERED = {
    InquiryOutcome.TIMED_OUT: (
        "The person did not answer in time. That is neither a yes nor a no: take the careful way, or do what needs no "
        "answer, and say at the end what is still open"
    ),
    InquiryOutcome.NOBODY: (
        "Nobody is there to answer in this run. Decide by what you know, take the careful way, and say what you assumed"
    ),
    InquiryOutcome.CANCELLED: "The question was withdrawn, since the turn was interrupted. It was not answered",
}


def clarify(args: Arguments, context: ToolContext) -> dict[str, Any]:
    """Ask the person and return the question, what was offered and what they said."""
    question = text_argument(args, "question").strip()
    if not question:
        raise ToolFailure("question is empty")
    choices = _choices(args.get("choices"))
    inquiry = ClarifyInquiry(
        id=uuid4().hex,
        session_id=context.session_id,
        agent_id=context.agent_id,
        agent_name=context.agent_name,
        call_id=context.call_id,
        timeout_s=_timeout_s(context),
        created=time.time(),
        question=question,
        choices=tuple(choices),
    )
    reply = context.asker.ask_sync(inquiry, context.cancel)
    if isinstance(reply.answer, ClarifyAnswer) and reply.outcome is InquiryOutcome.ANSWERED:
        return {"question": question, "choices_offered": choices, "user_response": reply.answer.text}
    why = _UNANSWERED.get(reply.outcome, "The person closed the question without an answer")
    return {
        "question": question,
        "choices_offered": choices,
        "user_response": None,
        "status": reply.outcome.value if reply.outcome in _UNANSWERED else "closed",
        "note": why,
    }


def _timeout_s(context: ToolContext) -> float | None:
    """Return the seconds an answer is waited for; a setting of 0 waits for ever."""
    configured = float(context.options.get("clarify.timeout", DEFAULT_TIMEOUT_S))
    return configured or None


def _choices(given: Any) -> list[str]:
    """Return the choices as distinct texts; models also send them as objects or as one text with lines."""
    if given is None:
        return []
    entries = given.split("\n") if isinstance(given, str) else given
    if not isinstance(entries, list):
        raise ToolFailure("choices must be a list of texts")
    texts = [_text(entry) for entry in entries]
    choices = list(dict.fromkeys(text for text in texts if text))
    if len(choices) > MAX_CHOICES:
        raise ToolFailure(f"{len(choices)} choices are too many: give at most {MAX_CHOICES}; the person may also type")
    return choices


def _text(entry: Any) -> str:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in _CHOICE_KEYS if entry.get(key)), next(iter(entry.values()), ""))
    return " ".join(str(entry).split())


registry.register(
    name="clarify",
    toolset="clarify",
    schema={
        "name": "clarify",
        "description": (
            "Ask the person one question that you cannot answer yourself and that changes what you do next. Offer up "
            f"to {MAX_CHOICES} choices, the best first; they may always type an answer of their own. Not for "
            "permissions: risky calls are asked about anyway."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "question": {"type": "string"},
                "choices": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_CHOICES},
            },
            "required": ["question"],
        },
    },
    handler=with_context(clarify, otherwise="clarify needs a session with a person in it"),
    emoji="❓",
)
