"""What a server wants to know from the person: its form as one question after another."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from hermes_tui.extensions.mcp.calls import ActiveCall
from hermes_tui.extensions.mcp.scrub import plain
from hermes_tui.protocol.context import Asker
from hermes_tui.protocol.inquiries import ClarifyAnswer, ClarifyInquiry, InquiryOutcome

if TYPE_CHECKING:
    from mcp import types

DECLINE = "Decline: tell the server nothing"
LEAVE_EMPTY = "Leave it empty"
YES, NO = "Yes", "No"
EMPTY_SIGN, DEFAULT_SIGN = "-", "="
"""What is typed to leave a field empty, and to take its default."""
MAX_TRIES = 4
"""Answers that do not fit before a question counts as cancelled."""


class Misfit(ValueError):
    """An answer that the field does not take; the text says what it takes."""


@dataclass(frozen=True, slots=True)
class Field:
    """One property of a form."""

    name: str
    schema: Mapping[str, Any]
    required: bool

    @property
    def label(self) -> str:
        title = str(self.schema.get("title") or self.name)
        description = str(self.schema.get("description") or "")
        return plain(f"{title}: {description}" if description else title)

    @property
    def options(self) -> dict[str, Any]:
        """What may be chosen, by what is shown; empty where the person types."""
        schema = self.schema
        if schema.get("type") == "array":
            schema = schema.get("items") or {}
        if schema.get("type") == "boolean":
            return {YES: True, NO: False}
        listed = schema.get("oneOf") or schema.get("anyOf")
        if isinstance(listed, list):
            return {plain(str(one.get("title", one["const"]))): one["const"] for one in listed if "const" in one}
        values = schema.get("enum")
        if isinstance(values, list):
            names = schema.get("enumNames") or values
            return {plain(str(name)): value for name, value in zip(names, values, strict=False)}
        return {}

    @property
    def hint(self) -> str:
        """What the field takes, for a person."""
        schema = self.schema
        match schema.get("type"):
            case "array":
                return f"Several are possible, with commas between them: {', '.join(self.options)}"
            case "integer" | "number" as kind:
                low, high = schema.get("minimum"), schema.get("maximum")
                span = (
                    f" from {low} to {high}"
                    if None not in (low, high)
                    else f" of at least {low}"
                    if low is not None
                    else f" of at most {high}"
                    if high is not None
                    else ""
                )
                return f"{'A whole number' if kind == 'integer' else 'A number'}{span}"
            case "string" if schema.get("format"):
                return f"Format: {schema['format']}"
        return ""

    @property
    def default(self) -> Any:
        return self.schema.get("default")

    @property
    def choices(self) -> tuple[str, ...]:
        """What the dialog offers; nothing where the person types."""
        if not self.options or self.schema.get("type") == "array":
            return ()
        return (*self.options, *(() if self.required else (LEAVE_EMPTY,)), DECLINE)

    @property
    def shortcuts(self) -> str:
        """What may be typed in place of an answer."""
        if self.choices:
            return ""
        ways = [] if self.required else [f"{EMPTY_SIGN} to leave it empty"]
        if self.default is not None:
            ways.append(f"{DEFAULT_SIGN} for {plain(_shown(self.default))}")
        return f"Type {' or '.join(ways)}." if ways else ""

    def read(self, text: str) -> Any:
        """Return the person's answer as the field wants it. Raises Misfit."""
        text = text.strip()
        if self.schema.get("type") == "array":
            parts = [part.strip() for part in text.split(",") if part.strip()]
            low, high = self.schema.get("minItems", 0), self.schema.get("maxItems", len(parts))
            if not low <= len(parts) <= high:
                raise Misfit(f"between {low} and {high} are wanted")
            return [self._chosen(part) for part in parts]
        if self.options:
            return self._chosen(text)
        if self.schema.get("type") in ("integer", "number"):
            return self._number(text)
        low, high = self.schema.get("minLength", 0), self.schema.get("maxLength", len(text))
        if not low <= len(text) <= high:
            raise Misfit(f"between {low} and {high} characters are wanted")
        return text

    def _chosen(self, text: str) -> Any:
        folded = text.casefold()
        for name, value in self.options.items():
            if folded in (name.casefold(), str(value).casefold()):
                return value
        raise Misfit(f"one of these is wanted: {', '.join(self.options)}")

    def _number(self, text: str) -> float | int:
        try:
            value = int(text) if self.schema["type"] == "integer" else float(text)
        except ValueError as error:
            raise Misfit(f"{self.hint} is wanted") from error
        low, high = self.schema.get("minimum"), self.schema.get("maximum")
        if (low is not None and value < low) or (high is not None and value > high) or value != value:
            raise Misfit(f"{self.hint} is wanted")
        return value


