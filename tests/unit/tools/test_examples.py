"""The tool author's guide and its examples work as written, dropped into ``~/.hermes/tools``."""

import json
import re
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.agent.dispatch import handle_function_call
from hermes_tui.tools import discovery
from hermes_tui.tools.discovery import discover_tools
from hermes_tui.tools.registry import registry

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten after it."""
    discovery.ensure_discovered()
    monkeypatch.setattr(discovery, "_reports", list(discovery._reports))
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))


def load(home: Path) -> None:
    failures = discover_tools(home).failures
    assert [one for one in failures if one.source.startswith(str(home))] == []


@pytest.fixture
def drop_in(home: Path) -> Callable[[str], None]:
    def drop(name: str) -> None:
        (home / "tools").mkdir(exist_ok=True)
        shutil.copy(DOCS / "examples" / name, home / "tools")
        load(home)

    return drop


def call(name: str, **args: Any) -> Any:
    return json.loads(handle_function_call(name, args))


Answer = Callable[[str, str, bytes, dict[str, str]], tuple[int, str]]


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    """Start a local web server that answers with ``answer(method, path, body, headers)``; returns its URL."""
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, text = answer(self.command, self.path, body, dict(self.headers))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(text.encode())

            do_POST = do_GET

            def log_message(self, format: str, *args: Any) -> None: ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_first_tool_of_the_guide(home: Path, tmp_path: Path) -> None:
    guide = (DOCS / "tools.md").read_text()
    first = re.search(r"```python\n(.*?)```", guide, re.DOTALL)
    assert first is not None
    (home / "tools").mkdir()
    (home / "tools" / "word_count.py").write_text(first.group(1))
    load(home)
    text = tmp_path / "a.txt"
    text.write_text("three small words\n")
    assert call("word_count", path=str(text), show="1") == {"path": str(text), "words": 3, "first": ["three"]}
    assert "There is no file" in call("word_count", path=str(tmp_path / "b.txt"))["error"]


# -- SQL --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drop_in: Callable[[str], None]) -> Path:
    path = tmp_path / "shop #1.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, customer TEXT)")
        connection.executemany("INSERT INTO orders VALUES (?, ?)", [(n, f"customer {n % 3}") for n in range(10)])
    connection.close()
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{path}".replace(" ", "%20").replace("#", "%23"))
    drop_in("sql_query.py")
    return path


def test_sql_reads(database: Path) -> None:
    found = call("sql_query", query="SELECT * FROM orders WHERE customer = ? ORDER BY id", parameters="customer 1")
    assert found == {"columns": ["id", "customer"], "rows": [[n, "customer 1"] for n in (1, 4, 7)], "more_rows": False}
    assert call("sql_query", query="SELECT id FROM orders", limit="2")["more_rows"] is True
    assert call("sql_query", query="WITH RECURSIVE n(i) AS (SELECT 1) SELECT count(*) FROM n")["rows"] == [[1]]


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM orders",
        "INSERT INTO orders VALUES (1, 'x')",
        "DROP TABLE orders",
        "ATTACH DATABASE '/tmp/other.db' AS other",
        "PRAGMA writable_schema = 1",
        "SELECT 1; DELETE FROM orders",
        "SELECT load_extension('x')",
        "SELEKT",
    ],
)
def test_sql_changes_nothing(database: Path, query: str) -> None:
    before = database.read_bytes()
    assert "SQLite says" in call("sql_query", query=query)["error"]
    assert database.read_bytes() == before


def test_sql_says_what_it_needs(
    drop_in: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    drop_in("sql_query.py")
    assert "DATABASE_URL is not set" in registry.availability("sql_query")["sql_query"].reason
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/none.db")
    assert "there is no database at" in registry.availability("sql_query")["sql_query"].reason


# -- weather ----------------------------------------------------------------------------------------------------------

WEATHER = {
    "current_condition": [
        {
            "temp_C": "21",
            "FeelsLikeC": "20",
            "weatherDesc": [{"value": "Sunny"}],
            "windspeedKmph": "7",
            "humidity": "40",
        }
    ],
    "weather": [{"date": f"2030-01-0{day}", "mintempC": "9", "maxtempC": "22"} for day in (1, 2, 3)],
}


def test_weather(
    serve: Callable[[Answer], str], drop_in: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
        assert method == "GET"
        if path == "/S%C3%A3o%20Paulo?format=j1":
            return 200, json.dumps(WEATHER)
        return (404, "unknown location") if path.startswith("/Nowhere") else (200, "<html>busy</html>")

    monkeypatch.setenv("WEATHER_URL", serve(answer))
    drop_in("weather.py")
    found = call("get_weather", place="São Paulo", days="2")
    assert found["now"] == {
        "temperature_c": 21,
        "feels_like_c": 20,
        "sky": "Sunny",
        "wind_kmh": 7,
        "humidity_percent": 40,
    }
    assert [day["date"] for day in found["forecast"]] == ["2030-01-01", "2030-01-02"]
    assert "answered 404" in call("get_weather", place="Nowhere")["error"]
    assert "no JSON" in call("get_weather", place="Busy")["error"]
    assert "days must be at most 3" in call("get_weather", place="x", days=9)["error"]


def test_weather_without_a_network(drop_in: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_URL", "http://127.0.0.1:1")
    drop_in("weather.py")
    assert "cannot be reached" in call("get_weather", place="Berlin")["error"]


# -- continuous integration -------------------------------------------------------------------------------------------


class GitLab:
    """A project whose pipeline goes on by one step whenever its status is asked."""

    def __init__(self) -> None:
        self.states = iter(["pending", "running"])
        self.status = "created"
        self.asked: list[tuple[str, str, Any]] = []

    def __call__(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
        if headers.get("PRIVATE-TOKEN") != "secret":
            return 401, '{"message": "401 Unauthorized"}'
        path = path.removeprefix("/api/v4/projects/group%2Fproject")
        self.asked.append((method, path, json.loads(body) if body else None))
        match (method, path):
            case ("POST", "/pipeline"):
                return 201, json.dumps({"id": 7, "status": "created", "web_url": "https://gitlab/7"})
            case ("GET", "/pipelines/7"):
                self.status = next(self.states, "success")
                return 200, json.dumps({"id": 7, "status": self.status})
            case ("GET", "/pipelines/7/jobs"):
                return 200, json.dumps([{"id": 70, "name": "test", "stage": "check", "status": self.status}])
            case ("GET", "/jobs/70/trace"):
                return 200, "\n".join(f"line {number}" for number in range(300))
        return 404, '{"message": "404 Not Found"}'


@pytest.fixture
def gitlab(serve: Callable[[Answer], str], drop_in: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> GitLab:
    server = GitLab()
    monkeypatch.setenv("GITLAB_URL", serve(server))
    monkeypatch.setenv("GITLAB_PROJECT", "group/project")
    monkeypatch.setenv("GITLAB_TOKEN", "secret")
    monkeypatch.setenv("GITLAB_POLL_S", "0.01")
    drop_in("gitlab_ci.py")
    return server


def test_a_build_that_outlasts_a_call(gitlab: GitLab) -> None:
    started = call("ci_trigger", ref="main", variables='{"DEPLOY": "no"}')
    assert (started["pipeline_id"], started["status"]) == (7, "created")
    assert gitlab.asked[0][2] == {"ref": "main", "variables": [{"key": "DEPLOY", "value": "no"}]}
    first = call("ci_status", pipeline_id="7")
    assert (first["status"], first["ended"]) == ("pending", False)
    last = call("ci_status", pipeline_id=7, wait=60)
    assert (last["status"], last["ended"]) == ("success", True)
    assert last["jobs"] == [{"id": 70, "name": "test", "stage": "check", "status": "success"}]
    log = call("ci_log", pipeline_id=7, job="test", lines=2)
    assert (log["log"], log["total_lines"]) == ("line 298\nline 299", 300)
    assert call("ci_log", pipeline_id=7, job="deploy")["jobs"] == ["test"]


def test_what_gitlab_says_reaches_the_model(gitlab: GitLab, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("ci_status", pipeline_id=8)["error"] == "GitLab answered 404"
    monkeypatch.setenv("GITLAB_TOKEN", "wrong")
    assert call("ci_trigger", ref="main") == {
        "error": "GitLab answered 401",
        "answer": '{"message": "401 Unauthorized"}',
    }
    monkeypatch.delenv("GITLAB_TOKEN")
    assert "GITLAB_TOKEN is not set" in registry.availability("ci_log")["ci_log"].reason
