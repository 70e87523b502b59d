"""What the starters of test services share: one at a time, found programs, a server that is really gone at the end."""

import fcntl
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = Path("/var/tmp/hermes-tui-services.lock")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def program(name: str) -> str:
    """Return the path of ``name``, '' where it is not installed."""
    return shutil.which(name, path=SYSTEM_PATH) or ""


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let test runs side by side start their servers one after the other."""
    with LOCK.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def wait_until(ready: Callable[[], bool], server: "subprocess.Popen[bytes]", log: Path, timeout_s: float = 30) -> None:
    """Return when ``ready()``; raise with the end of the log where the server ended or took too long."""
    give_up_at = time.monotonic() + timeout_s
    while not ready():
        if server.poll() is not None or time.monotonic() > give_up_at:
            tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
            raise RuntimeError(f"the server did not start:\n{tail}")
        time.sleep(0.02)


def stop(server: "subprocess.Popen[bytes]", timeout_s: float = 15) -> None:
    """End ``server`` and collect it."""
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout_s)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(timeout_s)
