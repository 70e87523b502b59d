"""Keys: checked by a real request, stored without harm to the rest of .env."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.config.env_file import parse_env
from hermes_tui.models.catalog import Provider, known_providers
from hermes_tui.models.keys import _with_assignment, check_key, store_key
from tests.fakes.model_server import ModelServer
from tests.fakes.raw_server import answering, http

TEST = Provider(name="test", label="Test", base_url="http://unused", key_variable="TEST_KEY", keys_page="https://get")


async def test_a_good_and_a_bad_key() -> None:
    with ModelServer([], api_key="sk-good") as server:
        good = await check_key(TEST, " sk-good\n", server.url)
        bad = await check_key(TEST, "sk-bad", server.url)
    assert good.ok
    assert not bad.ok
    assert "refused" in bad.message
    assert "https://get" in bad.message
    assert "sk-bad" not in bad.message


async def test_a_key_in_a_header_of_its_own() -> None:
    anthropic = next(each for each in known_providers() if each.name == "anthropic")
    with ModelServer([], api_key="sk-good") as server:
        assert (await check_key(anthropic, "sk-good", server.url)).ok
        assert not (await check_key(anthropic, "sk-bad", server.url)).ok
        assert server.listing_headers[-1]["anthropic-version"]
        assert "authorization" not in server.listing_headers[-1]


async def test_openrouter_is_asked_about_the_key_not_for_the_open_list() -> None:
    openrouter = next(each for each in known_providers() if each.name == "openrouter")
    with ModelServer([], api_key="sk-good") as server:
        assert not (await check_key(openrouter, "sk-bad", server.url)).ok


async def test_nobody_there() -> None:
    with ModelServer([]) as server:
        pass
    result = await check_key(TEST, "sk-x", server.url)
    assert not result.ok
    assert "could not be checked" in result.message


@pytest.mark.parametrize(
    ("status", "body", "ok", "words"),
    [
        (400, b'{"error": "Incorrect API key provided"}', False, "refused"),
        (403, b"", False, "refused"),
        (404, b"", True, "no way to check"),
        (429, b"", True, "used up"),
        (500, b"we broke", False, "answered 500: we broke"),
    ],
)
async def test_other_answers(status: int, body: bytes, ok: bool, words: str) -> None:
    with answering(http(body, b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n" % (status, len(body)))) as port:
        result = await check_key(TEST, "sk-x", f"http://127.0.0.1:{port}/v1")
    assert result.ok is ok
    assert words in result.message


@pytest.mark.parametrize("key", ["", "  ", "sk one", "sk-ü", "sk\x1b[0m"])
async def test_what_is_no_key_is_not_sent(key: str) -> None:
    with ModelServer([]) as server:
        assert not (await check_key(TEST, key, server.url)).ok
        assert server.listing_headers == []


async def test_a_bad_address_is_told() -> None:
    assert "is not an address" in (await check_key(TEST, "k", "http://:99999")).message


def test_storing_makes_a_private_file(tmp_path: Path) -> None:
    env = tmp_path / "new" / ".env"
    store_key(env, "A_KEY", " sk-1 ")
    assert env.read_text() == "A_KEY=sk-1\n"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert [each.name for each in env.parent.iterdir()] == [".env"]


def test_storing_keeps_everything_else(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    before = (
        b"# my keys\nexport OTHER='x y' # note\n\n  export A_KEY = \"old\nkey\" # was\nLAST=1\nA_KEY=older\nRAW=\xff"
    )
    env.write_bytes(before)
    env.chmod(0o644)
    store_key(env, "A_KEY", "sk-2")
    assert env.read_bytes() == b"# my keys\nexport OTHER='x y' # note\n\nA_KEY=sk-2\nLAST=1\nRAW=\xff"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    store_key(env, "B_KEY", "sk-3")
    assert env.read_bytes().endswith(b"RAW=\xff\nB_KEY=sk-3\n")


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_bytes(b"A_KEY=old\r\nB=1\r\n")
    store_key(env, "A_KEY", "new")
    assert env.read_bytes() == b"A_KEY=new\r\nB=1\r\n"


def test_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real.env", tmp_path / ".env"
    real.write_text("X=1\n")
    link.symlink_to(real)
    store_key(link, "A_KEY", "k")
    assert link.is_symlink()
    assert real.read_text() == "X=1\nA_KEY=k\n"


@pytest.mark.parametrize(("variable", "key"), [("A KEY", "k"), ("", "k"), ("A_KEY", ""), ("A_KEY", "k\nB=1")])
def test_what_cannot_be_stored_changes_nothing(tmp_path: Path, variable: str, key: str) -> None:
    env = tmp_path / ".env"
    env.write_text("X=1\n")
    with pytest.raises(ValueError):
        store_key(env, variable, key)
    assert env.read_text() == "X=1\n"
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".env")] == [".env"]


@given(
    key=st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1),
    others=st.lists(st.sampled_from(["X=1", "# A_KEY=no", "A_KEY='old'", 'export A_KEY="o\\"ld"', "A_KEY_TWO=2", ""])),
)
def test_what_is_stored_is_what_is_read(key: str, others: list[str]) -> None:
    after = _with_assignment("\n".join(others).encode(), "A_KEY", key).decode()
    values = parse_env(after)[0].values
    assert values["A_KEY"] == key
    assert [line for line in after.splitlines() if line in ("X=1", "# A_KEY=no", "A_KEY_TWO=2")] == [
        line for line in others if line in ("X=1", "# A_KEY=no", "A_KEY_TWO=2")
    ]
