"""Inquiries and dialogs for the tests, over a main screen in the middle of its work."""

from typing import Any

from hermes_tui.protocol.inquiries import ApprovalInquiry, ClarifyInquiry, Highlight, PasswordInquiry
from hermes_tui.screens.approval import ApprovalScreen
from hermes_tui.screens.clarify import ClarifyScreen
from hermes_tui.screens.password import PasswordScreen
from tests.fakes.desk import FakeDesk
from tests.ui import sample

COMMAND = "cd /workspace/parser && rm -rf build dist && find . -name '*.pyc' -delete"


def approval_inquiry(**fields: Any) -> ApprovalInquiry:
    given: dict[str, Any] = {
        "id": "q1",
        "timeout_s": 60.0,
        "tool": "terminal",
        "command": COMMAND,
        "backend": "docker",
        "folder": "/workspace/parser",
        "reason": "Deletes 2 folders and every *.pyc below this one",
        "details": ("deletes build (14 files, 3 not in git)", "deletes dist (2 files)", "cannot be undone"),
        "highlights": (Highlight(24, 41, "recursive delete"), Highlight(66, 73, "delete")),
        "rule": "terminal: rm -rf build dist",
        "session_rule": "deleting inside /workspace/parser",
    }
    return ApprovalInquiry(**(given | fields))


def approval(desk: FakeDesk | None = None, **fields: Any) -> ApprovalScreen:
    return ApprovalScreen(approval_inquiry(**fields), desk or FakeDesk(), sample.frozen_ticker(), deaf_s=0)


def password(desk: FakeDesk | None = None, **fields: Any) -> PasswordScreen:
    given: dict[str, Any] = {
        "id": "q2",
        "timeout_s": 45.0,
        "host": "build-3",
        "user": "mira",
        "command": "sudo apt-get install -y libyaml-dev",
    }
    inquiry = PasswordInquiry(**(given | fields))
    return PasswordScreen(inquiry, desk or FakeDesk(45.0), sample.frozen_ticker(), deaf_s=0)


def clarify(desk: FakeDesk | None = None, **fields: Any) -> ClarifyScreen:
    given: dict[str, Any] = {
        "id": "q3",
        "timeout_s": 120.0,
        "question": "The test expects an empty list, the docs promise None. Which of them is right?",
        "choices": ("The test: return an empty list", "The docs: return None", "Neither: raise ValueError"),
    }
    inquiry = ClarifyInquiry(**(given | fields))
    return ClarifyScreen(inquiry, desk or FakeDesk(120.0), sample.frozen_ticker(), deaf_s=0)
