"""Model servers on this machine."""

import time

import pytest

from hermes_tui.models.chunks import Completion
from hermes_tui.models.client import ModelClient
from hermes_tui.models.errors import ErrorKind, ModelError
from hermes_tui.models.local_servers import LocalModel, LocalServer, find_local_servers, models_in
from hermes_tui.models.spec import ModelSpec
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.messages import Message, Role
from tests.fakes.model_replies import text
from tests.fakes.model_server import ModelServer
from tests.fakes.raw_server import answering, http


async def test_those_that_answer_are_found_in_order() -> None:
    with ModelServer([], model="one") as first, ModelServer([], model="two") as second, answering(b"") as silent:
        start = time.monotonic()
        found = await find_local_servers(ports={"A": second.port, "Silent": silent, "Closed": 1, "B": first.port})
        took = time.monotonic() - start
    assert found == [
        LocalServer("A", second.url, (LocalModel("two"),)),
        LocalServer("B", first.url, (LocalModel("one"),)),
    ]
    assert took < 0.9


@pytest.mark.parametrize(
    "answer",
    [
        http(b"<html>a web server</html>"),
        http(b'{"detail": "Not Found"}', b"HTTP/1.1 404 Not Found\r\n"),
        http(b"[1, 2]"),
        http(b'{"data": "x"}'),
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\xff\xfe\x00",
        http(b"{" * 2**21),
    ],
    ids=["page", "404", "list", "text", "ssh", "binary", "endless"],
)
async def test_other_things_on_these_ports_are_no_model_servers(answer: bytes) -> None:
    with answering(answer) as port:
        assert await find_local_servers(ports={"vLLM": port}) == []


async def test_a_server_without_models_is_still_a_server() -> None:
    with answering(http(b'{"object": "list", "data": []}')) as port:
        assert [server.models for server in await find_local_servers(ports={"Ollama": port})] == [()]


async def test_ollama_is_asked_in_its_own_way_too() -> None:
    with answering(http(b'{"models": [{"name": "qwen3:8b"}, {"name": "nomic-embed-text"}]}')) as port:
        assert (await find_local_servers(ports={"Ollama": port}))[0].models == (LocalModel("qwen3:8b"),)


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"max_model_len": 32768}, 32768),
        ({"meta": {"n_ctx_train": 131072}}, 131072),
        ({"meta": {"n_ctx": 4096, "n_ctx_train": 131072}}, 4096),
        ({"context_length": 8192}, 8192),
        ({"meta": None, "max_model_len": None}, 0),
    ],
)
def test_windows_are_read_where_servers_tell_them(entry: dict[str, object], window: int) -> None:
    assert models_in({"data": [{"id": "m", **entry}]}) == (LocalModel("m", window),)


def test_a_found_model_has_a_spec() -> None:
    spec = LocalServer("Ollama", "http://127.0.0.1:11434/v1").spec(LocalModel("gemma3:4b", 8192))
    assert (spec.id, spec.provider_label, spec.context_window, spec.images) == ("gemma3:4b", "Ollama", 8192, True)
    assert not spec.context_is_guess


async def test_an_unnamed_model_is_the_first_of_a_local_server() -> None:
    with ModelServer([text("hi")], model="the-model") as server:
        model = ModelClient(ModelSpec(id="", provider="custom", base_url=server.url))
        user = [Message(role=Role.USER, content="hi")]
        chunks = [each async for each in model.stream(user, [], cancel=CancelToken())]
        await model.close()
    assert isinstance(chunks[-1], Completion)
    assert model.spec.id == server.requests[0].body["model"] == "the-model"


async def test_an_unnamed_model_that_nobody_serves_is_told() -> None:
    with answering(http(b'{"data": []}', b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n")) as port:
        model = ModelClient(ModelSpec(id="", provider="custom", base_url=f"http://127.0.0.1:{port}/v1"))
        with pytest.raises(ModelError, match="No model is named") as failed:
            await anext(model.stream([], [], cancel=CancelToken()))
        await model.close()
    assert failed.value.kind is ErrorKind.NOT_FOUND
