"""How ``sudo`` in a local command reaches the person: a shim, a helper and a one-time socket.

For the time of one call a private folder is put before PATH. Its ``sudo`` runs the real one with ``-A``, so sudo
itself decides whether a password is needed (NOPASSWD and valid tickets never ask) and runs our helper if so, whoever
called it: the command, a script inside it, ``xargs``. Nothing is written to the command's own input, and ``-n`` and
``-S`` keep their meaning. The helper gets the password over a Unix socket and hands it to sudo by sudo's private pipe.

The socket answers only a process of this user whose parent runs as root and is called sudo: a command cannot simply
run the helper to read the password. (One that already runs as the person could still do what any such program can:
trace its own processes, or put another ``sudo`` before ours.)
"""

import getpass
import logging
import os
import secrets
import select
import shlex
import shutil
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hermes_tui.backends.private import private_folder
from hermes_tui.protocol.cancel import CancelToken

logger = logging.getLogger(__name__)

_REQUEST_LIMIT: Final = 4096
_ANSWER_TIMEOUT_S: Final = 5.0
_END_TIMEOUT_S: Final = 1.0

# sudo refuses -A beside -S, and -n must fail rather than ask. Options that take a value hide what follows them.
_SHIM: Final = """\
#!/bin/sh
ask=-A
skip=
for word; do
  if [ "$skip" ]; then skip=; continue; fi
  case $word in
    --) break ;;
    --stdin|--non-interactive|--askpass) ask= ;;
    --close-from|--chdir|--group|--host|--prompt|--chroot|--role|--type|--command-timeout|--other-user|--user) skip=1 ;;
    --*|*=*) ;;
    -?*)
      rest=${word#-}
      while [ "$rest" ]; do
        tail=${rest#?}
        case ${rest%"$tail"} in
          [SnA]) ask= ;;
          [CDghpRrtTUu]) [ "$tail" ] || skip=1; break ;;
        esac
        rest=$tail
      done ;;
    *) break ;;
  esac
done
SUDO_ASKPASS={helper}
export SUDO_ASKPASS
exec {sudo} $ask "$@"
"""

_HELPER: Final = """\
#!/bin/sh
exec {python} -I -S {script} "$@"
"""

_HELPER_SCRIPT: Final = """\
import socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect({path!r})
link.sendall(({token!r} + chr(10) + " ".join(sys.argv[1:])).encode())
link.shutdown(socket.SHUT_WR)
answer = b""
while data := link.recv(4096):
    answer += data
if answer[:1] != b"+":
    sys.exit(1)
sys.stdout.buffer.write(answer[1:] + bytes([10]))
"""


@dataclass(frozen=True, slots=True)
class AskpassRequest:
    """sudo wants a password. ``attempt`` counts per sudo process, from 1; above 1 the last one was wrong."""

    host: str
    user: str
    command: str
    """The sudo command that asks, as one line."""
    asked_by: str
    """The program that called sudo, where it is not the command's own shell."""
    prompt: str
    attempt: int


Ask = Callable[[AskpassRequest, CancelToken], str | None]
"""Returns the password, or None to let sudo fail. Runs on the socket's thread and may block until the token, which
is cancelled when sudo goes away or the call ends."""


