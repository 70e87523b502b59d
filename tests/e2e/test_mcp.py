"""MCP servers for real: the two public ones from npm, HTTP and SSE in processes of their own, and the whole program."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from hermes_tui.extensions.mcp.servers import McpServers
from hermes_tui.protocol.extensions import McpState
from hermes_tui.protocol.inquiries import ApprovalChoice
from hermes_tui.settings import McpServerSettings
from tests.e2e.terminal import ROOT, Terminal
from tests.fakes.model_replies import call, text, tool_calls
from tests.fakes.model_server import ModelServer
from tests.unit.extensions.support import Person, World, ready, state_of

SERVICES = Path(os.environ.get("HERMES_TEST_SERVICES", "/var/tmp/hermes-tui-services"))
PACKAGES = SERVICES / "mcp" / "node_modules" / "@modelcontextprotocol"
EVERYTHING = str(PACKAGES / "server-everything" / "dist" / "index.js")
FILES = str(PACKAGES / "server-filesystem" / "dist" / "index.js")

LISTENS_S = 0.7
"""A dialog listens to keys once it has been on the screen for half a second."""

Start = Callable[..., Awaitable[McpServers]]
Talk = Callable[..., tuple[Terminal, ModelServer]]

public = pytest.mark.skipif(
    shutil.which("node") is None or not Path(EVERYTHING).exists() or not Path(FILES).exists(),
    reason="node or the public MCP servers are not installed (make services installs them)",
)


@pytest.fixture
def world(home: Path) -> World:
    return World(home)


@pytest.fixture
async def start(world: World) -> AsyncIterator[Start]:
    started: list[McpServers] = []

    async def begin(**settings: McpServerSettings) -> McpServers:
        servers = world.servers(*settings.items())
        started.append(servers)
        await servers.start()
        for name in settings:
            await world.until(ready(servers, name))
        return servers

    yield begin
    for servers in started:
        await servers.close()


def everything() -> McpServerSettings:
    return McpServerSettings(command="node", args=(EVERYTHING, "stdio"))


def children_with(part: str) -> list[int]:
    """Return the pids of this process's children whose command line holds ``part``."""
    found = subprocess.run(["pgrep", "-P", str(os.getpid()), "-f", part], capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


# -- the public servers -----------------------------------------------------------------------------------------------


@public
async def test_the_filesystem_server_reads_and_stays_in_its_folder(world: World, start: Start, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("hello")
    world.home = root  # the workspace that the server is told as its root
    await start(files=McpServerSettings(command="node", args=(FILES, str(root))))
    assert "hello" in await world.call("mcp__files__read_text_file", path=str(root / "a.txt"))
    outside = json.loads(await world.call("mcp__files__read_text_file", path="/etc/passwd"))
    assert "denied" in outside["error"].lower()


@public
async def test_everything_works_with_the_everything_server(world: World, start: Start) -> None:
    servers = await start(all=everything())
    await world.until(lambda: "mcp__all__trigger-sampling-request" in world.registry.names())
    assert "hi there" in await world.call("mcp__all__echo", message="hi there")
    picture = await world.call("mcp__all__get-tiny-image")
    assert picture["_multimodal"]
    weather = json.loads(await world.call("mcp__all__get-structured-content", location="New York"))
    assert "temperature" in weather["result"]
    await world.call("mcp__all__trigger-long-running-operation", duration=0.4, steps=2)
    assert [fraction for _, fraction in world.progress] == [0.5, 1.0]
    roots = await world.call("mcp__all__get-roots-list")
    assert str(world.home) in roots
    person = Person(ApprovalChoice.ONCE)
    sampled = await world.call(
        "mcp__all__trigger-sampling-request", world.context(person=person), prompt="x", maxTokens=9
    )
    assert "Paris" in sampled
    assert world.requests[0].max_tokens == 9
    declined = await world.call("mcp__all__trigger-elicitation-request", world.context(person=Person("")))
    assert "cancel" in declined.lower()
    resources = json.loads(await world.call("mcp__all__list_resources"))
    assert resources["resources"]
    uri = resources["resources"][0]["uri"]
    assert json.loads(await world.call("mcp__all__read_resource", uri=uri))["uri"] == uri
    prompts = json.loads(await world.call("mcp__all__list_prompts"))["prompts"]
    got = json.loads(await world.call("mcp__all__get_prompt", name=prompts[0]["name"]))
    assert got["messages"]
    assert len(servers.rows()[0].tools) >= 17


@public
async def test_a_killed_server_comes_back(world: World, start: Start) -> None:
    servers = await start(all=everything())
    (before,) = children_with("server-everything")
    running = asyncio.create_task(world.call("mcp__all__trigger-long-running-operation", duration=30, steps=60))
    await world.until(lambda: bool(world.progress) or running.done())
    os.kill(before, signal.SIGKILL)
    error = json.loads(await running)["error"]
    assert "ended while this call ran" in error
    assert "again" in await world.call("mcp__all__echo", message="again")
    (after,) = children_with("server-everything")
    assert after != before
    assert state_of(servers, "all") is McpState.READY


# -- HTTP and SSE -----------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(*arguments: str, module: str = "mcp_toy", port: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server of ``tests.fakes`` until it listens on ``port``; it ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"tests.fakes.{module}", *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server does not listen"
                time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("kind", "path"), [("http", "mcp"), ("sse", "sse")])
async def test_a_server_behind_an_address(world: World, start: Start, kind: str, path: str) -> None:
    port = free_port()
    with serving(kind, str(port), port=port):
        transport = "sse" if kind == "sse" else ""
        servers = await start(toy=McpServerSettings(url=f"http://127.0.0.1:{port}/{path}", transport=transport))
        assert json.loads(await world.call("mcp__toy__add", a=20, b=22)) == {"result": 42}
        person = Person("3", "No")
        ordered = json.loads(await world.call("mcp__toy__order", world.context(person=person)))
        assert ordered["result"] == "3 plain"
        await world.call("mcp__toy__grow", name="sing")
        await world.until(lambda: "mcp__toy__sing" in world.registry.names())
        await servers.close()


@pytest.mark.parametrize(("kind", "path"), [("http", "mcp"), ("sse", "sse")])
async def test_a_server_that_was_restarted_is_found_again(world: World, start: Start, kind: str, path: str) -> None:
    port = free_port()
    transport = "sse" if kind == "sse" else ""
    with serving(kind, str(port), port=port):
        servers = await start(
            toy=McpServerSettings(url=f"http://127.0.0.1:{port}/{path}", transport=transport, connect_timeout=20)
        )
        await world.call("mcp__toy__add", a=1, b=1)
    with serving(kind, str(port), port=port):
        async with asyncio.timeout(40):
            while "error" in (answer := json.loads(await world.call("mcp__toy__add", a=1, b=2))):
                if state_of(servers, "toy") is McpState.FAILED:
                    await servers.restart_one("toy")
                await asyncio.sleep(0.1)
        assert answer == {"result": 3}
        await servers.close()


async def test_nobody_at_the_address_is_told(world: World) -> None:
    servers = world.servers(("toy", McpServerSettings(url=f"http://127.0.0.1:{free_port()}/mcp")))
    await servers.start()
    await world.until(lambda: state_of(servers, "toy") is McpState.FAILED)
    assert "connect" in servers.rows()[0].detail.lower()
    assert len(world.waits) == 5
    await servers.close()


async def test_wrong_credentials_are_told_without_them(world: World) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}/mcp?key=verysecretkey"
    servers = world.servers(("toy", McpServerSettings(url=url, headers={"Authorization": "Bearer verysecrettoken"})))
    await servers.start()
    await world.until(lambda: state_of(servers, "toy") is McpState.FAILED)
    row = servers.rows()[0]
    shown = f"{row.address} {row.detail} {world.notices}"
    assert "verysecret" not in shown
    assert f"http://127.0.0.1:{port}/mcp" in row.address
    await servers.close()
    listener.close()


