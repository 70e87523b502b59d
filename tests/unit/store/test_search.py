"""Search: ranked, in any script, with the place that was found and what stands around it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_tui.protocol.messages import Message, Role
from hermes_tui.store.records import SessionKind, SessionRecord
from hermes_tui.store.search import search, window
from hermes_tui.store.sessions import SessionStore
from hermes_tui.store.text import INDEXED_RESULT_CHARS

from .conftest import ROOT, Talk


def found(store: SessionStore, query: str, **options: object) -> list[str]:
    return [hit.session.id for hit in search(store, query, **options)]  # type: ignore[arg-type]  # options by name


def test_all_words_must_match_and_stems_count(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "we were running the migrations")
    talk.session("b", "run for it")
    assert found(store, "run migration") == ["a"]
    assert sorted(found(store, "running")) == ["a", "b"]


def test_where_no_message_has_all_words_any_of_them_will_do(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "the parser", "was slow")
    assert found(store, "parser quick") == ["a"]
    assert found(store, "nothing here") == []


def test_a_quoted_phrase_is_found_as_it_stands(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "rate limit reached")
    talk.session("b", "limit the rate")
    assert found(store, '"rate limit"') == ["a"]


def test_accents_and_case_do_not_matter(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "Café Übersicht")
    assert found(store, "cafe ubersicht") == ["a"]


@pytest.mark.parametrize(
    "query", ["", "  ", "***", '"', "AND", "NEAR(", "a OR", "x:y", "-", "a*", "\0", "^a", "'; DROP"]
)
def test_nothing_in_a_query_is_an_operator(store: SessionStore, talk: Talk, query: str) -> None:
    talk.session("a", "plain words")
    assert found(store, query) == []


@pytest.mark.parametrize(
    "query", ["登录", "登录页面", "页面", "登录 login", "登录页面 login", "登录页面 按钮", "ログイン", "画面", "로그인"]
)
def test_chinese_japanese_and_korean_inside_unspaced_text(store: SessionStore, talk: Talk, query: str) -> None:
    talk.session("a", "修复登录页面的按钮 login ログイン画面を直す 로그인했습니다")
    talk.session("b", "something else 其他 login")
    assert found(store, query)[0] == "a"
    assert search(store, query)[0].marks


def test_short_chinese_text_with_like_signs_is_taken_as_it_is(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "进度 50%")
    assert found(store, "进_") == ["a"]  # the sign divides nothing: it is dropped as no word
    assert found(store, "度 50") == ["a"]


def test_a_session_is_one_hit_with_its_best_message(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "docker once in a long sentence about many other things", "docker docker docker", "no")
    (hit,) = search(store, "docker")
    assert (hit.hits, hit.role) == (2, "assistant")
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["docker"] * 3


def test_inside_one_session_every_message_is_a_hit(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "docker", "docker too")
    talk.session("b", "docker")
    assert found(store, "docker", session_id="a") == ["a", "a"]
    assert found(store, "docker", without_session="a") == ["b"]


def test_what_was_said_ranks_above_what_tools_returned(store: SessionStore, talk: Talk) -> None:
    talk.session("tool")
    talk.say("tool", "postgres error", Role.TOOL)
    talk.session("said", "postgres error")
    talk.session("late")
    talk.say("late", "postgres error", Role.TOOL)
    assert found(store, "postgres")[0] == "said"
    assert found(store, "postgres", roles=["user"]) == ["said"]


def test_order_by_time(store: SessionStore, talk: Talk) -> None:
    for name in ("first", "second", "third"):
        talk.session(name, "same words")
    assert found(store, "words", sort="newest") == ["third", "second", "first"]
    assert found(store, "words", sort="oldest", limit=2) == ["first", "second"]


def test_children_schedules_and_system_prompts_stand_apart(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "hello")
    talk.say("a", "zebra", agent_id="child")
    talk.say("a", "zebra", Role.SYSTEM)
    talk.session("nightly", "zebra", kind=SessionKind.CRON)
    assert found(store, "zebra") == []
    (hit,) = search(store, "zebra", children=True)
    assert (hit.agent_id, hit.hits) == ("child", 1)
    assert found(store, "zebra", kinds=[SessionKind.CRON]) == ["nightly"]


def test_tool_calls_are_found_and_huge_results_at_both_ends(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "go")
    talk.call("a", "c")
    talk.result(
        "a", "c", "beginning " + "x " * INDEXED_RESULT_CHARS + " middle " + "x " * INDEXED_RESULT_CHARS + " ending"
    )
    assert found(store, "terminal ls") == ["a"]
    assert found(store, "beginning ending") == ["a"]
    assert found(store, "middle") == []
    assert store.delete("a")
    assert found(store, "beginning") == []


def test_the_last_word_may_be_unfinished_while_it_is_typed(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "kubernetes cluster")
    assert found(store, "cluster kube", prefix=True) == ["a"]
    assert found(store, "kube") == []
    assert found(store, "cluster ku", prefix=True) == ["a"]  # not taken as a beginning yet, so that any word will do
    assert found(store, "ku", prefix=True) == []


def test_a_snippet_is_one_line_around_what_was_found(store: SessionStore, talk: Talk) -> None:
    talk.session("a", "start\n\n" + "word " * 200 + "needle\tin\nhay " + "word " * 200)
    (hit,) = search(store, "needle")
    assert "needle in hay" in hit.snippet
    assert len(hit.snippet) < 300
    talk.session("b", "字" * 500 + "登录" + "字" * 500)
    (hit,) = search(store, "登录")
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["登录"]
    assert hit.snippet.startswith("… ")


def test_a_window_shows_what_stands_around_and_how_much_more(store: SessionStore, talk: Talk) -> None:
    talk.session("a")
    ids = [talk.say("a", str(number)) for number in range(9)]
    talk.say("a", "of a child", agent_id="child")
    seen = window(store, ids[4], 2)
    assert seen is not None
    assert [one.message.content for one in seen.messages] == ["2", "3", "4", "5", "6"]
    assert (seen.before, seen.after) == (2, 2)
    seen = window(store, ids[0], 2)
    assert seen is not None
    assert (len(seen.messages), seen.before, seen.after) == (3, 0, 6)
    assert window(store, 10_000) is None


@given(texts=st.lists(st.text(), max_size=3), query=st.text())
def test_no_query_fails(texts: list[str], query: str) -> None:
    store = SessionStore(None)
    store.create_session(SessionRecord(id="s", agent_id=ROOT, folder="/"))
    for text in [*texts, "登录 words"]:
        store.append_message("s", ROOT, Message(role=Role.USER, content=text))
    for hit in search(store, query, prefix=True):
        assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.marks)
    store.close()


def test_searching_5000_messages_is_quick(store: SessionStore, talk: Talk) -> None:
    talk.session("a")
    with store._writing():
        for number in range(5_000):
            talk.say("a", f"message {number} about topic {number % 50} 登录页面 {number}")
    started = time.perf_counter()
    assert search(store, "topic 7")
    assert search(store, "登录")
    assert time.perf_counter() - started < 1.0
