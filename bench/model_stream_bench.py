"""What a chunk of a streamed answer costs, beside the SDK's own stream. Run: ``python -m bench.model_stream_bench``.

Times are CPU times of the client's thread, against the scripted server in a thread of the same process.
"""

import asyncio
import time

from hermes_tui.models.assembly import Assembler
from hermes_tui.models.client import ModelClient
from hermes_tui.models.spec import ModelSpec
from hermes_tui.models.sse import EventDecoder
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.messages import Message, Role
from tests.fakes.model_replies import Reply, text
from tests.fakes.model_server import ModelServer

_CHUNKS = 5_000
_HELLO = [Message(role=Role.USER, content="hi")]


def parse_us(reply: Reply) -> float:
    """Microseconds per chunk from bytes to chunks, one event per read."""
    decoder, assembler = EventDecoder(), Assembler()
    start = time.thread_time()
    for piece in reply.pieces:
        for payload in decoder.feed(piece):
            assembler.feed(payload)
    return _per_chunk(start)


async def client_us(url: str) -> float:
    """Microseconds per chunk of a whole call through ModelClient."""
    client = ModelClient(ModelSpec(id="m", provider="bench", base_url=url))
    client.warm_up()
    start = time.thread_time()
    async for _ in client.stream(_HELLO, [], cancel=CancelToken()):
        pass
    took = _per_chunk(start)
    await client.close()
    return took


async def sdk_us(url: str) -> float:
    """Microseconds per chunk of the same call through the SDK alone."""
    import openai

    async with openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:
        start = time.thread_time()
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        async with stream:
            async for chunk in stream:
                _ = chunk.choices and chunk.choices[0].delta.content
        return _per_chunk(start)


def _per_chunk(start: float) -> float:
    return (time.thread_time() - start) / _CHUNKS * 1e6


def main() -> None:
    reply = text(" word" * _CHUNKS)
    print(f"parsing alone       {parse_us(reply):7.1f} µs a chunk")
    for name, served in (("as fast as it goes", reply), ("2,000 tokens a s", reply.paced(2_000))):
        with ModelServer([served, served]) as server:
            ours, theirs = asyncio.run(client_us(server.url)), asyncio.run(sdk_us(server.url))
        print(f"{name:<19} {ours:7.1f} µs a chunk; the SDK's stream {theirs:.1f}")


if __name__ == "__main__":
    main()
