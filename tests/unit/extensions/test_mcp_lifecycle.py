"""Servers as processes: started, lost, brought back, given up, put to sleep, added and removed."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from hermes_tui.extensions.mcp.servers import McpServers, UnknownServer
from hermes_tui.protocol.extensions import McpState
from hermes_tui.protocol.inquiries import ApprovalChoice
from hermes_tui.settings import McpServerSettings
from tests.unit.extensions.support import Person, World, ready, state_of

OLD = str(Path(__file__).parents[2] / "fakes" / "mcp_old.py")

Start = Callable[..., Awaitable[McpServers]]


def old(*args: str, **changes: object) -> McpServerSettings:
    fields = {"command": sys.executable, "args": (OLD, *args), "connect_timeout": 10.0, **changes}
    return McpServerSettings(**fields)  # type: ignore[arg-type]


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
        return servers

    yield begin
    for servers in started:
        await servers.close()


async def pid_of(world: World) -> int:
    result = json.loads(await world.call("mcp__toy__echo"))
    return int(re.findall(r"from (\d+)", result["result"])[0])


async def test_the_older_protocol_works_too(world: World, start: Start) -> None:
    servers = await start(toy=old())
    await world.until(ready(servers))
    assert "echo hello" in await world.call("mcp__toy__echo", text="hello")
    await world.call("mcp__toy__grow")
    await world.until(lambda: "mcp__toy__fresh" in world.registry.names())


async def test_questions_of_the_older_protocol_find_their_call(world: World, start: Start) -> None:
    servers = await start(toy=old())
    await world.until(ready(servers))
    person = Person("Ada", ApprovalChoice.SESSION)
    asked = await world.call("mcp__toy__ask", world.context("call_7", person))
    assert json.loads(json.loads(asked)["result"])["content"] == {"name": "Ada"}
    assert person.asked[0].call_id == "call_7"
    assert "Paris" in await world.call("mcp__toy__think", world.context("call_8", person))


async def test_several_notices_of_one_change_are_one_listing(world: World, start: Start) -> None:
    servers = await start(toy=old("crowd"))
    await world.until(ready(servers))
    await world.call("mcp__toy__grow")
    await world.until(lambda: "mcp__toy__fresh" in world.registry.names())
    assert (await servers.log_tail("toy")).count("listed") <= 3


async def test_its_stderr_goes_to_its_own_log(world: World, start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    servers = await start(toy=old())
    await world.until(ready(servers))
    assert "listed 6" in await servers.log_tail("toy")
    assert os.stat(servers.rows()[0].log_path).st_mode & 0o777 == 0o600  # noqa: PTH116
    assert capfd.readouterr().err == ""


async def test_a_server_that_dies_in_a_call_is_told_and_comes_back(world: World, start: Start) -> None:
    servers = await start(toy=old())
    await world.until(ready(servers))
    first = await pid_of(world)
    error = json.loads(await world.call("mcp__toy__die"))["error"]
    assert "ended while this call ran" in error
    # The next call waits for the new process by itself.
    assert await pid_of(world) != first
    assert state_of(servers, "toy") is McpState.READY


async def test_a_server_that_is_killed_while_nobody_calls_comes_back(world: World, start: Start) -> None:
    servers = await start(toy=old())
    await world.until(ready(servers))
    first = await pid_of(world)
    os.kill(first, signal.SIGKILL)
    await world.until(lambda: not ready(servers)())
    await world.until(ready(servers))
    assert await pid_of(world) != first
    assert len(world.waits) == 1


@pytest.mark.parametrize(("mode", "why"), [("dies", "no licence for \\*\\*\\*"), ("garbage", "")])
async def test_a_server_that_cannot_start_is_given_up_and_the_others_live(
    world: World, start: Start, mode: str, why: str
) -> None:
    timeout = 1.0 if mode == "garbage" else 10.0
    if mode == "garbage":
        broken = McpServerSettings(command="sh", args=("-c", "echo no JSON; exit 1"), connect_timeout=timeout)
    else:
        broken = old(mode, env={"LICENCE": "tok-123456"})
    servers = await start(toy=old(), broken=broken)
    await world.until(lambda: state_of(servers, "broken") is McpState.FAILED)
    await world.until(ready(servers))
    assert "echo" in await world.call("mcp__toy__echo")
    (notice,) = world.notices
    assert "The MCP server broken cannot be used after 6 attempts" in notice
    assert re.search(why, notice)
    assert "tok-123456" not in notice
    assert len(world.waits) == 5
    assert world.waits[0] < world.waits[2] < world.waits[4]


async def test_a_missing_program_is_told_at_once(world: World, start: Start) -> None:
    servers = await start(toy=McpServerSettings(command="/no/such/program"))
    await world.until(lambda: state_of(servers, "toy") is McpState.FAILED)
    assert "there is no program /no/such/program" in servers.rows()[0].detail
    assert world.waits == []


async def test_a_silent_server_runs_out_of_time(world: World, start: Start) -> None:
    servers = await start(toy=old("silent", connect_timeout=0.3))
    await world.until(lambda: "timed out: no answer within 0.3 s" in servers.rows()[0].detail)


async def test_a_server_that_nobody_uses_sleeps_until_it_is_called(world: World, start: Start) -> None:
    servers = await start(toy=old(idle_timeout_seconds=0.2))
    await world.until(ready(servers))
    first = await pid_of(world)
    await world.until(lambda: state_of(servers, "toy") is McpState.ASLEEP)
    assert "mcp__toy__echo" in world.registry.names()
    assert await pid_of(world) != first


async def test_stopping_starting_and_restarting(world: World, start: Start) -> None:
    servers = await start(toy=old())
    await world.until(ready(servers))
    first = await pid_of(world)
    await servers.stop_one("toy")
    assert state_of(servers, "toy") is McpState.OFF
    available = world.registry.availability("mcp__toy__echo")["mcp__toy__echo"]
    assert not available.ok
    assert "stopped by you" in available.reason
    assert "it is off" in json.loads(await world.call("mcp__toy__echo"))["error"]
    await servers.start_one("toy")
    await world.until(ready(servers))
    second = await pid_of(world)
    await servers.restart_one("toy")
    await world.until(ready(servers))
    assert len({first, second, await pid_of(world)}) == 3


async def test_adding_and_removing(world: World, start: Start) -> None:
    servers = await start()
    name = await servers.add(f"toy {sys.executable} {OLD}")
    assert name == "toy"
    await world.until(ready(servers))
    file = world.home / "mcp.json"
    assert json.loads(file.read_text())["mcpServers"]["toy"]["command"] == sys.executable
    assert file.stat().st_mode & 0o777 == 0o600
    again = await start()
    await world.until(ready(again))
    with pytest.raises(ValueError, match="already"):
        await servers.add("toy x")
    await servers.remove("toy")
    assert servers.rows() == []
    assert json.loads(file.read_text()) == {"mcpServers": {}}
    with pytest.raises(UnknownServer):
        await servers.stop_one("toy")


async def test_a_server_of_the_configuration_is_not_removed(world: World, start: Start) -> None:
    servers = await start(toy=old(enabled=False))
    assert state_of(servers, "toy") is McpState.OFF
    assert servers.rows()[0].detail == "switched off in its settings"
    with pytest.raises(ValueError, match=r"config\.yaml"):
        await servers.remove("toy")


async def test_a_server_gets_only_its_own_environment(
    world: World, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    script = "import os,sys; print(sorted(os.environ), file=sys.stderr)"
    servers = await start(toy=McpServerSettings(command=sys.executable, args=("-c", script), env={"MINE": "1"}))
    await world.until(lambda: state_of(servers, "toy") is not McpState.CONNECTING)
    names = (await servers.log_tail("toy")).splitlines()[0]
    assert "'MINE'" in names
    assert "'PATH'" in names
    assert "OPENAI_API_KEY" not in names


async def test_a_keepalive_notices_a_server_that_hangs(
    world: World, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_tui.extensions.mcp.connection.PING_S", 0.2)
    servers = await start(toy=old(keepalive_interval=0.2))
    await world.until(ready(servers))
    first = await pid_of(world)
    os.kill(first, signal.SIGSTOP)
    try:
        await world.until(lambda: not ready(servers)())
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(first, signal.SIGKILL)
    await world.until(ready(servers))
    assert await pid_of(world) != first


async def test_a_stubborn_program_is_ended_while_it_still_connects(world: World) -> None:
    script = "trap '' TERM; echo $$ >&2; while true; do sleep 1; done"
    servers = world.servers(("toy", McpServerSettings(command="sh", args=("-c", script))))
    await servers.start()
    said = ""
    async with asyncio.timeout(20):
        while not said:
            await asyncio.sleep(0.02)
            said = (await servers.log_tail("toy")).strip()
    await servers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(said), 0)


async def test_nothing_is_left_when_all_is_closed(world: World, start: Start) -> None:
    servers = await start(toy=old())
    await world.until(ready(servers))
    pid = await pid_of(world)
    before = asyncio.all_tasks()
    await servers.close()
    assert not [task for task in asyncio.all_tasks() - before if not task.done()]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
