"""``hermes-tui run``: one prompt through the same engine, without a screen.

The final text goes to standard output and everything else to standard error; with ``--json`` each event is a line of
standard output. The exit codes are ``launch.ExitCode``.
"""

import contextlib
import queue
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from hermes_tui.agent.engine import Engine
from hermes_tui.agent.options import EngineOptions
from hermes_tui.launch import Consent, ExitCode, HeadlessOptions
from hermes_tui.log import set_up_logging
from hermes_tui.protocol.events import (
    AssistantMessage,
    Event,
    Notice,
    SessionStarted,
    ToolFinished,
    TurnEnd,
    TurnFinished,
    encode_event,
)
from hermes_tui.protocol.inquiries import Answer, AnyInquiry, ApprovalAnswer, ApprovalChoice, ApprovalInquiry
from hermes_tui.protocol.messages import ToolOutcome
from hermes_tui.safety.redact import redact

_UNAPPROVED = (ToolOutcome.DENIED, ToolOutcome.NOBODY, ToolOutcome.NO_ANSWER)

_ENDS = {
    TurnEnd.FINISHED: ExitCode.FINISHED,
    TurnEnd.BUDGET: ExitCode.BUDGET,
    TurnEnd.INTERRUPTED: ExitCode.INTERRUPTED,
    TurnEnd.ERROR: ExitCode.ERROR,
}


def run_headless(options: HeadlessOptions) -> int:
    """Run one prompt to its end; return the exit code."""
    loaded = options.load()
    set_up_logging(options.paths.log, redact=redact)
    for problem in loaded.problems:
        print(f"hermes-tui: {problem}", file=sys.stderr)
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    engine = Engine(
        EngineOptions(
            settings=loaded.settings,
            paths=options.paths,
            environ=loaded.environ,
            secret_names=frozenset(loaded.secrets),
            workspace=str(Path.cwd()),
            interactive=False,
            unattended=_answers(options.consent),
            resume=options.resume,
            continue_latest=options.continue_latest,
        ),
        events.put,
    )
    engine.start()
    if options.demo:
        engine.use_demo()
    run = _Run(options)
    try:
        with _signals(engine.interrupt):
            while not run.ended:
                with contextlib.suppress(queue.Empty):
                    if run.take(events.get(timeout=1)):
                        engine.submit(options.prompt)
                    continue
                if not engine.running:
                    print("hermes-tui: the program failed while it started; see the log.", file=sys.stderr)
                    return ExitCode.ERROR
    finally:
        engine.stop()
    return run.code


class _Run:
    """Reads the events of one run: writes what is asked for, and knows when and how it ended."""

    def __init__(self, options: HeadlessOptions) -> None:
        self._options = options
        self._wants_session = options.resume is not None
        self._opens = 2 if options.demo else 1  # the demo opens a second session, in a folder of its own
        self._text = ""
        self._unapproved = False
        self.ended = False
        self.code: int = ExitCode.FINISHED

    def take(self, event: Event) -> bool:
        """Read an event; return whether the session stands open and the prompt may be sent."""
        if self._options.json:
            sys.stdout.buffer.write(encode_event(event) + b"\n")
            sys.stdout.buffer.flush()
        match event:
            case SessionStarted():
                self._opens -= 1
                if self._wants_session and not event.resumed:
                    self._end(ExitCode.ERROR)
                    return False
                return self._opens == 0
            case Notice():
                print(f"hermes-tui: {event.text}", file=sys.stderr)
            case AssistantMessage(agent_id="root") if event.text:
                self._text = event.text
            case ToolFinished() if event.result.outcome in _UNAPPROVED:
                self._unapproved = True
            case TurnFinished(agent_id="root"):
                self._finish(event)
        return False

    def _finish(self, event: TurnFinished) -> None:
        if event.detail:
            print(f"hermes-tui: {event.detail}", file=sys.stderr)
        if not self._options.json and self._text:
            sys.stdout.write(self._text if self._text.endswith("\n") else f"{self._text}\n")
            sys.stdout.flush()
        code = _ENDS[event.end]
        self._end(ExitCode.DENIED if code is ExitCode.FINISHED and self._unapproved else code)

    def _end(self, code: ExitCode) -> None:
        self.ended, self.code = True, code


def _answers(consent: Consent) -> Callable[[AnyInquiry], Answer | None]:
    """Return what is answered in the person's place. Passwords and questions are never made up."""
    choice = {Consent.YES: ApprovalChoice.ONCE, Consent.DENY: ApprovalChoice.DENY}.get(consent)

    def answer(inquiry: AnyInquiry) -> Answer | None:
        return ApprovalAnswer(choice) if choice is not None and isinstance(inquiry, ApprovalInquiry) else None

    return answer


@contextlib.contextmanager
def _signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl+C, TERM and a closed terminal end the turn, so that its tools end too."""

    def stop(number: int, frame: FrameType | None) -> None:
        interrupt()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
