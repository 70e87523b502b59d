"""Remote calls without a remote machine: marks in any pieces, Docker's frames in any pieces, settings read right."""

import os
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.backends.docker_endpoint import context_name, find_sockets
from hermes_tui.backends.docker_extra import host_options
from hermes_tui.backends.docker_stream import DockerStream
from hermes_tui.backends.remote_process import RemoteProcess
from hermes_tui.backends.remote_scripts import BEGIN, END, EXIT, helper_answer
from hermes_tui.backends.ssh_hosts import find_target, parse_hop
from hermes_tui.protocol.environment import EnvironmentFailure


class PiecesStream:
    """A stream that gives what it is told to, piece by piece, and then ends."""

    tells_writable = False

    def __init__(self, pieces: Sequence[tuple[bytes, bytes]], code: int = 0) -> None:
        self._pieces = list(pieces)
        self._code = code
        self._read, self._write = os.pipe()
        os.write(self._write, b"always readable")

    def fileno(self) -> int:
        return self._read

    def receive(self) -> tuple[bytes, bytes] | None:
        return self._pieces.pop(0) if self._pieces else None

    def send(self, data: memoryview) -> int:
        return len(data)

    def end_input(self) -> None: ...

    def exit_code(self) -> int:
        return self._code

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


def run(pieces: Sequence[tuple[bytes, bytes]], **options: Any) -> tuple[bytes, int | None, list[bytes]]:
    states: list[bytes] = []
    process = RemoteProcess(PiecesStream(pieces), "tag", lambda *_: 0, on_state=states.append, **options)
    output = b""
    while chunk := process.read(1):
        output += chunk
    process.close()
    return output, process.poll(), states


def cut(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]]


@given(
    noise=st.binary(max_size=20).filter(lambda data: b"\0" not in data),
    output=st.binary(max_size=60) | st.just(b"x" + END[:5] + END[:-1] + b"\n\0"),
    sizes=st.lists(st.integers(1, 9), max_size=30),
)
def test_marks_are_taken_out_however_they_are_cut(noise: bytes, output: bytes, sizes: list[int]) -> None:
    whole = noise + BEGIN + b"42\n" + output + END + b"written by a child later"
    pieces = [(piece, b"") for piece in cut(whole, sizes)]
    side = [(b"", piece) for piece in cut(b"state\0/folder\n\0" + EXIT + b"7\n", sizes)]
    assert run([*pieces, *side]) == (output, 7, [b"state\0/folder\n\0"])


def test_a_shell_that_left_no_state_was_killed() -> None:
    side = EXIT + b"137\n"
    assert run([(BEGIN + b"1\n" + END, side)], want_state=True)[1] == -9
    assert run([(BEGIN + b"1\n" + END, b"s\0/f\n\0" + side)], want_state=True)[1] == 137


def test_a_runner_that_never_began_is_a_failure() -> None:
    with pytest.raises(EnvironmentFailure, match="was not run"):
        run([(b"bash: no such file\n", b"")])


def test_helper_answer() -> None:
    whole = b"noise" + BEGIN + b"0\nany\0bytes\n" + END + b"3\n"
    assert helper_answer(bytearray(whole)) == (3, b"any\0bytes\n")
    assert helper_answer(bytearray(whole[:-1])) is None


class OneExec:
    """As much of the SDK as starting one exec takes."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def exec_start(self, *_: object, **__: object) -> socket.socket:
        return self._end


@given(
    parts=st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=30)), max_size=8),
    sizes=st.lists(st.integers(1, 11), max_size=30),
)
def test_docker_frames_however_they_are_cut(parts: list[tuple[int, bytes]], sizes: list[int]) -> None:
    near, far = socket.socketpair()
    api: Any = OneExec(near)
    stream = DockerStream(api, "c", "e", tty=False, lost=EnvironmentFailure)
    output = side = b""
    for piece in cut(b"".join(struct.pack(">BxxxL", kind, len(data)) + data for kind, data in parts), sizes):
        far.sendall(piece)
        got = stream.receive()
        assert got is not None
        output, side = output + got[0], side + got[1]
    far.close()
    while (got := stream.receive()) is not None:
        output, side = output + got[0], side + got[1]
    stream.close()
    assert output == b"".join(data for kind, data in parts if kind == 1)
    assert side == b"".join(data for kind, data in parts if kind == 2)


def test_docker_endpoint(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    assert context_name(home) == ""
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker/config.json").write_text('{"currentContext": "far"}', encoding="utf-8")
    assert context_name(home) == "far"
    assert context_name({**home, "DOCKER_CONTEXT": "default"}) == ""
    (tmp_path / "docker.sock").touch()
    assert f"{tmp_path}/docker.sock" in find_sockets(home)


def test_extra_arguments_of_docker() -> None:
    assert host_options(["--device=/dev/fuse", "--device", "/dev/kvm", "--gpus", "all", "--read-only"]) == {
        "devices": ["/dev/fuse", "/dev/kvm"],
        "device_requests": [{"Count": -1, "Capabilities": [["gpu"]]}],
        "read_only": True,
    }
    for wrong in (["--privileged"], ["--ulimit", "nofile=many"], ["--gpus", "some"]):
        with pytest.raises(EnvironmentFailure, match="docker_extra_args"):
            host_options(wrong)


def test_ssh_target_follows_the_configuration() -> None:
    folder = Path.home() / ".ssh"
    folder.mkdir()
    (folder / "mine").touch()
    (folder / "config").write_text(
        "Host box\n  HostName box.example\n  Port 2200\n  User me\n  IdentityFile ~/.ssh/mine\n  ProxyJump a@hop:23\n",
        encoding="utf-8",
    )
    target = find_target("box")
    assert (target.label, target.keys, target.jumps) == ("me@box.example:2200", (str(folder / "mine"),), ("a@hop:23",))
    assert find_target("box", user="you", port=24).label == "you@box.example:24"
    assert parse_hop("a@hop:23").label == "a@hop:23"
    with pytest.raises(EnvironmentFailure, match="no key file"):
        find_target("box", key="/nowhere")