# -- signing in -------------------------------------------------------------------------------------------------------


async def sign_in(world: World) -> None:
    """Open the address of the notice, as the person's browser would."""
    await world.until(lambda: any("sign in" in notice for notice in world.notices))
    address = world.notices[-1].rsplit(" ", 1)[1]
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        page = await browser.get(address)
        assert page.status_code == 200
    world.notices.clear()


async def test_the_person_signs_in_once_with_the_browser(world: World) -> None:
    port = free_port()
    settings = McpServerSettings(url=f"http://127.0.0.1:{port}/mcp", oauth=True, connect_timeout=10)
    with serving(str(port), module="mcp_signin", port=port):
        servers = world.servers(("vault", settings))
        await servers.start()
        await world.until(lambda: state_of(servers, "vault") is McpState.SIGNING_IN)
        await sign_in(world)
        await world.until(ready(servers, "vault"))
        assert "forty-two" in await world.call("mcp__vault__secret")
        token_file = world.home / "mcp-tokens" / "vault.json"
        assert token_file.stat().st_mode & 0o777 == 0o600
        assert token_file.parent.stat().st_mode & 0o777 == 0o700
        await servers.close()

        again = world.servers(("vault", settings))
        await again.start()
        await world.until(ready(again, "vault"))
        assert world.notices == [], "the token of the first time is used"
        await again.close()


