"""Background processes: start, read, feed, end, and what is known of them after a restart."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_tui.backends import processes as processes_module
from hermes_tui.backends.local import LocalEnvironment
from hermes_tui.backends.process_log import ProcessState, RollingText
from hermes_tui.backends.process_watch import BadPattern, PatternWatch
from hermes_tui.backends.processes import (
    KEEP_FINISHED_S,
    NoticeKind,
    ProcessNotice,
    ProcessRegistry,
    TooManyProcesses,
    UnknownProcess,
)
from hermes_tui.protocol.cancel import CancelToken
from tests.unit.backends.contract import count_of, wait_for


class FakeClock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[LocalEnvironment]:
    made = LocalEnvironment(str(tmp_path))
    yield made
    made.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def registry(tmp_path: Path, clock: FakeClock) -> Iterator[ProcessRegistry]:
    made = ProcessRegistry(tmp_path / "processes", clock)
    yield made
    made.close()


def test_life_of_a_process(registry: ProcessRegistry, environment: LocalEnvironment) -> None:
    environment.execute("X=session")
    info = registry.start(environment, 'echo "in $X"; read line; echo "got $line"; exit 3', session_id="s1")
    assert info.running
    wait_for(lambda: registry.log(info.id) == "in session\n")
    assert registry.poll(info.id)[1] == "in session\n"
    assert registry.poll(info.id)[1] == ""
    registry.write(info.id, b"input\n")
    ended = registry.wait(info.id, 10)
    assert (ended.state, ended.exit_code) == (ProcessState.EXITED, 3)
    assert registry.poll(info.id)[1] == "got input\n"
    assert registry.log(info.id) == "in session\ngot input\n"
    assert [row.id for row in registry.infos("s1")] == [info.id]
    assert registry.infos("other") == []
    with pytest.raises(BrokenPipeError):
        registry.write(info.id, b"late")


def test_kill_takes_the_whole_tree(registry: ProcessRegistry, environment: LocalEnvironment) -> None:
    info = registry.start(environment, "trap '' TERM; setsid sleep 3125 & sleep 3125 & wait")
    wait_for(lambda: count_of(environment, "3125") == 2)
    assert registry.kill(info.id).state is ProcessState.KILLED
    wait_for(lambda: count_of(environment, "3125") == 0)
    assert registry.kill(info.id).state is ProcessState.KILLED


def test_end_of_input(registry: ProcessRegistry, environment: LocalEnvironment) -> None:
    info = registry.start(environment, "cat; echo end")
    registry.write(info.id, b"data\n")
    registry.close_stdin(info.id)
    assert registry.wait(info.id, 10).exit_code == 0
    assert registry.log(info.id) == "data\nend\n"


def test_terminal(registry: ProcessRegistry, environment: LocalEnvironment) -> None:
    info = registry.start(environment, "test -t 0 && read -p 'name? ' name && echo hello $name", pty=True)
    wait_for(lambda: "name?" in registry.log(info.id))
    registry.write(info.id, b"you\r")
    assert registry.wait(info.id, 10).exit_code == 0
    assert registry.log(info.id).endswith("hello you\r\n")


def test_wait_ends_with_its_time_and_by_cancel(registry: ProcessRegistry, environment: LocalEnvironment) -> None:
    info = registry.start(environment, "sleep 3126")
    assert registry.wait(info.id, 0.05).running
    cancel = CancelToken()
    threading.Timer(0.05, cancel.cancel).start()
    assert registry.wait(info.id, 30, cancel).running


def test_unknown_id(registry: ProcessRegistry) -> None:
    with pytest.raises(UnknownProcess):
        registry.get("nothing")


def test_places_are_limited_and_finished_ones_make_room(
    registry: ProcessRegistry, environment: LocalEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes_module, "MAX_PROCESSES", 2)
    first = registry.start(environment, "true")
    registry.wait(first.id, 10)
    registry.start(environment, "sleep 3127")
    registry.start(environment, "sleep 3127")
    with pytest.raises(UnknownProcess):
        registry.get(first.id)
    with pytest.raises(TooManyProcesses, match="kill one first"):
        registry.start(environment, "true")


def test_finished_ones_are_kept_for_a_while(
    registry: ProcessRegistry, environment: LocalEnvironment, clock: FakeClock, tmp_path: Path
) -> None:
    info = registry.start(environment, "true")
    registry.wait(info.id, 10)
    clock.now += KEEP_FINISHED_S - 1
    assert registry.get(info.id).exit_code == 0
    clock.now += 2
    assert registry.infos() == []
    assert not list((tmp_path / "processes").glob("*.json"))


def test_notices(registry: ProcessRegistry, environment: LocalEnvironment) -> None:
    notices: list[ProcessNotice] = []
    registry.subscribe(notices.append)
    command = "echo starting; echo listening on port 80; exit 2"
    info = registry.start(environment, command, notify_on_complete=True, watch_patterns=[r"listening on .*\d"])
    wait_for(lambda: len(notices) == 2)
    assert [(notice.kind, notice.info.id) for notice in notices] == [
        (NoticeKind.MATCHED, info.id),
        (NoticeKind.FINISHED, info.id),
    ]
    assert notices[0].text == "listening on port 80"
    assert notices[1].info.exit_code == 2
    assert "starting" in notices[1].text


def test_bad_pattern_starts_nothing(registry: ProcessRegistry, environment: LocalEnvironment) -> None:
    with pytest.raises(BadPattern, match="not a regular expression"):
        registry.start(environment, "true", watch_patterns=["("])
    assert registry.infos() == []


def test_restart_finds_what_still_runs(tmp_path: Path, environment: LocalEnvironment) -> None:
    script = (
        "import os, sys, pathlib\n"
        "from hermes_tui.backends.local import LocalEnvironment\n"
        "from hermes_tui.backends.processes import ProcessRegistry\n"
        "registry = ProcessRegistry(pathlib.Path(sys.argv[1]))\n"
        "environment = LocalEnvironment('/')\n"
        "lives = registry.start(environment, 'exec sleep 3128')\n"
        "ends = registry.start(environment, 'read line')\n"
        "print(lives.id, ends.id, flush=True)\n"
        "os._exit(0)\n"
    )
    folder = tmp_path / "processes"
    answer = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True)
    lives, ends = answer.stdout.split()
    (folder / "broken.json").write_text("{")
    registry = ProcessRegistry(folder)
    wait_for(lambda: registry.get(ends).state is ProcessState.LOST)
    found = registry.get(lives)
    assert found.running
    assert found.adopted
    assert registry.wait(lives, 30).running
    with pytest.raises(BrokenPipeError):
        registry.write(lives, b"x")
    assert registry.kill(lives).state is ProcessState.KILLED
    assert count_of(environment, "3128") == 0
    assert ProcessRegistry(folder).get(lives).state is ProcessState.KILLED


def test_processes_of_another_running_program_are_left_to_it(tmp_path: Path, environment: LocalEnvironment) -> None:
    folder = tmp_path / "processes"
    mine = ProcessRegistry(folder)
    info = mine.start(environment, "sleep 3129")
    script = (
        "import sys, pathlib\nfrom hermes_tui.backends.processes import ProcessRegistry\n"
        "print(len(ProcessRegistry(pathlib.Path(sys.argv[1])).infos()))"
    )
    answer = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True)
    assert answer.stdout == "0\n"
    assert json.loads((folder / f"{info.id}.json").read_text())["state"] == "running"
    mine.close()


def test_rolling_text_keeps_the_newest() -> None:
    text = RollingText(10)
    for number in range(100):
        text.feed(b"%02d" % number)
    assert text.text() == "9596979899"
    assert (text.start, text.end) == (190, 200)
    assert text.since(196) == "9899"
    assert text.since(0) == text.text()
    assert text.since(200) == ""


def test_rolling_text_joins_cut_characters() -> None:
    text = RollingText()
    text.feed(b"\xe2\x82")
    text.feed(b"\xac")
    assert text.text() == "€"


def test_watch_is_not_a_flood() -> None:
    clock = FakeClock()
    watch = PatternWatch(["ERROR"], clock)
    assert watch.feed("no\nan ERR") == []
    assert watch.feed("OR here\n") == ["an ERROR here"]
    assert watch.feed("ERROR 2\nERROR 3\n") == []
    clock.now += 16
    assert watch.feed("ERROR 4\n") == ["ERROR 4\n(and 2 more matching lines)"]
    for _ in range(2):
        watch.feed("ERROR\n")
        clock.now += 16
        [notice] = watch.feed("ERROR\n")
    assert "no longer watched" in notice
    clock.now += 16
    assert watch.feed("ERROR\n") == []
