"""The demo: the script through the real client, in conversations with many kinds of results."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.models.chunks import CallChunk, Completion, TextChunk
from hermes_tui.models.client import ModelClient
from hermes_tui.models.demo import demo_client, prepare_demo_folder
from hermes_tui.models.demo_folder import BUG, FIX
from hermes_tui.models.demo_scenes import CHILD_MARK, SCENES
from hermes_tui.protocol.cancel import Cancelled, CancelToken
from hermes_tui.protocol.messages import Message, Role, ToolCall

TOOLS = ("terminal", "read_file", "patch", "todo", "clarify")


def schemas(*names: str) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names]


def refused(status: str, message: str = "no") -> str:
    return json.dumps({"error": message, "status": status})


class Conversation:
    """Types prompts to the demo and answers its calls, as the agent would."""

    def __init__(
        self,
        folder: Path,
        answer: Callable[[ToolCall], str] | None = None,
        tools: tuple[str, ...] = TOOLS,
        client: ModelClient | None = None,
    ) -> None:
        self.folder = folder
        self.answer = answer or self.run_for_real
        self.tools = schemas(*tools)
        self.client = client or demo_client(folder, tokens_per_s=0)
        self.messages: list[Message] = []
        self.calls: list[ToolCall] = []

    async def type(self, prompt: str) -> str:
        """Send a prompt and run the turn to its end; return everything that was said."""
        self.messages.append(Message(role=Role.USER, content=prompt))
        said = []
        for _ in range(10):
            completion = await self.next()
            said.append(completion.text)
            if not completion.tool_calls:
                return "\n".join(said)
            for call in completion.tool_calls:
                self.calls.append(call)
                self.messages.append(Message(role=Role.TOOL, tool_call_id=call.id, content=self.answer(call)))
        raise AssertionError("the scene does not end")

    async def next(self) -> Completion:
        chunks = [each async for each in self.client.stream(self.messages, self.tools, cancel=CancelToken())]
        last = chunks[-1]
        assert isinstance(last, Completion)
        self.messages.append(Message(role=Role.ASSISTANT, content=last.text, tool_calls=last.tool_calls))
        return last

    def commands(self) -> list[str]:
        return [json.loads(call.arguments)["command"] for call in self.calls if call.name == "terminal"]

    def run_for_real(self, call: ToolCall) -> str:
        """Do what the tool would do, in the demo folder; the slow and the root command only seem to run."""
        arguments = json.loads(call.arguments)
        match call.name:
            case "terminal" if "sleep" in arguments["command"] or "sudo" in arguments["command"]:
                return json.dumps({"output": "root", "exit_code": 0})
            case "terminal":
                command = arguments["command"].replace("python3", sys.executable)
                done = subprocess.run(
                    ["bash", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=30
                )
                return json.dumps({"output": done.stdout + done.stderr, "exit_code": done.returncode})
            case "read_file":
                return json.dumps({"content": (self.folder / arguments["path"]).read_text()})
            case "patch":
                path = self.folder / arguments["path"]
                text = path.read_text()
                if arguments["old_string"] not in text:
                    return json.dumps({"error": "old_string was not found"})
                path.write_text(text.replace(arguments["old_string"], arguments["new_string"]))
                return json.dumps({"diff": "..."})
            case "clarify":
                return json.dumps({"user_response": arguments["choices"][0]})
        return json.dumps({"ok": True})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepare_demo_folder(tmp_path / "demo")


async def test_the_tour_plays_every_scene_and_ends(folder: Path) -> None:
    talk = Conversation(folder, tools=(*TOOLS, "delegate_task"))
    said = [await talk.type("hello, what can you do?")]
    said += [await talk.type("next") for _ in SCENES[1:]]
    assert "not an AI" in said[0]
    assert str(folder) in said[0]
    for scene, following, text in zip(SCENES, SCENES[1:], said, strict=False):
        assert f"**Next:** {following.shows}" in text, scene.name
    assert "last scene" in said[-1]
    assert {call.name for call in talk.calls} == {*TOOLS, "delegate_task"}
    assert all(not text.startswith(said[0][:20]) for text in said[1:])
    assert "last scene" not in await talk.type("next")


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_each_scene_is_played_by_name_and_again(scene: Any, folder: Path) -> None:
    talk = Conversation(folder, tools=(*TOOLS, "delegate_task"))
    first = await talk.type(f"Please show me {scene.name}!")
    count = len(talk.calls)
    again = await talk.type("again")
    assert "script, not an AI, so I cannot" not in first + again
    assert (len(talk.calls) > count) == bool(scene.tool)
    following = SCENES[SCENES.index(scene) + 1 :]
    assert (f"**Next:** {following[0].shows}" if following else "last scene") in again


async def test_help_lists_every_scene(folder: Path) -> None:
    talk = Conversation(folder)
    text = await talk.type("help")
    assert all(f"`{scene.name}`" in text for scene in SCENES)
    assert "not an AI" in await talk.type("tour")


async def test_what_it_cannot_understand_it_says_as_a_script(folder: Path) -> None:
    talk = Conversation(folder)
    await talk.type("markdown")
    assert "I am a script, not an AI" in await talk.type("Write me a compiler for a new language in Rust")
    assert "**Next:**" in await talk.type("next")


async def test_three_reads_come_in_one_answer(folder: Path) -> None:
    talk = Conversation(folder)
    await talk.type("reads")
    assert len(talk.messages[1].tool_calls) == 3


async def test_the_edit_mends_the_bug_and_takes_it_back(folder: Path) -> None:
    talk = Conversation(folder)
    assert "The tests pass" in await talk.type("edit")
    assert FIX in (folder / "stats.py").read_text()
    assert "The tests fail" in await talk.type("again")
    assert FIX not in (folder / "stats.py").read_text()
    assert BUG in (folder / "stats.py").read_text()


async def test_an_edit_of_what_it_cannot_see_finds_its_way(folder: Path) -> None:
    talk = Conversation(folder)
    await talk.type("edit")
    hidden = json.dumps({"unchanged": True, "message": "as you read it before"})
    talk.answer = lambda call: hidden if call.name == "read_file" else talk.run_for_real(call)
    assert "The tests fail" in await talk.type("again")


async def test_the_destructive_scene_deletes_only_what_it_may(folder: Path) -> None:
    talk = Conversation(folder)
    assert "You allowed it" in await talk.type("destructive")
    assert not (folder / "build").exists()
    await talk.type("again")
    assert not (folder / "build").exists()
    assert talk.commands().count("rm -rf build") == 2
    assert (folder / "stats.py").exists()


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("denied", "You said no"),
        ("blocked", "A rule blocked"),
        ("no_answer", "Nobody answered"),
        ("nobody", "Nobody is there"),
        ("interrupted", "interrupted"),
        ("timed_out", "out of time"),
        ("failed", "failed"),
    ],
)
async def test_every_refusal_is_told_apart_and_accepted(status: str, words: str, folder: Path) -> None:
    for scene in SCENES:
        if not scene.tool:
            continue
        talk = Conversation(folder, tools=(*TOOLS, "delegate_task"), answer=lambda call: refused(status))
        said = await talk.type(scene.name)
        assert words in said, scene.name
        # The edit tries the way back once, where its text was not found; nothing else is tried again.
        assert len(talk.calls) <= (3 if scene.name in ("reads", "destructive") else 1), scene.name


async def test_a_denied_deletion_is_not_tried_another_way(folder: Path) -> None:
    talk = Conversation(folder)
    talk.answer = lambda call: refused("denied") if "rm" in call.arguments else talk.run_for_real(call)
    assert "takes no for an answer" in await talk.type("destructive")
    assert talk.commands() == ["ls build", "rm -rf build"]


async def test_a_word_with_a_denial_is_heard(folder: Path) -> None:
    denial = refused(
        "denied", 'The person denied this call; it did not run. The person says: "not that one" Do not ...'
    )
    assert "“not that one”" in await Conversation(folder, lambda call: denial).type("sudo")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"user_response": "all day"}, "You answered “all day”"),
        ({"user_response": None, "status": "timed_out"}, "in time"),
        ({"user_response": None, "status": "nobody"}, "Nobody is there"),
        ({"user_response": None, "status": "closed"}, "You closed"),
    ],
)
async def test_answers_to_the_question(reply: dict[str, Any], words: str, folder: Path) -> None:
    assert words in await Conversation(folder, lambda call: json.dumps(reply)).type("question")


async def test_without_sudo_it_says_so(folder: Path) -> None:
    missing = json.dumps({"output": "bash: sudo: command not found", "exit_code": 127})
    assert "no sudo on this machine" in await Conversation(folder, lambda call: missing).type("sudo")


@pytest.mark.parametrize("scene", [scene for scene in SCENES if scene.tool], ids=lambda scene: scene.name)
async def test_a_missing_tool_is_told(scene: Any, folder: Path) -> None:
    talk = Conversation(folder, tools=())
    said = await talk.type(scene.name)
    assert f"needs the tool `{scene.tool}`" in said
    assert talk.calls == []


async def test_steering_is_acknowledged_and_the_scene_goes_on(folder: Path) -> None:
    talk = Conversation(folder)
    talk.messages.append(Message(role=Role.USER, content="long"))
    call = (await talk.next()).tool_calls[0]
    talk.messages.append(Message(role=Role.TOOL, tool_call_id=call.id, content='{"output": "", "exit_code": 0}'))
    talk.messages.append(Message(role=Role.USER, content="please hurry up a bit"))
    said = (await talk.next()).text
    assert "“please hurry up a bit”" in said
    assert "ran to its end" in said


async def test_after_an_interrupt_a_prompt_is_a_prompt(folder: Path) -> None:
    talk = Conversation(folder)
    talk.messages.append(Message(role=Role.USER, content="long"))
    call = (await talk.next()).tool_calls[0]
    talk.messages.append(Message(role=Role.TOOL, tool_call_id=call.id, content=refused("interrupted")))
    assert "You said no" not in await talk.type("sudo")
    assert talk.commands()[-1] == "sudo id -un"


async def test_children_play_their_part(folder: Path) -> None:
    child = Conversation(folder)
    said = await child.type(f"{CHILD_MARK} count the lines of the Python files.\nPlayed by the demo script.")
    assert child.commands() == ["wc -l *.py"]
    assert "stats.py" in said


async def test_the_stream_has_pieces_and_counts(folder: Path) -> None:
    talk = Conversation(folder)
    talk.messages.append(Message(role=Role.USER, content="reads"))
    chunks = [each async for each in talk.client.stream(talk.messages, talk.tools, cancel=CancelToken())]
    assert sum(isinstance(each, TextChunk) for each in chunks) > 10
    assert sum(isinstance(each, CallChunk) for each in chunks) > 6
    assert isinstance(chunks[-1], Completion)
    assert chunks[-1].usage.input_tokens > 0
    assert not chunks[-1].usage_estimated


async def test_the_pace_is_that_of_a_model(folder: Path) -> None:
    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    talk = Conversation(folder, client=demo_client(folder, tokens_per_s=50, sleep=nap))
    await talk.type("markdown")
    assert set(naps) == {0.02}
    assert 150 < len(naps) < 500


async def test_the_tour_takes_about_two_minutes(folder: Path) -> None:
    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    talk = Conversation(folder, tools=(*TOOLS, "delegate_task"), client=demo_client(folder, sleep=nap))
    for prompt in ["tour", *["next"] * (len(SCENES) - 1)]:
        await talk.type(prompt)
    assert 8 < sum(naps) < 60  # the rest are the person's pauses and the ten seconds of the long command


async def test_it_is_cancelled_like_any_model(folder: Path) -> None:
    cancel = CancelToken()
    stream = demo_client(folder, tokens_per_s=0.1).stream([Message(role=Role.USER, content="hi")], [], cancel=cancel)
    await anext(stream)
    asyncio.get_running_loop().call_later(0.02, cancel.cancel, "stop")
    start = time.monotonic()
    with pytest.raises(Cancelled, match="stop"):
        await anext(stream)
    assert time.monotonic() - start < 1


def test_the_folder_is_a_project_with_a_failing_test(folder: Path) -> None:
    run = subprocess.run([sys.executable, "report.py"], cwd=folder, capture_output=True, text=True, check=True)
    assert "46 boats" in run.stdout
    tests = subprocess.run([sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, text=True)
    assert "test_average_of_nothing" in tests.stderr
    assert tests.returncode == 1
    (folder / "stats.py").write_text("broken")
    prepare_demo_folder(folder)
    assert BUG in (folder / "stats.py").read_text()