class Askpass:
    """The shim, helper and socket of one call; a context manager. Implements ``pump.SudoHelp``."""

    def __init__(self, sudo: str, ask: Ask) -> None:
        """``sudo`` is the path of the real program. Raises OSError where no private folder can be made."""
        self._sudo = sudo
        self._ask = ask
        self._token = secrets.token_urlsafe(24)
        self._handed_out: list[bytes] = []
        self._attempts: dict[int, int] = {}
        self._waited_s = 0.0
        self._waiting_since = 0.0
        self._directory = private_folder("sudo", for_programs=True)
        path = f"{self._directory}/ask"
        self._write("sudo", _SHIM.replace("{helper}", shlex.quote(f"{self._directory}/askpass")), sudo=sudo)
        self._write("askpass", _HELPER, python=sys.executable, script=f"{self._directory}/ask.py")
        (Path(self._directory) / "ask.py").write_text(_HELPER_SCRIPT.format(path=path, token=self._token), "utf-8")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        os.chmod(path, 0o600)  # noqa: PTH101
        self._listener.listen(8)
        self._closing = CancelToken()
        self._closing_read, self._closing_write = os.pipe()
        self._thread = threading.Thread(target=self._serve, name="askpass", daemon=True)
        self._thread.start()

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def waited_s(self) -> float:
        since = self._waiting_since
        return self._waited_s + (time.monotonic() - since if since else 0.0)

    def secrets(self) -> list[bytes]:
        return self._handed_out

    def end(self, pids: Sequence[int], *, force: bool) -> None:
        """Signal processes that sudo started and that only root may signal; with the call's password if there is one.

        Nobody is asked: without a password (and without NOPASSWD) nothing happens.
        """
        if not pids:
            return
        password = self._handed_out[-1] + b"\n" if self._handed_out else None
        how = ["-S", "-p", ""] if password is not None else ["-n"]
        kill = ["kill", "-KILL" if force else "-TERM", *map(str, pids)]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [self._sudo, *how, "--", *kill],
                input=password,
                stdin=None if password is not None else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_END_TIMEOUT_S,
                check=False,
            )

    def close(self) -> None:
        """Remove everything; a question that is still open is withdrawn. Idempotent."""
        if self._closing.cancelled:
            return
        self._closing.cancel("the command ended")
        os.close(self._closing_write)
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> "Askpass":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, name: str, template: str, **words: str) -> None:
        text = template
        for key, word in words.items():
            text = text.replace(f"{{{key}}}", shlex.quote(word))
        path = Path(self._directory) / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o700)

    def _serve(self) -> None:
        with self._listener:
            while True:
                ready, _, _ = select.select([self._listener.fileno(), self._closing_read], (), ())
                if self._closing_read in ready:
                    break
                link, _ = self._listener.accept()
                with link:
                    link.settimeout(_ANSWER_TIMEOUT_S)
                    try:
                        self._answer(link)
                    except OSError as error:
                        logger.info("sudo password helper went away: %s", error)
        os.close(self._closing_read)

    def _answer(self, link: socket.socket) -> None:
        token, _, prompt = _receive(link).partition("\n")
        asker = _asking_sudo(link)
        if not secrets.compare_digest(token.encode(), self._token.encode()) or asker is None:
            logger.warning("a request for the sudo password that sudo did not make was refused")
            link.sendall(b"-")
            return
        attempt = self._attempts[asker.pid] = self._attempts.get(asker.pid, 0) + 1
        host, user = socket.gethostname(), getpass.getuser()
        request = AskpassRequest(host, user, asker.command, asker.parent_command, prompt, attempt)
        password = self._ask_while_connected(request, link)
        if password is None:
            link.sendall(b"-")
            return
        secret = password.encode()
        if secret and secret not in self._handed_out:
            self._handed_out.append(secret)
        link.sendall(b"+" + secret)

    def _ask_while_connected(self, request: AskpassRequest, link: socket.socket) -> str | None:
        gone = self._closing.child()
        threading.Thread(target=_cancel_when_gone, args=(link, gone), name="askpass-watch", daemon=True).start()
        self._waiting_since = time.monotonic()
        try:
            return self._ask(request, gone)
        except Exception:
            # The asker is other people's code; the socket must go on serving, and sudo must get its answer.
            logger.exception("asking for the sudo password failed")
            return None
        finally:
            self._waited_s, self._waiting_since = self.waited_s, 0.0
            gone.cancel("answered")
            gone.close()


@dataclass(frozen=True, slots=True)
class _Asker:
    pid: int
    command: str
    parent_command: str


def real_sudo(path: str) -> str:
    """Return the setuid-root ``sudo`` in ``path`` (as PATH is written), '' where there is none."""
    found = shutil.which("sudo", path=path) or ""
    try:
        facts = os.stat(found)  # noqa: PTH116
    except OSError:
        return ""
    return found if facts.st_uid == 0 and facts.st_mode & stat.S_ISUID else ""


def _cancel_when_gone(link: socket.socket, gone: CancelToken) -> None:
    poller = select.poll()
    poller.register(link, 0)  # hang-up and errors are always reported
    while not gone.cancelled:
        try:
            if poller.poll(100):
                gone.cancel("sudo went away")
        except OSError:
            return


def _receive(link: socket.socket) -> str:
    data = b""
    while len(data) < _REQUEST_LIMIT and (chunk := link.recv(_REQUEST_LIMIT)):
        data += chunk
    return data.decode("utf-8", "replace")


def _asking_sudo(link: socket.socket) -> _Asker | None:
    """Return the sudo process behind a connection, or None if it is anybody else."""
    if not hasattr(socket, "SO_PEERCRED"):  # not Linux: the token in the private folder has to do
        return _Asker(0, "sudo", "")
    size = struct.calcsize("3i")
    pid, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    sudo_pid = _parent(pid)
    if user != os.getuid() or not _runs_as_root(sudo_pid) or _proc(sudo_pid, "comm").strip() != "sudo":
        return None
    words = ["sudo", *_arguments(sudo_pid)[1:]]
    if words[1:2] == ["-A"]:  # put there by the shim
        del words[1]
    caller = _arguments(_parent(sudo_pid))
    is_our_shell = len(caller) > 1 and caller[1] == "-c" and "__hermes_code" in caller[-1]
    return _Asker(sudo_pid, shlex.join(words), "" if is_our_shell else shlex.join(caller))


def _proc(pid: int, name: str) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
    return ""


def _parent(pid: int) -> int:
    fields = _proc(pid, "stat").rpartition(")")[2].split()
    return int(fields[1]) if len(fields) > 1 else 0


def _runs_as_root(pid: int) -> bool:
    """Whether the effective user is root, which no program gives itself: it was set by the setuid bit."""
    for line in _proc(pid, "status").splitlines():
        if line.startswith("Uid:"):
            return line.split()[2] == "0"
    return False


def _arguments(pid: int) -> list[str]:
    words = _proc(pid, "cmdline").split("\0")
    return words[:-1] if words and not words[-1] else words
