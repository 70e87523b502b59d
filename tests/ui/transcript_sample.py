"""A working session as events, for pictures of the transcript."""

from collections.abc import Iterator

from hermes_tui.protocol.events import (
    AnyEvent,
    AssistantMessage,
    BackendChanged,
    InquiryClosed,
    InquiryOpened,
    Notice,
    NoticeLevel,
    ReasoningDelta,
    ToolFinished,
    ToolOutput,
    ToolProgress,
    ToolQueued,
    ToolStarted,
    ToolWaiting,
    TurnEnd,
    TurnFinished,
    TurnStarted,
    UserMessage,
)
from hermes_tui.protocol.inquiries import ApprovalInquiry, InquiryOutcome
from hermes_tui.protocol.messages import ToolOutcome, ToolResult

START = 1_000.0
NOW = START + 40

DIFF = """--- a/parser.py
+++ b/parser.py
@@ -10,6 +10,7 @@ def parse(text):
     tokens = tokenize(text)
     for token in tokens:
-        if token.kind == "NUMBER":
-            result.append(int(token.value))
+        if token.kind == "NUMBER" and token.value:
+            result.append(float(token.value))
     return result
+
     # done
"""
FAILURE = (
    "\x1b[31mF\x1b[0m                                  [100%]\n=========== FAILURES ===========\n"
    "\x1b[1m\x1b[31mE   ValueError: invalid literal for int(): ''\x1b[0m\n\x1b[33m1 failed\x1b[0m in 0.03s\n"
)
ANSWER = """The parser treats an **empty token** as a number, so `int("")` raises:

1. `tokenize` yields empty tokens for trailing commas
2. `parse` never checked for them
   - neither did the tests, see [the issue](https://example.org/issues/42)

| Case | Before | After |
|:-----|:------:|------:|
| `1,` | ValueError | `[1.0]` |
| 日本語 | ValueError | skipped 🎉 |

```python
def parse(text: str) -> list[float]:
    return [float(t) for t in text.split(",") if t]  # empty ones are skipped
```

> Floats now, not ints.

- [x] fix
- [ ] release notes
"""


def _call(
    call_id: str, name: str, emoji: str, summary: str, result: ToolResult, *, backend: str = "local", at: float = 4.0
) -> Iterator[AnyEvent]:
    yield ToolQueued(call_id=call_id, name=name, emoji=emoji, summary=summary, backend=backend, at=START + at)
    yield ToolStarted(call_id=call_id, at=START + at)
    yield ToolFinished(call_id=call_id, name=name, result=result, at=START + at)


def _result(call_id: str, outcome: ToolOutcome = ToolOutcome.DONE, **more: object) -> ToolResult:
    return ToolResult(call_id=call_id, content="{}", outcome=outcome, **more)  # type: ignore[arg-type]


def finished_turn() -> Iterator[AnyEvent]:
    """A turn from prompt to end: reasoning, reads, a failure, an edit, a refusal, an answer."""
    yield UserMessage(text="Fix the failing test in parser.py\nand tell me why it broke.", at=START)
    yield TurnStarted(turn_id="1", at=START)
    yield ReasoningDelta(text="Look at the parser first. ", at=START + 1)
    yield AssistantMessage(
        text="I'll look at the code and the test first.", reasoning="Look at the parser first. ", at=START + 4
    )
    yield from _call("r1", "read_file", "📖", "parser.py", _result("r1", duration_s=0.012))
    yield from _call("r2", "search_files", "🔎", "tokenize in src", _result("r2", duration_s=1.0))
    failed = _result(
        "t1", ToolOutcome.FAILED, exit_code=1, duration_s=3.21, display={"output": FAILURE}, size_chars=345
    )
    yield from _call("t1", "terminal", "💻", "pytest -q tests/test_parser.py", failed, backend="docker")
    yield from _call("p1", "patch", "🔧", "parser.py", _result("p1", duration_s=0.01, display={"diff": DIFF}))
    yield ToolQueued(call_id="d1", name="terminal", emoji="💻", summary="rm -rf build/", backend="ssh", at=START + 11)
    inquiry = ApprovalInquiry(id="q1", call_id="d1", tool="terminal", command="rm -rf build/")
    yield InquiryOpened(inquiry=inquiry, at=START + 11)
    yield InquiryClosed(
        inquiry_id="q1", outcome=InquiryOutcome.ANSWERED, choice="deny", note="I need the logs", at=START + 15
    )
    denied = _result("d1", ToolOutcome.DENIED, waited_s=4.2, error="denied: I need the logs")
    yield ToolFinished(call_id="d1", name="terminal", result=denied, at=START + 15)
    yield AssistantMessage(text=ANSWER, at=START + 20)
    yield TurnFinished(turn_id="1", end=TurnEnd.FINISHED, duration_s=20.4, at=START + 20)


def running_turn() -> Iterator[AnyEvent]:
    """A turn in which calls run, wait for the person, and wait for their turn."""
    yield BackendChanged(backend="docker", folder="/workspace", at=START + 30)
    yield UserMessage(text="run the whole suite", at=START + 31)
    for number in range(3):
        why = "writes the same folder" if number == 2 else ""
        yield ToolQueued(
            call_id=f"w{number}", name="terminal", emoji="💻", summary=f"make test-{number}", backend="docker",
            why_serial=why, at=START + 32,
        )  # fmt: skip
    yield ToolStarted(call_id="w0", at=START + 32)
    output = "".join(f"\x1b[32mPASS\x1b[0m tests/case_{number}.py\n" for number in range(30))
    yield ToolOutput(call_id="w0", text=output, at=START + 33)
    yield ToolProgress(call_id="w0", text="case 30 of 60", fraction=0.5, at=START + 33)
    yield ToolWaiting(call_id="w1", needs_you=True, reason="becomes root", at=START + 33)
    yield Notice(level=NoticeLevel.WARNING, text="The connection was lost for 2 s. Output goes on.", at=START + 34)