def fields_of(schema: Mapping[str, Any]) -> list[Field]:
    """Return the fields of a form, in its order."""
    required = set(schema.get("required") or ())
    properties = schema.get("properties") or {}
    return [Field(name, part if isinstance(part, dict) else {}, name in required) for name, part in properties.items()]


class Elicitor:
    """Asks the person what one server wants to know."""

    def __init__(self, server: str, asker: Asker, timeout_s: float | None) -> None:
        self._server = server
        self._asker = asker
        self._timeout_s = timeout_s

    async def ask(self, params: "types.ElicitRequestParams", call: ActiveCall | None) -> "types.ElicitResult":
        """Return what the person answered: accepted with content, declined, or cancelled."""
        from mcp import types

        if params.mode == "url":
            return await self._open_url(params, call)
        message = plain(params.message)
        fields = fields_of(params.requested_schema)
        content: dict[str, Any] = {}
        if not fields:
            answer = await self._question(message, (YES, DECLINE), call)
            return _ended(answer) if answer != YES else types.ElicitResult(action="accept", content={})
        for number, field in enumerate(fields, 1):
            step = f" ({number} of {len(fields)})" if len(fields) > 1 else ""
            text = f"{message}{step}\n\n{field.label}" if number == 1 else f"{field.label}{step}"
            given = await self._field(field, text, call)
            if isinstance(given, types.ElicitResult):
                return given
            content.update(given)
        return types.ElicitResult(action="accept", content=content)

    async def _field(self, field: Field, text: str, call: ActiveCall | None) -> "dict[str, Any] | types.ElicitResult":
        # Typed fields offer no choices: the dialog takes a digit for one of them, and answers may begin with digits.
        choices = field.choices
        misfit = ""
        for _ in range(MAX_TRIES):
            lines = [line for line in (text, field.hint, field.shortcuts, misfit) if line]
            answer = await self._question("\n".join(lines), choices, call)
            if answer is None or (answer == DECLINE and choices):
                return _ended(answer)
            if not field.required and answer == (LEAVE_EMPTY if choices else EMPTY_SIGN):
                return {}
            if not choices and field.default is not None and answer == DEFAULT_SIGN:
                return {field.name: field.default}
            try:
                return {field.name: field.read(answer)}
            except Misfit as error:
                misfit = f"{answer!r} does not fit: {error}."
        return _ended(None)

    async def _open_url(self, params: "types.ElicitRequestURLParams", call: ActiveCall | None) -> "types.ElicitResult":
        from mcp import types

        host = urlsplit(params.url).hostname or "?"
        done = f"I have opened it at {host}"
        text = f"{plain(params.message)}\n\nIt wants you to open this address in a browser:\n{plain(params.url)}"
        answer = await self._question(text, (done, DECLINE), call)
        return types.ElicitResult(action="accept") if answer == done else _ended(answer)

    async def _question(self, text: str, choices: tuple[str, ...], call: ActiveCall | None) -> str | None:
        """Return the answer; None where the person closed the question or did not come."""
        context = call.context if call is not None else None
        inquiry = ClarifyInquiry(
            id=uuid4().hex,
            session_id=context.session_id if context is not None else "",
            agent_id=context.agent_id if context is not None else "",
            agent_name=f"The MCP server {self._server}",
            call_id=context.call_id if context is not None else "",
            timeout_s=self._timeout_s,
            created=time.time(),
            question=f"{text}\n\nYour answer goes to this server; Esc tells it nothing. Never give it a password.",
            choices=choices,
        )
        asker = context.asker if context is not None else self._asker
        reply = await asker.ask(inquiry, call.cancel if call is not None else None)
        if reply.outcome is not InquiryOutcome.ANSWERED or not isinstance(reply.answer, ClarifyAnswer):
            return None
        return reply.answer.text or None


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _ended(answer: str | None) -> "types.ElicitResult":
    from mcp import types

    return types.ElicitResult(action="decline" if answer == DECLINE else "cancel")
