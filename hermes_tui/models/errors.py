"""What can go wrong in a model call, told to a person: what happened, what was kept, what to do next."""

import re
import socket
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from hermes_tui.models.spec import ModelSpec


class ErrorKind(StrEnum):
    AUTH = "auth"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    CONTEXT_LENGTH = "context_length"
    RATE_LIMIT = "rate_limit"
    BAD_REQUEST = "bad_request"
    SERVER = "server"
    NETWORK = "network"
    TIMEOUT = "timeout"
    BAD_RESPONSE = "bad_response"


_RETRIABLE = {ErrorKind.RATE_LIMIT, ErrorKind.SERVER, ErrorKind.NETWORK, ErrorKind.TIMEOUT, ErrorKind.BAD_RESPONSE}

KEPT = "The conversation is kept."


class ModelError(Exception):
    """A model call failed for good, or the client is about to try it again.

    ``str(error)`` is the whole text for the person. ``reason`` is the same in a few words.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        hint: str,
        *,
        reason: str = "",
        status: int | None = None,
        retriable: bool | None = None,
        headers: Mapping[str, str] | None = None,
        server_text: str = "",
    ) -> None:
        message += "" if message.endswith((".", "!", "?", "…")) else "."
        super().__init__(f"{message} {KEPT} {hint}")
        self.kind = kind
        self.message = message
        self.hint = hint
        self.reason = reason or kind.replace("_", " ")
        self.status = status
        self.retriable = kind in _RETRIABLE if retriable is None else retriable
        self.headers = headers or {}
        self.server_text = server_text


_CONTEXT_WORDS = re.compile(
    r"context[ _](length|window|size)|context_length_exceeded|exceed_context|prompt is too long|input is too long"
    r"|too many (input )?tokens|maximum (number of )?tokens|reduce the length|max_prompt_tokens",
    re.IGNORECASE,
)
_QUOTA_WORDS = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit balance", re.IGNORECASE)
_NO_MODEL_WORDS = re.compile(r"model.{0,80}(not found|does not exist|not exist)", re.IGNORECASE)
_PER_MINUTE_WORDS = re.compile(r"per (minute|day)|\b[TR]P[MD]\b")
_MODEL_WORDS = re.compile(r"model|endpoints found", re.IGNORECASE)
_NO_TOOLS_WORDS = re.compile(r"support tool|tool use|tools? (is|are) not supported", re.IGNORECASE)


def from_status(status: int, text: str, spec: ModelSpec, headers: Mapping[str, str] | None = None) -> ModelError:
    """Classify an HTTP error answer. ``text`` is what the server said."""
    said = shown(text, spec)
    head, tail = f"{spec.provider_label} answered {status}", f": {said}" if said else "."
    kind, hint, reason, retriable = _classify(status, text, spec)
    if (headers or {}).get("x-should-retry") == "false":
        retriable = False
    return ModelError(
        kind,
        f"{_CAUSES[kind].format(head=head, model=spec.id)}{tail}",
        hint,
        reason=f"{reason} ({status})",
        status=status,
        retriable=retriable,
        headers=headers,
        server_text=text,
    )


_CAUSES = {
    ErrorKind.AUTH: "The key was refused: {head}",
    ErrorKind.PERMISSION: "This key may not do that: {head}",
    ErrorKind.NOT_FOUND: "The model {model} was not found: {head}",
    ErrorKind.CONTEXT_LENGTH: "The conversation is too long for {model}: {head}",
    ErrorKind.RATE_LIMIT: "Too many requests or tokens for now: {head}",
    ErrorKind.BAD_REQUEST: "The request was refused: {head}",
    ErrorKind.SERVER: "The provider has a problem: {head}",
    ErrorKind.TIMEOUT: "The provider gave up waiting: {head}",
}


class _Class(NamedTuple):
    kind: ErrorKind
    hint: str
    reason: str
    """In a few words."""
    retriable: bool | None = None
    """None: as the kind says."""


_OTHER_MODEL = "choose another model with /model or --model"
_PICK_MODEL = "Choose another model with /model or --model, or correct model.name in config.yaml."


def _classify(status: int, text: str, spec: ModelSpec) -> _Class:
    refused_request = status in (400, 404, 422)
    if status == 401:
        where = f"Set a valid key in {spec.key_variable}" if spec.key_variable else "This server wants a key: set one"
        return _Class(ErrorKind.AUTH, f"{where}, then send your message again.", "key refused")
    if status == 402 or (status == 429 and _QUOTA_WORDS.search(text)):
        kind = ErrorKind.PERMISSION if status == 402 else ErrorKind.RATE_LIMIT
        return _Class(kind, f"Add credit at {spec.provider_label}, or {_OTHER_MODEL}.", "no credit left", False)
    if status == 403:
        hint = f"Check what the key may use at {spec.provider_label}, or {_OTHER_MODEL}."
        return _Class(ErrorKind.PERMISSION, hint, "not permitted")
    if status == 413 and _PER_MINUTE_WORDS.search(text):
        hint = f"Start a new session with /new, or {_OTHER_MODEL} that has a higher limit."
        return _Class(ErrorKind.RATE_LIMIT, hint, "more tokens than a minute allows", False)
    if status == 413 or (status in (400, 422, 500) and _CONTEXT_WORDS.search(text)):
        hint = f"Start a new session with /new, or {_OTHER_MODEL} that has a larger window."
        return _Class(ErrorKind.CONTEXT_LENGTH, hint, "conversation too long", False)
    if refused_request and "/v1/responses" in text:
        hint = f"This model takes tools only through another API: {_OTHER_MODEL}, or use it by OpenRouter."
        return _Class(ErrorKind.BAD_REQUEST, hint, "request refused")
    if refused_request and _NO_TOOLS_WORDS.search(text):
        hint = f"This model takes no tools, which an agent needs: {_OTHER_MODEL}."
        return _Class(ErrorKind.BAD_REQUEST, hint, "the model takes no tools")
    if status == 404 or (refused_request and _NO_MODEL_WORDS.search(text)):
        wrong_path = bool(text) and not _MODEL_WORDS.search(text)
        hint = f"Check the address {spec.base_url}: it usually ends in /v1." if wrong_path else _PICK_MODEL
        return _Class(ErrorKind.NOT_FOUND, hint, "model not found")
    if status == 429:
        return _Class(ErrorKind.RATE_LIMIT, "Wait a little, then send your message again.", "rate limited")
    if status in (408, 504):
        return _Class(ErrorKind.TIMEOUT, "Send your message again.", "provider timed out")
    if status == 409 or status >= 500:
        reason = "overloaded" if status in (503, 529) else "server error"
        return _Class(ErrorKind.SERVER, f"Send your message again in a while, or {_OTHER_MODEL}.", reason)
    hint = f"Read what the provider says; then change the request or the settings, or {_OTHER_MODEL}."
    return _Class(ErrorKind.BAD_REQUEST, hint, "request refused")


def from_stream_error(error: Any, spec: ModelSpec) -> ModelError:
    """Classify an error object that came inside a stream that had begun well (status 200)."""
    body = error if isinstance(error, dict) else {"message": str(error)}
    text = " ".join(str(body[name]) for name in ("message", "code", "type") if body.get(name))
    code = body.get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return from_status(code, text, spec)
    if isinstance(code, str) and code.isdigit() and 400 <= int(code) < 600:
        return from_status(int(code), text, spec)
    if _CONTEXT_WORDS.search(text):
        return from_status(400, text, spec)
    if re.search(r"rate.?limit", text, re.IGNORECASE) or _QUOTA_WORDS.search(text):
        return from_status(429, text, spec)
    if "invalid_request" in text or "authentication" in text:
        return from_status(401 if "authentication" in text else 400, text, spec)
    return ModelError(
        ErrorKind.SERVER,
        f"{spec.provider_label} broke off its answer: {shown(text, spec)}",
        f"Send your message again in a while, or {_OTHER_MODEL}.",
        reason="the provider broke off",
        server_text=text,
    )


def broken_stream(why: str, spec: ModelSpec) -> ModelError:
    """The answer came, but not as an answer should, and asking again may help."""
    return ModelError(
        ErrorKind.BAD_RESPONSE,
        f"The answer of {spec.provider_label} is broken: {why}.",
        "Send your message again.",
        reason=f"broken answer: {why}",
    )


def no_answer(start: str, spec: ModelSpec) -> ModelError:
    """Something answered that is no model server."""
    return ModelError(
        ErrorKind.BAD_RESPONSE,
        f"What answers at {spec.base_url} is not a chat API; it said: {shown(start, spec, limit=80)}",
        "Check base_url: it usually ends in /v1.",
        retriable=False,
    )


def impossible_request(error: BaseException, spec: ModelSpec) -> ModelError:
    """The request could not even be made: an address or a key that cannot be one."""
    return ModelError(
        ErrorKind.BAD_REQUEST,
        f"The request to {spec.base_url} could not be made: {shown(str(error), spec)}",
        "Check the address and the key of the model in config.yaml and .env.",
    )


def unnamed_model(offered: list[str], spec: ModelSpec) -> ModelError:
    """No model was named, and the server leaves more than one choice, or none."""
    listed = f"It offers {', '.join(offered[:5])}{' …' if len(offered) > 5 else ''}." if offered else "It offers none."
    return ModelError(
        ErrorKind.NOT_FOUND,
        f"No model is named for {spec.host}. {listed}",
        "Name one with --model or model.name in config.yaml.",
    )


def timed_out(waited_s: float, begun: bool, spec: ModelSpec) -> ModelError:
    what = "fell silent in the middle of its answer" if begun else "did not begin to answer"
    return ModelError(
        ErrorKind.TIMEOUT,
        f"{spec.provider_label} {what}: nothing came for {waited_s:.0f} s.",
        "Send your message again; model.stall_timeout_s in config.yaml sets how long to wait.",
        reason=f"nothing came for {waited_s:.0f} s",
    )


def from_connection(error: BaseException, spec: ModelSpec, *, begun: bool) -> ModelError:
    """Classify a failure of the connection itself."""
    where = spec.host
    if begun:
        return ModelError(
            ErrorKind.NETWORK,
            f"The connection to {where} was cut in the middle of the answer.",
            "Check the network, then send your message again.",
            reason="connection cut",
        )
    hint = "Check the network, then send your message again."
    why, reason = "the connection failed", "no connection"
    for cause in _causes(error):
        text = str(cause)
        if isinstance(cause, socket.gaierror) or "Name or service not known" in text or "getaddrinfo" in text:
            why, reason = "its name could not be resolved; there may be no network", "no network"
        elif isinstance(cause, ConnectionRefusedError) or "refused" in text or "attempts failed" in text:
            why, reason = "nothing listens there", "connection refused"
            hint = "Start the server, or check base_url." if spec.local else hint
        elif "CERTIFICATE_VERIFY" in text:
            why, reason = "its certificate was not accepted", "certificate not accepted"
            hint = "Check the clock and any proxy; SSL_CERT_FILE can name the certificates to trust."
        elif type(cause).__name__ in ("RemoteProtocolError", "ReadError"):
            why, reason = "it closed the connection without an answer", "connection closed"
        elif "Timeout" in type(cause).__name__:
            why, reason = "connecting took too long", "no connection in time"
    return ModelError(ErrorKind.NETWORK, f"{where} could not be reached: {why}.", hint, reason=reason)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup) and error.exceptions:
            yield from error.exceptions
        error = error.__cause__ or error.__context__


def shown(text: str, spec: ModelSpec, *, limit: int = 300) -> str:
    """A server's words as one line for a person: without our key, control characters and length."""
    key = spec.api_key.reveal()
    if key:
        text = text.replace(key, "[key]")
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
