"""The life of the sudo password, without sudo."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.inquiries import AnyInquiry, InquiryOutcome, PasswordAnswer, PasswordInquiry, Reply
from hermes_tui.safety.sudo import Secret, SudoKeeper
from tests.unit.tools.support import Person, make_context


class TypingPerson(Person):
    """Types the passwords given, one per question, then none."""

    def __init__(self, *passwords: str | None, remember: bool = False) -> None:
        self._passwords = list(passwords)
        self._remember = remember
        super().__init__(self._type)

    def _type(self, inquiry: AnyInquiry) -> Reply:
        password = self._passwords.pop(0) if self._passwords else None
        return Reply(InquiryOutcome.ANSWERED, PasswordAnswer(password, remember=self._remember))


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


def ask(keeper: SudoKeeper, context: ToolContext, person: Person, attempt: int = 1, host: str = "box") -> str | None:
    with_person = replace(context, asker=person)
    return keeper.password(
        host=host, user="me", command="sudo id", context=with_person, attempt=attempt, asked_by="deploy.sh"
    )


def test_question_says_what_is_asked(context: ToolContext) -> None:
    person = TypingPerson("pw")
    assert ask(SudoKeeper(timeout_s=45), context, person) == "pw"
    [inquiry] = person.asked
    assert isinstance(inquiry, PasswordInquiry)
    assert (inquiry.host, inquiry.user, inquiry.command, inquiry.asked_by) == ("box", "me", "sudo id", "deploy.sh")
    assert (inquiry.attempt, inquiry.attempts, inquiry.timeout_s) == (1, 3, 45)
    assert (inquiry.session_id, inquiry.agent_id, inquiry.call_id) == ("s", "a", "c")


def test_not_remembered_unless_ticked(context: ToolContext) -> None:
    keeper = SudoKeeper()
    person = TypingPerson("one", "two")
    assert [ask(keeper, context, person), ask(keeper, context, person)] == ["one", "two"]


def test_remembered_for_host_and_user_until_forgotten(context: ToolContext) -> None:
    keeper = SudoKeeper()
    person = TypingPerson("one", "other", "again", remember=True)
    assert [ask(keeper, context, person), ask(keeper, context, person)] == ["one", "one"]
    assert keeper.remembers(host="box", user="me")
    assert ask(keeper, context, person, host="elsewhere") == "other"
    keeper.forget()
    assert not keeper.remembers(host="box", user="me")
    assert ask(keeper, context, person) == "again"


def test_wrong_password_is_forgotten_and_asked_again(context: ToolContext) -> None:
    keeper = SudoKeeper()
    person = TypingPerson("wrong", "right", remember=True)
    assert ask(keeper, context, person) == "wrong"
    assert ask(keeper, context, person, attempt=2) == "right"
    assert ask(keeper, context, person) == "right"
    keeper.rejected(host="box", user="me")
    assert not keeper.remembers(host="box", user="me")


def test_three_attempts_at_most(context: ToolContext) -> None:
    person = TypingPerson("never")
    assert ask(SudoKeeper(), context, person, attempt=4) is None
    assert person.asked == []


def test_configured_password_is_used_without_asking_until_it_is_wrong(context: ToolContext) -> None:
    keeper = SudoKeeper(configured="from-env")
    person = TypingPerson("typed", "typed")
    assert ask(keeper, context, person) == "from-env"
    assert person.asked == []
    assert ask(keeper, context, person, attempt=2) == "typed"
    assert ask(keeper, context, person) == "typed"
    assert ask(keeper, context, person, host="elsewhere") == "from-env"


@pytest.mark.parametrize("outcome", [InquiryOutcome.TIMED_OUT, InquiryOutcome.CANCELLED, InquiryOutcome.NOBODY])
def test_no_answer_is_none(context: ToolContext, outcome: InquiryOutcome) -> None:
    assert ask(SudoKeeper(), context, Person(lambda inquiry: Reply(outcome))) is None


def test_declining_is_none(context: ToolContext) -> None:
    assert ask(SudoKeeper(), context, TypingPerson(None)) is None


def test_two_at_once_open_one_dialog(context: ToolContext) -> None:
    opened, answer = threading.Event(), threading.Event()

    def reply(inquiry: AnyInquiry) -> Reply:
        opened.set()
        assert answer.wait(10)
        return Reply(InquiryOutcome.ANSWERED, PasswordAnswer("pw", remember=True))

    person = Person(reply)
    keeper = SudoKeeper()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, keeper, context, person)
        assert opened.wait(10)
        second = pool.submit(ask, keeper, context, person)
        answer.set()
        assert (first.result(10), second.result(10)) == ("pw", "pw")
    assert len(person.asked) == 1


def test_interrupt_ends_the_waiting_for_a_turn(context: ToolContext) -> None:
    opened, answer = threading.Event(), threading.Event()

    def reply(inquiry: AnyInquiry) -> Reply:
        opened.set()
        assert answer.wait(10)
        return Reply(InquiryOutcome.CANCELLED)

    keeper, person = SudoKeeper(), Person(reply)
    other = make_context(Path(context.workspace))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, keeper, context, person)
        assert opened.wait(10)
        second = pool.submit(ask, keeper, other, person)
        other.cancel.cancel()
        assert second.result(10) is None
        answer.set()
        assert first.result(10) is None


def test_secret_shows_itself_nowhere() -> None:
    secret = Secret("hunter2")
    shown = f"{secret} {secret!r} {[secret]} {SudoKeeper(configured=secret).__dict__}"
    assert "hunter2" not in shown
    assert secret.reveal() == "hunter2"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
