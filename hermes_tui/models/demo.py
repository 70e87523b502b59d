"""The offline demo model: a script behind the very same client, over a transport without a socket.

The client sends a real request and reads a real event stream; only the far end is a function of the conversation.
"""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_tui.models.client import ModelClient
from hermes_tui.models.demo_folder import prepare_demo_folder
from hermes_tui.models.demo_script import next_answer
from hermes_tui.models.demo_turn import Say
from hermes_tui.models.spec import ModelSpec
from hermes_tui.models.tokens import text_tokens

if TYPE_CHECKING:
    import httpx2

__all__ = ["demo_client", "prepare_demo_folder"]

TOKENS_PER_S = 80.0


def demo_client(
    workspace: Path,
    *,
    tokens_per_s: float = TOKENS_PER_S,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> ModelClient:
    """Return a client whose model is the demo script. ``workspace`` is the folder it tells the person about.

    ``tokens_per_s`` 0 streams without pauses.
    """
    spec = ModelSpec(id="demo", provider="demo", provider_label="Demo script", base_url="http://demo.invalid/v1")

    def http_client() -> "httpx2.AsyncClient":
        import httpx2

        async def answer(request: httpx2.Request) -> httpx2.Response:
            body = json.loads(request.content)
            said = next_answer(body["messages"], body.get("tools") or [], str(workspace))
            stream = _event_stream(said, _usage(request.content, said), 1 / tokens_per_s if tokens_per_s else 0, sleep)
            return httpx2.Response(200, headers={"Content-Type": "text/event-stream"}, content=stream)

        return httpx2.AsyncClient(transport=httpx2.MockTransport(answer), base_url=spec.base_url)

    return ModelClient(spec, make_http_client=http_client)


async def _event_stream(
    said: Say, usage: dict[str, int], gap_s: float, sleep: Callable[[float], Awaitable[None]]
) -> AsyncIterator[bytes]:
    for delta in _deltas(said):
        yield _event([{"index": 0, "delta": delta, "finish_reason": None}])
        if gap_s:
            await sleep(gap_s)
    yield _event([{"index": 0, "delta": {}, "finish_reason": "tool_calls" if said.calls else "stop"}])
    yield _event([], usage)
    yield b"data: [DONE]\n\n"


def _deltas(said: Say) -> list[dict[str, Any]]:
    """Cut an answer into the deltas of a stream, about a token each."""
    cut: list[dict[str, Any]] = [{"reasoning_content": piece} for piece in _pieces(said.reasoning)]
    cut += [{"content": piece} for piece in _pieces(said.text)]
    for index, call in enumerate(said.calls):
        call_id = f"call_{secrets.token_hex(6)}"
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": call.tool, "arguments": ""}}
        cut.append({"tool_calls": [head]})
        text = json.dumps(call.arguments)
        for start in range(0, len(text), 16):
            cut.append({"tool_calls": [{"index": index, "function": {"arguments": text[start : start + 16]}}]})
    return cut


def _pieces(text: str) -> list[str]:
    return re.findall(r"\s*[^\s]{1,6}|\s+", text)


def _event(choices: list[dict[str, Any]], usage: dict[str, int] | None = None) -> bytes:
    data = {"id": "demo", "object": "chat.completion.chunk", "model": "demo", "choices": choices, "usage": usage}
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def _usage(request: bytes, said: Say) -> dict[str, int]:
    """Counts of the size that a model would tell, so that the display of the window has something to show."""
    written = said.text + said.reasoning + "".join(json.dumps(call.arguments) for call in said.calls)
    sent = text_tokens(request.decode())
    return {"prompt_tokens": sent, "completion_tokens": text_tokens(written), "total_tokens": sent}
