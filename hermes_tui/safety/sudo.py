"""The sudo password's whole life: from the settings or the person, to sudo, and out of memory again.

It is never part of an event, an argument, an environment, a log line or a file of ours: it travels from the dialog's
answer to the helper that sudo itself asked for.
"""

import logging
import threading
import time
import uuid
from collections import defaultdict
from typing import Final

from hermes_tui.protocol.cancel import Cancelled
from hermes_tui.protocol.context import ToolContext
from hermes_tui.protocol.inquiries import InquiryOutcome, PasswordAnswer, PasswordInquiry

logger = logging.getLogger(__name__)

DEFAULT_TIMEOUT_S: Final = 45.0
ATTEMPTS: Final = 3
"""As many as sudo itself allows by default."""


class Secret:
    """A text that shows itself nowhere by accident: not in a repr, an f-string, a traceback or a pickle."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("a secret cannot be pickled")


Target = tuple[str, str]
"""(host, user) that a password is for."""


class SudoKeeper:
    """Knows where the password comes from. Implements ``protocol.context.SudoSource``; thread-safe, one per session."""

    def __init__(
        self, *, configured: str | Secret | None = None, timeout_s: float = DEFAULT_TIMEOUT_S, attempts: int = ATTEMPTS
    ) -> None:
        """``configured`` (SUDO_PASSWORD) is used first, without asking. ``timeout_s`` 0 waits for ever."""
        self._configured = Secret(configured) if isinstance(configured, str) else configured
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._lock = threading.Lock()
        self._remembered: dict[Target, Secret] = {}
        self._refused: set[Target] = set()
        """Where the configured password was wrong."""
        self._asking: defaultdict[Target, threading.Lock] = defaultdict(threading.Lock)

    def password(
        self, *, host: str, user: str, command: str, context: ToolContext, attempt: int, asked_by: str = ""
    ) -> str | None:
        """Return the password for ``user`` on ``host``, or None to go on without.

        A first attempt takes what is configured or remembered; later ones ask. Blocks while the dialog is open, on a
        pool thread; None when nobody answers in time, nobody is there, or the turn is interrupted.
        """
        target = (host, user)
        if attempt > self._attempts:
            return None
        if attempt > 1:
            self.rejected(host=host, user=user)
        # Two commands that need the password at once open one dialog: the second finds what the first let us remember.
        if not self._wait_for_turn(target, context):
            return None
        try:
            known = self._known(target) if attempt == 1 else None
            secret = known or self._ask(target, command, context, attempt, asked_by)
            return secret.reveal() if secret is not None else None
        finally:
            self._asking[target].release()

    def rejected(self, *, host: str, user: str) -> None:
        """Forget what was remembered for ``user`` on ``host``; without it, what is configured was wrong there."""
        target = (host, user)
        with self._lock:
            if self._remembered.pop(target, None) is None:
                self._refused.add(target)

    def remembers(self, *, host: str, user: str) -> bool:
        with self._lock:
            return (host, user) in self._remembered

    def forget(self) -> None:
        """Forget every remembered password: on lock, on leaving, or because the person says so."""
        with self._lock:
            self._remembered.clear()

    def _known(self, target: Target) -> Secret | None:
        with self._lock:
            configured = self._configured if target not in self._refused else None
            return self._remembered.get(target) or configured

    def _wait_for_turn(self, target: Target, context: ToolContext) -> bool:
        with self._lock:
            turn = self._asking[target]
        while not turn.acquire(timeout=0.1):
            if context.cancelled:
                return False
        return True

    def _ask(self, target: Target, command: str, context: ToolContext, attempt: int, asked_by: str) -> Secret | None:
        host, user = target
        inquiry = PasswordInquiry(
            id=uuid.uuid4().hex,
            session_id=context.session_id,
            agent_id=context.agent_id,
            call_id=context.call_id,
            timeout_s=self._timeout_s or None,
            created=time.time(),
            host=host,
            user=user,
            command=command,
            attempt=attempt,
            attempts=self._attempts,
            asked_by=asked_by,
        )
        try:
            reply = context.asker.ask_sync(inquiry, context.cancel)
        except Cancelled:
            return None
        answer = reply.answer
        if reply.outcome is not InquiryOutcome.ANSWERED or not isinstance(answer, PasswordAnswer):
            return None
        if answer.password is None:
            return None
        secret = Secret(answer.password)
        if answer.remember:
            with self._lock:
                self._remembered[target] = secret
        return secret
