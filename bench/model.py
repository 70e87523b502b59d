"""The scripted model as a process of its own, so that it takes no time from who measures."""

import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from bench.script import Json
from bench.subject import ROOT


@contextmanager
def model(rules: Sequence[Json]) -> Iterator[str]:
    """Serve ``rules``; yields the base URL."""
    with tempfile.TemporaryDirectory(prefix="hermes-bench-") as folder:
        script = Path(folder, "script.json")
        script.write_text(json.dumps({"model": "bench", "rules": list(rules), "default": "Ok."}))
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.model_server", "--script", str(script)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()


def bare_turn_s(url: str, name: str, answers: int) -> float:
    """How long the model alone takes for a turn of ``answers`` answers, asked by a client that does nothing else."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    messages: list[Json] = [{"role": "user", "content": name}]
    started = time.monotonic()
    for number in range(answers):
        body = json.dumps({"model": "bench", "stream": True, "messages": messages})
        connection.request("POST", f"{parts.path}/chat/completions", body)
        connection.getresponse().read()
        messages += [{"role": "assistant", "content": str(number)}, {"role": "tool", "content": "x"}]
    took = time.monotonic() - started
    connection.close()
    return took
