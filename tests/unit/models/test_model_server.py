"""The scripted model server itself: what it sends is what the script says."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_replies import answer, broken_call, call, error, text, tool_calls
from tests.fakes.model_script import Request, Rule, Rules, load_script
from tests.fakes.model_server import ModelServer


def post(url: str, *messages: tuple[str, str], key: str = "k") -> str:
    body = json.dumps({"model": "m", "messages": [{"role": role, "content": content} for role, content in messages]})
    request = urllib.request.Request(
        f"{url}/chat/completions", body.encode(), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return bytes(response.read()).decode()
    except urllib.error.HTTPError as error:
        error.close()
        raise


def chunks(stream: str) -> list[dict[str, Any]]:
    lines = [line[6:] for line in stream.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def joined(stream: str) -> str:
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks(stream) if chunk["choices"]]
    return "".join(delta.get("content", "") for delta in deltas)


def test_replies_come_in_order_and_requests_are_kept() -> None:
    with ModelServer([text("one and two"), text("three")]) as server:
        assert joined(post(server.url, ("user", "hello"))) == "one and two"
        assert joined(post(server.url, ("user", "more"))) == "three"
        assert [request.last_user for request in server.requests] == ["hello", "more"]
        with pytest.raises(urllib.error.HTTPError, match="400"):
            post(server.url, ("user", "again"))


def test_a_body_split_at_every_byte_is_the_same_body() -> None:
    reply = answer("grün, ja", calls=[call("terminal", command="ls")])
    with ModelServer([reply, reply.split(1)]) as server:
        assert post(server.url, ("user", "a")) == post(server.url, ("user", "a"))


def test_a_rule_is_picked_by_the_prompt_and_its_reply_by_the_calls_since() -> None:
    rules = Rules([Rule("bug", [tool_calls(call("terminal", command="ls")), text("fixed")])], default=text("?"))
    with ModelServer(rules) as server:
        assert "tool_calls" in post(server.url, ("user", "fix the bug"))
        steered = [("user", "fix the bug"), ("assistant", ""), ("user", "and be quick")]
        assert joined(post(server.url, *steered)) == "fixed"
        assert joined(post(server.url, ("user", "else"))) == "?"


def test_failures_before_a_reply_are_given_once() -> None:
    rules = Rules([Rule("hi", [text("hello").after(error(503), error(429, retry_after="1"))])])
    with ModelServer(rules) as server:
        for status in ("503", "429"):
            with pytest.raises(urllib.error.HTTPError, match=status):
                post(server.url, ("user", "hi"))
        assert joined(post(server.url, ("user", "hi"))) == "hello"


def test_a_wrong_key_is_refused() -> None:
    with ModelServer([text("x")], api_key="right") as server:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            post(server.url, ("user", "hi"), key="wrong")
        assert joined(post(server.url, ("user", "hi"), key="right")) == "x"


def test_a_script_that_raises_fails_its_test() -> None:
    def script(request: Request) -> Any:
        raise LookupError(request.last_user)

    refused = pytest.raises(urllib.error.HTTPError, match="400")
    with pytest.raises(LookupError, match="hi"), ModelServer(script) as server, refused:
        post(server.url, ("user", "hi"))


def test_broken_arguments_are_sent_as_they_stand() -> None:
    with ModelServer([tool_calls(broken_call("terminal", '{"command": "ls'))]) as server:
        stream = post(server.url, ("user", "a"))
    found = [chunk["choices"][0]["delta"].get("tool_calls", []) for chunk in chunks(stream) if chunk["choices"]]
    assert "".join(part["function"].get("arguments", "") for parts in found for part in parts) == '{"command": "ls'


def test_the_json_form_makes_the_same_replies() -> None:
    data = {
        "rules": [{"match": "^go$", "replies": [{"calls": [{"name": "todo", "arguments": {"a": 1}}], "split": 3}]}],
        "replies": ["plain text", {"error": 429, "message": "slow", "headers": {"Retry-After": "2"}}],
    }
    answerer = load_script(data).answerer
    rule = answerer(Request(path="", headers={}, body={"messages": [{"role": "user", "content": "go"}]}))
    assert rule == tool_calls(call("todo", a=1)).split(3)
    other = Request(path="", headers={}, body={"messages": [{"role": "user", "content": "other"}]})
    assert answerer(other) == text("plain text")
    assert answerer(other).headers == {"Retry-After": "2"}
    assert answerer(other).status == 400


def test_it_runs_as_a_process(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "log"
    script.write_text(json.dumps({"replies": ["hello there"]}))
    command = [sys.executable, "-m", "tests.fakes.model_server", "--script", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert joined(post(url, ("user", "hi"))) == "hello there"
            assert json.loads(log.read_text())["messages"] == [{"role": "user", "content": "hi"}]
        finally:
            process.terminate()