async def test_a_refused_sign_in_is_told(world: World) -> None:
    port = free_port()
    settings = McpServerSettings(url=f"http://127.0.0.1:{port}/mcp", oauth=True, connect_timeout=10)
    with serving(str(port), "refuse", module="mcp_signin", port=port):
        servers = world.servers(("vault", settings))
        await servers.start()
        await sign_in(world)
        await world.until(lambda: state_of(servers, "vault") is McpState.FAILED)
        assert "You may not" in servers.rows()[0].detail
        assert len(world.notices) == 1, "nobody is asked to sign in again and again"
        await servers.close()


# -- the whole program ------------------------------------------------------------------------------------------------


def configure(home: Path, servers: dict[str, Any]) -> None:
    (home / "config.yaml").write_text(json.dumps({"mcp_servers": servers}), encoding="utf-8")  # JSON is YAML


@public
def test_servers_on_the_screen_killed_and_back(home: Path, talk: Talk) -> None:
    configure(
        home, {"all": {"command": "node", "args": [EVERYTHING, "stdio"]}, "lost": {"command": "/no/such/program"}}
    )
    program, server = talk(
        [tool_calls(call("mcp__all__echo", message="hi there")), text("It said hi.")], columns=130, rows=45
    )
    program.type("/mcp")
    program.press("enter")
    program.wait_for("MCP servers", "all", "ready", "lost", "failed", timeout_s=40)
    pids = subprocess.run(
        ["pgrep", "-P", str(program.child.pid), "-f", "server-everything"], capture_output=True, text=True
    )
    os.kill(int(pids.stdout), signal.SIGKILL)
    program.wait_for("connect", timeout_s=20)
    program.wait_until(lambda: "ready" in program.text, "the server's return", timeout_s=40)
    program.press("x")
    program.wait_for("off", "stopped by you")
    program.press("s")
    program.wait_for("ready", timeout_s=40)
    program.press("escape")
    program.wait_gone("restart")
    program.type("say hi")
    program.press("enter")
    program.wait_for("Run mcp__all__echo?")
    program.pump(LISTENS_S)
    program.press("a")
    program.wait_for("It said hi.")
    assert "hi there" in server.requests[1].results[0]
    names = {tool["function"]["name"] for tool in server.requests[0].body["tools"]}
    assert "mcp__all__echo" in names
    program.press("ctrl+q")
    assert program.wait_exit(timeout_s=20) == 0
    left = subprocess.run(["pgrep", "-f", str(home)], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_a_server_asks_the_person_and_the_model(talk: Talk) -> None:
    program, server = talk(
        [
            tool_calls(call("mcp__old__ask")),
            tool_calls(call("mcp__old__think")),
            text("The model's answer for the server."),
            text("All answered."),
        ]
    )
    program.type("/yolo")
    program.press("enter")
    program.wait_for("Nothing is asked any more")
    program.type("/mcp")
    program.press("enter")
    program.wait_for("No MCP servers")
    program.press("a")
    program.type(f"old {sys.executable} {ROOT / 'tests' / 'fakes' / 'mcp_old.py'}")
    program.wait_for("mcp_old.py")
    program.press("enter")
    program.wait_for("ready", "added here", timeout_s=30)
    program.press("escape")
    program.wait_gone("added here")
    program.type("ask me")
    program.press("enter")
    program.wait_for("The MCP server old", "Who are you?", "Enter answer", timeout_s=30)
    program.pump(LISTENS_S)
    program.type("7 of 9")
    program.wait_for("7 of 9")
    program.press("enter")
    program.wait_for("wants your model to answer", "Say x", "Allow once")
    program.pump(LISTENS_S)
    program.press("a")
    program.wait_for("All answered.")
    asked, thought = (json.loads(request.results[0])["result"] for request in (server.requests[1], server.requests[3]))
    assert json.loads(asked)["content"] == {"name": "7 of 9"}
    assert json.loads(thought)["content"]["text"] == "The model's answer for the server."
    assert server.requests[2].body["max_tokens"] == 50


def test_a_late_server_never_delays_the_first_prompt(home: Path, talk: Talk) -> None:
    configure(home, {"slow": {"command": "sleep", "args": ["600"]}})
    program, server = talk([text("Here I am.")])
    program.type("are you there?")
    program.press("enter")
    program.wait_for("Here I am.")
    assert len(server.requests) == 1
    program.press("ctrl+q")
    assert program.wait_exit(timeout_s=20) == 0


def test_a_plugins_command_hook_and_failure(home: Path, talk: Talk) -> None:
    good = home / "plugins" / "good"
    good.mkdir(parents=True)
    (good / "plugin.yaml").write_text("name: good\nversion: '1'\n")
    (good / "__init__.py").write_text(
        "def register(ctx):\n"
        "    ctx.register_command('shout', lambda args: args.upper(), description='Say it loudly')\n"
        "    ctx.register_hook('pre_tool_call', lambda tool_name, **kw:"
        " {'action': 'block', 'message': 'not today'} if tool_name == 'terminal' else None)\n"
    )
    bad = home / "plugins" / "bad"
    bad.mkdir()
    (bad / "plugin.yaml").write_text("name: bad\n")
    (bad / "__init__.py").write_text("import no_such_package\n")
    program, server = talk([tool_calls(call("terminal", command="true")), text("I was stopped.")])
    program.wait_for("A plugin was left out", "no_such_package")
    program.type("/sho")
    program.wait_for("/shout", "Say it loudly")
    program.type("ut hello there")
    program.wait_gone("Say it loudly")
    program.press("enter")
    program.wait_for("HELLO THERE")
    program.type("go")
    program.press("enter")
    program.wait_for("I was stopped.")
    assert "not today" in server.requests[1].results[0]
    log = (home / "logs" / "agent.log").read_text()
    assert "could not import tool" in log


@pytest.mark.parametrize("parallel", [False, True])
def test_calls_run_side_by_side_only_where_the_server_allows_it(
    home: Path, workspace: Path, serve: Callable[..., ModelServer], parallel: bool
) -> None:
    old = str(ROOT / "tests" / "fakes" / "mcp_old.py")
    entry = {"command": sys.executable, "args": [old], "supports_parallel_tool_calls": parallel}
    configure(home, {"old": entry})
    server = serve([tool_calls(call("mcp__old__echo", text="a"), call("mcp__old__echo", text="b")), text("Done.")])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "hermes_tui",
            "run",
            "--json",
            "--yes",
            "--base-url",
            server.url,
            "--model",
            "m",
            "hello",
        ],
        cwd=workspace,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    queued = [event for event in events if event["kind"] == "tool_queued"]
    assert [(event["group"], event["lane"]) for event in queued] == ([(0, 0), (0, 1)] if parallel else [(0, 0), (1, 0)])
    assert parallel or "runs alone" in queued[1]["why_serial"]
    assert ["echo a" in result for result in server.requests[1].results] == [True, False]


