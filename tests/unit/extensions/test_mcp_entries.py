"""Which servers there are, and what may be shown of them."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.extensions.mcp.entries import Entries, find_entries, make_entry, plain_name, settings_of
from hermes_tui.extensions.mcp.scrub import MAX_CHARS, Scrubber, describe, plain
from hermes_tui.extensions.mcp.servers import parse_line
from hermes_tui.settings import McpServerSettings, Settings, ToolSettings


def find(home: Path, settings: Settings, variables: dict[str, str] | None = None) -> Entries:
    return find_entries(settings, variables or {}, own_file=home / "mcp.json", workspace=home / "work")


@pytest.fixture
def project(home: Path) -> Path:
    file = home / "work" / ".mcp.json"
    file.parent.mkdir()
    file.write_text(
        json.dumps({"mcpServers": {"its own": {"type": "sse", "url": "http://x/${WHO:-nobody}", "note": 1}}})
    )
    return file


def test_a_projects_file_is_read_only_when_that_is_allowed(home: Path, project: Path) -> None:
    assert find(home, Settings()).servers == {}
    found = find(home, Settings(tools=ToolSettings(allow_project_plugins=True))).servers
    assert found["its-own"].settings.transport == "sse"
    assert found["its-own"].settings.url == "http://x/nobody"
    assert found["its-own"].source == ".mcp.json"


def test_the_persons_configuration_comes_before_the_projects(home: Path, project: Path) -> None:
    own = McpServerSettings(command="mine")
    settings = Settings(mcp_servers={"its own": own}, tools=ToolSettings(allow_project_plugins=True))
    found = find(home, settings)
    assert found.servers["its-own"].settings.command == "mine"
    assert found.failures == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "could not be read"),
        ("[]", "it must hold"),
        ('{"mcpServers": {"a": 3}}', "an object with a command or a url"),
        ('{"mcpServers": {"a": {"command": ["x"]}}}', "Expected `str`"),
        ('{"mcpServers": {"///": {"command": "x"}}}', "a name needs letters or digits"),
        ('{"mcpServers": {"a b": {"command": "x"}, "a-b": {"command": "y"}}}', "another server called a-b"),
        ("\udcff", "could not be read"),
    ],
)
def test_what_cannot_be_read_is_told_and_the_rest_holds(home: Path, text: str, reason: str) -> None:
    (home / "mcp.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    found = find(home, Settings(mcp_servers={"good": McpServerSettings(command="x")}))
    assert "good" in found.servers
    assert reason in found.failures[0].reason


def test_variables_are_replaced_everywhere_and_missing_ones_told() -> None:
    settings = McpServerSettings(
        command="${A}/run", args=("--x=${A}",), env={"K": "${A}${B:-b}"}, headers={"H": "Bearer ${A}"}
    )
    entry = make_entry("s", settings, "config.yaml", {"A": "1"})
    assert entry.problem == ""
    assert (entry.settings.command, entry.settings.args, entry.settings.env) == ("1/run", ("--x=1",), {"K": "1b"})
    assert "A is not set" in make_entry("s", settings, "config.yaml", {}).problem


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (McpServerSettings(), "either a command to start or a url"),
        (McpServerSettings(command="x", url="http://y"), "either a command to start or a url"),
        (McpServerSettings(url="ftp://y"), "must begin with http"),
        (McpServerSettings(command="x", args=("a\0b",)), "NUL"),
    ],
)
def test_what_cannot_be_started(settings: McpServerSettings, problem: str) -> None:
    assert problem in make_entry("s", settings, "config.yaml", {}).problem


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        (McpServerSettings(command="npx", args=("-y", "pkg", "--api-key", "s3", "x")), "npx -y pkg --api-key *** x"),
        (McpServerSettings(command="srv", args=("--token=abc",), env={"PW": "hidden"}), "srv --token=***"),
        (McpServerSettings(url="https://me:pw@host:8/p?key=abc#f"), "https://host:8/p"),
    ],
)
def test_the_address_that_is_shown_holds_no_secret(settings: McpServerSettings, shown: str) -> None:
    assert make_entry("s", settings, "config.yaml", {}).address == shown


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gh npx -y 'my server'", ("gh", {"command": "npx", "args": ["-y", "my server"]})),
        ("gh A=1 B='x y' run", ("gh", {"command": "run", "args": [], "env": {"A": "1", "B": "x y"}})),
        ("web https://x/mcp", ("web", {"url": "https://x/mcp"})),
        ("web sse+http://x/sse", ("web", {"url": "http://x/sse", "transport": "sse"})),
    ],
)
def test_what_a_person_types_becomes_a_server(line: str, expected: object) -> None:
    assert parse_line(line) == expected


@pytest.mark.parametrize("line", ["", "name", "a/b run", "gh A=1", "gh 'x", "web https://x more", f"{'x' * 31} run"])
def test_what_cannot_become_one_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_line(line)


@given(st.text())
def test_any_line_is_read_or_refused(line: str) -> None:
    try:
        name, server = parse_line(line)
    except ValueError:
        return
    assert plain_name(name) == name
    settings_of(server)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_json_is_settings_or_a_value_error(server: object) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(settings_of(server), McpServerSettings)


# -- secrets and hidden text ------------------------------------------------------------------------------------------


def test_errors_lose_the_secrets_of_their_server() -> None:
    settings = McpServerSettings(
        url="https://me:passw0rd@host/x?token=querysecret",
        headers={"Authorization": "Bearer headersecret"},
        env={"KEY": "envsecret"},
    )
    text = "at https://me:passw0rd@host with querysecret, headersecret, envsecret and Bearer abcdefgh12345"
    scrubbed = Scrubber(settings)(text)
    for secret in ("passw0rd", "querysecret", "headersecret", "envsecret", "abcdefgh12345"):
        assert secret not in scrubbed


def test_a_long_error_is_one_short_line() -> None:
    short = Scrubber(McpServerSettings(), redact=lambda text: text.replace("red", "***")).short("a\nred " * 900)
    assert "\n" not in short
    assert "red" not in short
    assert len(short) <= MAX_CHARS + 4


@given(st.text())
def test_plain_text_has_no_hidden_characters(text: str) -> None:
    import unicodedata

    assert not {unicodedata.category(character) for character in plain(text) if character not in "\n\t"} & {"Cc", "Cf"}
    assert plain(plain(text)) == plain(text)


def test_a_group_of_errors_is_told_by_its_innermost() -> None:
    inner = ExceptionGroup("inner", [ValueError("first"), ValueError("first"), RuntimeError("")])
    assert describe(BaseExceptionGroup("outer", [inner, OSError("second")])) == "first; RuntimeError; second"
