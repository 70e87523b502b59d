"""clarify: what is asked, and that no two endings read alike."""

from pathlib import Path
from typing import Any

import pytest

from hermes_tui.protocol.inquiries import (
    ApprovalAnswer,
    ApprovalChoice,
    ClarifyAnswer,
    ClarifyInquiry,
    InquiryOutcome,
    Reply,
)
from hermes_tui.tools.clarify_tool import clarify
from hermes_tui.tools.handlers import ToolFailure
from tests.unit.tools.support import Person, make_context

ANSWERED = Reply(InquiryOutcome.ANSWERED, ClarifyAnswer("blue"))


def ask(
    tmp_path: Path, args: dict[str, Any], reply: Reply = ANSWERED, *, options: dict[str, Any] | None = None
) -> tuple[dict[str, Any], Person]:
    person = Person(lambda inquiry: reply)
    result = clarify(args, make_context(tmp_path, person=person, options=options))
    return result, person


def test_the_answer_comes_back_with_the_question(tmp_path: Path) -> None:
    result, person = ask(tmp_path, {"question": " Which colour? ", "choices": ["red", "blue"]})
    assert result == {"question": "Which colour?", "choices_offered": ["red", "blue"], "user_response": "blue"}
    (inquiry,) = person.asked
    assert isinstance(inquiry, ClarifyInquiry)
    assert (inquiry.question, inquiry.choices, inquiry.timeout_s) == ("Which colour?", ("red", "blue"), 120)
    assert (inquiry.session_id, inquiry.agent_id, inquiry.call_id) == ("s", "a", "c")


def test_the_waiting_time_is_a_setting(tmp_path: Path) -> None:
    _, person = ask(tmp_path, {"question": "?"}, options={"clarify.timeout": 5})
    assert person.asked[0].timeout_s == 5
    _, person = ask(tmp_path, {"question": "?"}, options={"clarify.timeout": 0})
    assert person.asked[0].timeout_s is None


@pytest.mark.parametrize(
    ("given", "offered"),
    [
        (None, []),
        ([{"label": "red"}, {"description": "blue"}], ["red", "blue"]),
        ("red\nblue\n", ["red", "blue"]),
        (["red", " red ", "", "two\nlines"], ["red", "two lines"]),
        ([1, True], ["1", "True"]),
    ],
)
def test_choices_are_taken_as_models_send_them(tmp_path: Path, given: Any, offered: list[str]) -> None:
    assert ask(tmp_path, {"question": "?", "choices": given})[0]["choices_offered"] == offered


@pytest.mark.parametrize(
    "args", [{}, {"question": " "}, {"question": "?", "choices": list("abcde")}, {"question": "?", "choices": 3}]
)
def test_bad_questions_are_refused_without_asking(tmp_path: Path, args: dict[str, Any]) -> None:
    with pytest.raises(ToolFailure):
        ask(tmp_path, args)


def test_no_answer_never_reads_like_one(tmp_path: Path) -> None:
    endings = [
        Reply(InquiryOutcome.TIMED_OUT),
        Reply(InquiryOutcome.NOBODY),
        Reply(InquiryOutcome.CANCELLED),
        Reply(InquiryOutcome.ANSWERED, ApprovalAnswer(ApprovalChoice.ONCE)),
    ]
    results = [ask(tmp_path, {"question": "?"}, reply)[0] for reply in endings]
    assert all(result["user_response"] is None for result in results)
    assert len({result["note"] for result in results}) == 4
    assert [result["status"] for result in results] == ["timed_out", "nobody", "cancelled", "closed"]
