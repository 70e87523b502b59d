"""Model calls beside the conversation: what an MCP server asks for."""

from hermes_tui.agent.model_choice import ModelChoice
from hermes_tui.models.chunks import Completion
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.extensions import ModelAnswer, ModelRequest


async def ask_model(models: ModelChoice, request: ModelRequest, cancel: CancelToken) -> ModelAnswer:
    """Make one model call and return its answer. Raises NoClient, ModelError, Cancelled."""
    completion = Completion()
    async with models.beside(request.model, request.max_tokens) as client:
        async for chunk in client.stream(request.messages, request.tools, cancel=cancel):
            if isinstance(chunk, Completion):
                completion = chunk
        return ModelAnswer(
            text=completion.text,
            model=client.spec.id,
            tool_calls=completion.tool_calls,
            finish_reason=completion.finish_reason,
        )