def test_hooks_of_a_plugin_reach_every_part_of_a_turn(
    home: Path, workspace: Path, serve: Callable[..., ModelServer]
) -> None:
    folder = home / "plugins" / "hooked"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: hooked\n")
    (folder / "__init__.py").write_text(
        "from pathlib import Path\n"
        f"LOG = Path({str(workspace / 'hooks.log')!r})\n"
        "def note(name):\n"
        "    def hook(**more):\n"
        "        with LOG.open('a') as file:\n"
        "            file.write(name + '\\n')\n"
        "    return hook\n"
        "def register(ctx):\n"
        "    for name in ('on_session_start', 'post_llm_call', 'pre_api_request', 'post_api_request',\n"
        "                 'pre_tool_call', 'post_tool_call', 'on_session_end'):\n"
        "        ctx.register_hook(name, note(name))\n"
        "    ctx.register_hook('pre_llm_call', lambda **more: {'context': 'Mind the gap.'})\n"
        "    ctx.register_hook('transform_llm_output', lambda response_text, **more: response_text + ' Over.')\n"
        "    ctx.register_hook('transform_terminal_output', lambda output, **more: output.replace('b', 'B'))\n"
    )
    server = serve([tool_calls(call("terminal", command="echo abc")), text("Done.")])
    done = subprocess.run(
        [sys.executable, "-m", "hermes_tui", "run", "--base-url", server.url, "--model", "scripted", "hello"],
        cwd=workspace,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "Done. Over.\n", done.stderr
    assert server.requests[0].last_user == "[Mind the gap.]\n\nhello"
    assert json.loads(server.requests[1].results[0])["output"] == "aBc\n"
    assert (workspace / "hooks.log").read_text().split() == [
        "on_session_start",
        "pre_api_request",
        "post_api_request",
        "pre_tool_call",
        "post_tool_call",
        "pre_api_request",
        "post_api_request",
        "post_llm_call",
        "on_session_end",
    ]


def test_a_run_without_a_person_waits_for_its_servers(
    home: Path, workspace: Path, serve: Callable[..., ModelServer]
) -> None:
    old = str(ROOT / "tests" / "fakes" / "mcp_old.py")
    configure(home, {"old": {"command": sys.executable, "args": [old]}})
    server = serve([text("Done.")])
    done = subprocess.run(
        [sys.executable, "-m", "hermes_tui", "run", "--base-url", server.url, "--model", "scripted", "hello"],
        cwd=workspace,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "Done.\n", done.stderr
    names = {tool["function"]["name"] for tool in server.requests[0].body["tools"]}
    assert "mcp__old__echo" in names
