"""Model calls that a server asks for: allowed once by the person, and capped in size, number and rounds."""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hermes_tui.extensions.mcp.calls import ActiveCall
from hermes_tui.extensions.mcp.scrub import plain
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.context import Asker
from hermes_tui.protocol.extensions import AskModel, ModelAnswer, ModelRequest
from hermes_tui.protocol.inquiries import ApprovalAnswer, ApprovalChoice, ApprovalInquiry
from hermes_tui.protocol.messages import ImagePart, Message, Role, ToolCall
from hermes_tui.settings import McpSamplingSettings

if TYPE_CHECKING:
    from mcp import types

logger = logging.getLogger(__name__)

REFUSED = -1
"""Error code of a request that was declined, by the protocol's own example."""


class Refused(Exception):
    """The request is declined; the text is for the server."""


class Sampler:
    """Serves the requests of one server for as long as the program runs."""

    def __init__(
        self,
        server: str,
        settings: McpSamplingSettings,
        ask_model: AskModel,
        asker: Asker,
        *,
        timeout_s: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = server
        self._settings = settings
        self._ask_model = ask_model
        self._asker = asker
        self._timeout_s = timeout_s
        self._clock = clock
        self._recent: deque[float] = deque()
        self._asking = asyncio.Lock()
        self._allowed: bool | None = None
        """What the person said for the whole run; None where they have not."""

    async def sample(
        self, params: "types.CreateMessageRequestParams", call: ActiveCall | None
    ) -> "types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData":
        from mcp import types

        try:
            self._count()
            await self._allow(params, call)
            answer = await self._answered(params, call)
        except Refused as error:
            logger.info("a model call of the MCP server %s was declined: %s", self._server, error)
            return types.ErrorData(code=REFUSED, message=str(error))
        except TimeoutError:
            logger.warning("a model call of the MCP server %s timed out", self._server)
            return types.ErrorData(code=REFUSED, message=f"no answer within {self._settings.timeout:g} s")
        except Exception as error:  # the model's failures are the server's to hear, not this connection's to die of
            logger.exception("a model call of the MCP server %s failed", self._server)
            return types.ErrorData(code=types.INTERNAL_ERROR, message=f"the model call failed: {type(error).__name__}")
        return _result(answer, params)

    def _count(self) -> None:
        now = self._clock()
        while self._recent and now - self._recent[0] >= 60:
            self._recent.popleft()
        if len(self._recent) >= self._settings.max_rpm:
            raise Refused(f"more than {self._settings.max_rpm} model calls in a minute; wait and try again")
        self._recent.append(now)

    async def _allow(self, params: "types.CreateMessageRequestParams", call: ActiveCall | None) -> None:
        async with self._asking:  # several requests at once are one question
            if self._allowed is None:
                await self._ask_person(params, call)
            elif not self._allowed:
                raise Refused("the person does not let this server use the model")

    async def _ask_person(self, params: "types.CreateMessageRequestParams", call: ActiveCall | None) -> None:
        context = call.context if call is not None else None
        tokens = min(params.max_tokens, self._settings.max_tokens_cap)
        inquiry = ApprovalInquiry(
            id=uuid4().hex,
            session_id=context.session_id if context is not None else "",
            agent_id=context.agent_id if context is not None else "",
            agent_name=f"MCP server {self._server}",
            call_id=context.call_id if context is not None else "",
            timeout_s=self._timeout_s,
            created=time.time(),
            tool=f"mcp-{self._server}",
            command=prompt_text(params),
            reason=f"The MCP server {self._server} wants your model to answer this, at your cost.",
            details=(
                f"At most {tokens} tokens an answer, {self._settings.max_rpm} calls a minute.",
                "The server gets the answer.",
            ),
            session_rule=f"model calls of the MCP server {self._server}",
            editable=False,
        )
        asker = context.asker if context is not None else self._asker
        reply = await asker.ask(inquiry, call.cancel if call is not None else None)
        if not isinstance(reply.answer, ApprovalAnswer):
            raise Refused("nobody allowed it in time")
        choice = reply.answer.choice
        if choice is not ApprovalChoice.ONCE:
            self._allowed = choice.allows
        if not choice.allows:
            raise Refused("the person does not let this server use the model")

    async def _answered(self, params: "types.CreateMessageRequestParams", call: ActiveCall | None) -> ModelAnswer:
        messages, rounds = messages_of(params)
        tools: tuple[dict[str, Any], ...] = ()
        if params.tools and rounds < self._settings.max_tool_rounds:
            tools = tuple(_definition(tool) for tool in params.tools)
        request = ModelRequest(
            messages=tuple(messages),
            max_tokens=max(1, min(params.max_tokens, self._settings.max_tokens_cap)),
            tools=tools,
            model=self._model(params),
        )
        cancel = call.cancel.child() if call is not None and call.cancel is not None else CancelToken()
        try:
            async with asyncio.timeout(self._settings.timeout):
                return await self._ask_model(request, cancel)
        finally:
            cancel.cancel("the model call of an MCP server ended")
            cancel.close()

    def _model(self, params: "types.CreateMessageRequestParams") -> str:
        """Return the model that the server's hints choose among those it may name, else the configured one."""
        preferences = params.model_preferences
        for hint in (preferences.hints or ()) if preferences is not None else ():
            for model in self._settings.allowed_models:
                if hint.name and hint.name.lower() in model.lower():
                    return model
        return self._settings.model


def prompt_text(params: "types.CreateMessageRequestParams") -> str:
    """Return the request as a person reads it."""
    lines = [f"system: {plain(params.system_prompt)}"] if params.system_prompt else []
    for message in params.messages:
        for block in message.content_as_list:
            text = getattr(block, "text", None)
            lines.append(f"{message.role}: {plain(text) if text is not None else f'[{block.type}]'}")
    return "\n".join(lines)


def messages_of(params: "types.CreateMessageRequestParams") -> tuple[list[Message], int]:
    """Return the history the server sent, and how many rounds of tool use it holds."""
    messages = [Message(role=Role.SYSTEM, content=params.system_prompt)] if params.system_prompt else []
    rounds = 0
    for message in params.messages:
        texts: list[str] = []
        images: list[ImagePart] = []
        calls: list[ToolCall] = []
        for block in message.content_as_list:
            match block.type:
                case "text":
                    texts.append(block.text)
                case "image":
                    images.append(ImagePart(f"data:{block.mime_type};base64,{block.data}"))
                case "tool_use":
                    calls.append(ToolCall(block.id, block.name, json.dumps(block.input)))
                case "tool_result":
                    content = "\n".join(getattr(part, "text", f"[{part.type}]") for part in block.content)
                    messages.append(Message(role=Role.TOOL, content=content, tool_call_id=block.tool_use_id))
                case other:
                    texts.append(f"[{other}]")
        rounds += bool(calls)
        if texts or images or calls:
            messages.append(
                Message(
                    role=Role.ASSISTANT if message.role == "assistant" else Role.USER,
                    content="\n".join(texts),
                    parts=tuple(images),
                    tool_calls=tuple(calls),
                )
            )
    return messages, rounds


def _definition(tool: "types.Tool") -> dict[str, Any]:
    function = {"name": tool.name, "description": plain(tool.description or ""), "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _result(
    answer: ModelAnswer, params: "types.CreateMessageRequestParams"
) -> "types.CreateMessageResult | types.CreateMessageResultWithTools":
    from mcp import types

    text, reason = answer.text, "maxTokens" if answer.finish_reason == "length" else "endTurn"
    for stop in params.stop_sequences or ():
        head, found, _ = text.partition(stop)
        if found:
            text, reason = head, "stopSequence"
    content = types.TextContent(type="text", text=text)
    if not answer.tool_calls:
        return types.CreateMessageResult(role="assistant", content=content, model=answer.model, stop_reason=reason)
    blocks: list[types.SamplingMessageContentBlock] = [content] if text else []
    blocks += [types.ToolUseContent(id=call.id, name=call.name, input=_arguments(call)) for call in answer.tool_calls]
    return types.CreateMessageResultWithTools(
        role="assistant", content=blocks, model=answer.model, stop_reason="toolUse"
    )


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        found = json.loads(call.arguments or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
