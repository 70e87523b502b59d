"""An unknown ssh host is connected to only if the person says so."""

import threading

import pytest

from hermes_tui.agent.desk import Desk
from hermes_tui.agent.gate import CONNECT, confirm_host
from hermes_tui.protocol.events import Event, InquiryOpened
from hermes_tui.protocol.inquiries import ClarifyAnswer, ClarifyInquiry


@pytest.mark.parametrize(
    ("text", "connects"), [(CONNECT, True), ("Do not connect", False), ("yes", False), ("", False)]
)
def test_only_the_first_choice_connects(text: str, connects: bool) -> None:
    opened = threading.Event()
    asked: list[ClarifyInquiry] = []

    def publish(event: Event) -> None:
        if isinstance(event, InquiryOpened) and isinstance(event.inquiry, ClarifyInquiry):
            asked.append(event.inquiry)
            opened.set()

    desk = Desk(publish)
    said: list[bool] = []
    thread = threading.Thread(target=lambda: said.append(confirm_host(desk, "Connect to box (SHA256:abc)?")))
    thread.start()
    assert opened.wait(5)
    desk.answer(asked[0].id, ClarifyAnswer(text))
    thread.join(5)
    assert said == [connects]
    assert "SHA256:abc" in asked[0].question


def test_where_nobody_is_there_it_is_refused() -> None:
    assert not confirm_host(Desk(lambda event: None, unattended=lambda inquiry: None), "Connect?")
