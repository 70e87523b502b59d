"""The scenes of the demo: what the script says and calls, step by step, and how it takes what comes back."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from hermes_tui.models.demo_folder import BUG, FIX
from hermes_tui.models.demo_turn import Call, Result, Say, Turn


@dataclass(frozen=True, slots=True)
class Scene:
    name: str
    shows: str
    """What there is to see, for the list of scenes."""
    play: Callable[[Turn], Say]
    tool: str = ""
    """The tool without which the scene cannot be played."""
    aliases: tuple[str, ...] = ()


CHILD_MARK = "Demo task:"
"""Begins the goals that the script gives to child agents, which are played by the same script."""

_NOT_DONE = {
    "denied": "You said no, so nothing was run.",
    "blocked": "A rule blocked the call, so nothing was run; nobody was asked.",
    "no_answer": "Nobody answered in time. That counts as no, so nothing was run.",
    "nobody": "Nobody is there to be asked. That counts as no, so nothing was run.",
    "interrupted": "The call was interrupted before it was done.",
    "timed_out": "The call ran out of time and was ended.",
}


def _not_done(result: Result) -> str:
    """Tell how a call ended that is not done."""
    if result.status in _NOT_DONE:
        said = re.search(r'says: "(.+?)"', str(result.data.get("error")))
        return f"{_NOT_DONE[result.status]}{f' You added: “{said[1]}”.' if said else ''}"
    code = result.data.get("exit_code")
    why = f"with exit code {code}" if code else f"with this: {str(result.data.get('error', result.text))[:200]}"
    return f"The call failed, {why}"


def _terminal(command: str) -> Call:
    return Call("terminal", {"command": command})


# -- the scenes -------------------------------------------------------------------------------------------------------


def _markdown(turn: Turn) -> Say:
    return Say(
        "## Text as it arrives\n\n"
        "A model's answer is **Markdown**, drawn while it streams. You can scroll up, select or fold meanwhile; the "
        "view stays where you put it.\n\n"
        "| key | does |\n| --- | --- |\n| `Enter` | send, or fold a panel |\n| `Ctrl+J` | start a new line |\n"
        "| `Esc` | back out one level |\n| `Ctrl+C` | interrupt |\n\n"
        "Code is highlighted once its block is closed:\n\n"
        '```python\ndef greet(name: str) -> str:\n    return f"Hello, {name}!"\n\n\nprint(greet("you"))\n```\n\n'
        "1. Lists keep their numbers,\n2. and may hold `code` or *emphasis*.\n   - Inner items are indented.\n\n"
        f"> Everything here came from a script, at the pace of a model.\n\n{turn.ended}",
        reasoning="Models that reason before they answer show it in a block like this one, folded when it is done.",
    )


def _reads(turn: Turn) -> Say:
    if turn.step == 0:
        calls = tuple(Call("read_file", {"path": name}) for name in ("README.md", "stats.py", "report.py"))
        return Say("Three files are read **side by side**; each call has a panel and a clock of its own.", calls)
    lost = [result for result in turn.results if not result.done]
    if lost:
        return Say(f"{len(turn.results) - len(lost)} of 3 were read. {_not_done(lost[0])}\n\n{turn.ended}")
    return Say(
        "All three came back, in the order they were asked for. Stand on a panel and press `Enter` to unfold it, or "
        f"`o` to open the whole text.\n\n{turn.ended}"
    )


def _edit(turn: Turn) -> Say:
    result = turn.result
    match turn.step, result.call.tool:
        case 0, _:
            return Say("One of the tests fails. First a look at the function:", (_read_stats(),))
        case 1, _:
            if not result.done:
                return Say(f"{_not_done(result)} Without it there is no edit.\n\n{turn.ended}")
            if FIX.strip() in result.text:
                return Say("You have seen this one: the bug is mended. Here is the way back.", (_change(FIX, BUG),))
            return Say("`average` divides by nothing when the list is empty. The mend:", (_change(BUG, FIX),))
        case 2, _ if not result.done and result.status == "failed" and result.call.arguments.get("old_string") == BUG:
            return Say("That line is not there any more, so it was mended before. The way back:", (_change(FIX, BUG),))
        case _, "patch" if result.done:
            return Say("The panel shows the change as a diff. Now the tests:", (_terminal("python3 -m unittest -q"),))
        case _, "patch":
            return Say(f"{_not_done(result)} The file is as it was.\n\n{turn.ended}")
    if result.done:
        return Say(f"The tests pass.\n\n{turn.ended}")
    if result.status == "failed":
        return Say(
            "The tests fail: a failing command is marked by word, sign and colour, with its exit code. `again` turns "
            f"the edit round.\n\n{turn.ended}"
        )
    return Say(f"{_not_done(result)}\n\n{turn.ended}")


def _read_stats() -> Call:
    return Call("read_file", {"path": "stats.py"})


def _change(old: str, new: str) -> Call:
    return Call("patch", {"mode": "replace", "path": "stats.py", "old_string": old, "new_string": new})


_LONG_COMMAND = (
    "for n in $(seq 1 24); do printf '\\033[32m[%2d/24]\\033[0m building part %02d of the harbour\\n' $n $n; "
    "sleep 0.4; done; printf '\\033[1mdone\\033[0m\\n'"
)


def _long(turn: Turn) -> Say:
    if turn.step == 0:
        return Say(
            "A command of ten seconds. Its output is **live**; press `Ctrl+C` to interrupt it, or type something to "
            "steer: it is delivered when the command is done.",
            (_terminal(_LONG_COMMAND),),
        )
    if turn.result.done:
        return Say(f"It ran to its end. `again` gives you another chance to interrupt it.\n\n{turn.ended}")
    return Say(f"{_not_done(turn.result)} What it had printed is kept in its panel.\n\n{turn.ended}")


_REMOVE = "rm -rf build"


def _destructive(turn: Turn) -> Say:
    result = turn.result
    command = result.call.arguments.get("command", "")
    if turn.step == 0:
        return Say("The folder `build` can be made again, so it may go. First: is it there?", (_terminal("ls build"),))
    if command == _REMOVE or turn.step > 2:
        if result.done:
            return Say(f"You allowed it, and the folder is gone. The rest of the project is untouched.\n\n{turn.ended}")
        return Say(f"{_not_done(result)} The script takes no for an answer and tries nothing else.\n\n{turn.ended}")
    if result.status not in ("done", "failed"):
        return Say(f"{_not_done(result)}\n\n{turn.ended}")
    if not result.done and turn.step == 1:
        return Say(
            "It was deleted before, so here is a new one.", (_terminal("mkdir -p build && touch build/report.o"),)
        )
    return Say(
        "Deleting is asked about first: you see the very command and why it is risky. Nothing runs until you decide; "
        "`Enter` alone never allows.",
        (_terminal(_REMOVE),),
    )


def _sudo(turn: Turn) -> Say:
    if turn.step == 0:
        return Say(
            "A command as root (it only prints who it runs as). If sudo wants a password, a dialog asks for it; the "
            "password goes to sudo and nowhere else: no log, no session, no model. Leave it empty to go on without.",
            (_terminal("sudo id -un"),),
        )
    result = turn.result
    if result.done:
        return Say(f"It ran as `{result.output[:40]}`. (No dialog? Then sudo needs no password here.)\n\n{turn.ended}")
    if "not found" in result.output:
        return Say(f"There is no sudo on this machine, so there was nothing to ask.\n\n{turn.ended}")
    return Say(f"It did not run as root, and that is fine. {_not_done(result)}\n\n{turn.ended}")


_PLAN = ("Count the lines of the project", "List its functions", "Tell the result")


def _todo(turn: Turn) -> Say:
    lost = next((result for result in turn.results if not result.done), None)
    if lost is not None:
        return Say(f"{_not_done(lost)} The list stays as it is.\n\n{turn.ended}")
    match turn.step:
        case 0:
            return Say("Longer work gets a todo list; it stands in the right sidebar.", (_plan(0),))
        case 1:
            return Say("First item.", (_terminal("wc -l *.py"),))
        case 2:
            return Say("Ticked.", (_plan(1),))
        case 3:
            return Say("Second item.", (_terminal("grep -n '^def ' *.py"),))
        case 4:
            return Say("", (_plan(3),))
    return Say(f"Three items, three ticks.\n\n{turn.ended}")


def _plan(done: int) -> Call:
    states = ["completed" if at < done else "in_progress" if at == done else "pending" for at in range(len(_PLAN))]
    items = zip(_PLAN, states, strict=True)
    todos = [{"id": str(at), "content": text, "status": state} for at, (text, state) in enumerate(items, 1)]
    return Call("todo", {"todos": todos})


def _subagents(turn: Turn) -> Say:
    if turn.step == 0:
        goals = ("count the lines of the Python files", "list the functions of the Python files")
        tasks = [{"goal": f"{CHILD_MARK} {goal}.", "context": "Played by the demo script."} for goal in goals]
        text = "Two child agents share the work. Each has a conversation of its own; the right sidebar shows them live."
        return Say(text, (Call("delegate_task", {"tasks": tasks}),))
    if turn.result.done:
        return Say(f"Both are back, and only their summaries came into this conversation.\n\n{turn.ended}")
    return Say(f"{_not_done(turn.result)}\n\n{turn.ended}")


def play_child(turn: Turn, goal: str) -> Say:
    """The part of a child agent."""
    if turn.step == 0:
        command = "wc -l *.py" if "lines" in goal else "grep -n '^def ' *.py"
        return Say("", (_terminal(command),)) if "terminal" in turn.tools else Say("No terminal here: nothing done.")
    result = turn.result
    return Say(f"Found:\n\n```\n{result.output[:600]}\n```" if result.done else _not_done(result))


def _question(turn: Turn) -> Say:
    if turn.step == 0:
        choices = ["In the terminal, all day", "Now and then", "Just looking"]
        call = Call("clarify", {"question": "How would you use a program like this?", "choices": choices})
        return Say("A model may ask you something. Pick an answer or type your own.", (call,))
    result = turn.result
    if not result.done:
        return Say(f"{_not_done(result)} A model would go on with its best guess.\n\n{turn.ended}")
    answer = result.data.get("user_response")
    if answer is None:
        reasons = {"timed_out": "Nobody answered in time.", "nobody": "Nobody is there to answer."}
        why = reasons.get(str(result.data.get("status")), "You closed the question.")
        return Say(f"{why} A model would go on with its best guess.\n\n{turn.ended}")
    return Say(f"You answered “{str(answer)[:200]}”. A model would go on from there.\n\n{turn.ended}")


SCENES = (
    Scene("markdown", "a streamed answer with a table, code and lists", _markdown, aliases=("table", "text")),
    Scene("reads", "three files read side by side", _reads, "read_file", ("read", "parallel")),
    Scene("edit", "an edit with its diff, and the tests", _edit, "patch", ("patch", "diff", "fix")),
    Scene("long", "a long command with live output, to interrupt", _long, "terminal", ("live", "output", "slow")),
    Scene("destructive", "a deletion that you must approve", _destructive, "terminal", ("approval", "delete", "rm")),
    Scene("sudo", "a command that wants to be root", _sudo, "terminal", ("root", "password")),
    Scene("todo", "a todo list being ticked off", _todo, "todo", ("todos", "plan")),
    Scene("subagents", "two child agents at work", _subagents, "delegate_task", ("subagent", "delegate", "children")),
    Scene("question", "a question to you", _question, "clarify", ("clarify", "ask")),
)
