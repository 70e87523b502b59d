"""Following a shell program without running it: control flow, pipelines, functions, redirections.

Every way through the program is walked: what stands in a branch counts as something that may happen. Bounds on depth
and steps make the walk end; reaching one is an effect of its own (``unresolved``), never silence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.environment import judge_variable
from hermes_tui.safety.shell.expand import Expander
from hermes_tui.safety.shell.files import Files
from hermes_tui.safety.shell.nodes import (
    AndOr,
    ArithCommand,
    Assign,
    Case,
    Command,
    Coproc,
    For,
    Function,
    Group,
    If,
    Loop,
    Pipeline,
    ProcSub,
    Quoted,
    Redirect,
    Sequence,
    Simple,
    Test,
)
from hermes_tui.safety.shell.parser import parse
from hermes_tui.safety.shell.state import State
from hermes_tui.safety.shell.values import FETCHED, OUTPUT, UNKNOWN, Choice, is_literal, is_unknown, matches
from hermes_tui.safety.verdict import Effect, Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.facts import FileFacts
    from hermes_tui.safety.scopes import Geography

MAX_STEPS = 300
"""Simple commands that are followed in one judgement."""
MAX_NESTING = 16
"""Texts inside texts (``sh -c``, ``eval``, substitutions)."""
MAX_ITEMS = 64
MAX_LINES = 32
DEADLINE_S = 0.25

_ENDING = frozenset(("exit", "return", "break", "continue"))
_ALWAYS = frozenset(("true", ":", "((1))", "1"))


class Input:
    """Standard input that is read piece by piece; ``text`` may hold marks."""

    __slots__ = ("source", "text")

    def __init__(self, text: str, source: str = "") -> None:
        self.text = text
        self.source = source
        """The file that it comes from, where it is one."""

    def line(self) -> str:
        line, _, self.text = self.text.partition("\n")
        return line


class Machine(Files):
    """One walk through one command. ``run`` fills ``effects``, ``commands`` and ``not_checked``."""

    def __init__(
        self,
        *,
        cwd: str,
        geography: Geography,
        facts: FileFacts,
        call: Callable[[Machine, list[str], Input | None, bool], str],
    ) -> None:
        self.geography = geography
        self.facts = facts
        self.home = geography.home
        self.workspace = geography.workspace
        self.state = State({"PWD": cwd, "OLDPWD": UNKNOWN})
        self.expander = Expander(self)
        self.effects: dict[tuple[Verb, str, str], tuple[Effect, tuple[int, int]]] = {}
        self.commands: list[tuple[str, ...]] = []
        self.not_checked: dict[str, None] = {}
        self.span = (0, 0)
        self.nesting = 0
        self.parallel = 0
        self.callers: list[str] = []
        self.looking: list[str] = []
        """Scripts that are being looked into, outermost first."""
        self.forks: list[int] = []
        self.picks: dict[str, int] | None = None
        self.offered: dict[str, int] = {}
        self.steps = 0
        self.dispatch = call
        self.stopped = False
        self.uncertain = 0
        self.deadline = time.monotonic() + DEADLINE_S

    # -- findings -----------------------------------------------------------------------------------------------------

    def add(
        self,
        verb: Verb,
        text: str,
        target: str = "",
        scope: Scope = Scope.NONE,
        *,
        reversible: bool | None = None,
        certain: bool = True,
    ) -> None:
        """Record an effect, once."""
        if verb is Verb.DOS and self.state.place.kind == "container":
            verb = Verb.KILL  # a container that goes down takes nothing else with it
        key = (verb, target, text)
        if key not in self.effects:
            effect = Effect(verb, target, scope, certain and not self.uncertain, reversible, text)
            self.effects[key] = (effect, self.span)

    def unresolved(self, why: str) -> None:
        self.add(Verb.UNRESOLVED, f"Could not work out what this does: {why}")

    def unchecked(self, what: str) -> None:
        self.not_checked[what] = None

    def step(self) -> bool:
        """Count a step; False once the bounds are reached."""
        self.steps += 1
        if self.stopped:
            return False
        if self.steps > MAX_STEPS or (self.steps & 31 == 0 and time.monotonic() > self.deadline):
            self.stopped = True
            self.unresolved("it is too long to follow to its end")
            return False
        return True

    # -- code ---------------------------------------------------------------------------------------------------------

    def run_text(self, text: str, stdin: Input | None = None, *, want: bool = False, what: str = "the code") -> str:
        """Follow text that becomes code in this very shell (``eval``, ``source``, ``trap``)."""
        if not is_literal(text):
            if FETCHED in text:
                self.add(Verb.EXEC_UNKNOWN, "Runs code that comes over the network", scope=Scope.REMOTE)
            elif is_unknown(text):
                self.add(Verb.EXEC_UNKNOWN, f"Runs {what}, which is made while it runs", scope=Scope.UNKNOWN)
                text = text.translate(_NEUTRAL)
            if FETCHED in text:
                return OUTPUT
        if self.nesting >= MAX_NESTING:
            self.unresolved("code is nested too deeply")
            return OUTPUT
        program = parse(text)
        self.nesting += 1
        out = self.sequence(program.body, stdin, want)
        self.nesting -= 1
        if program.error:
            self.unresolved(program.error)
        return out

    def run_shell(
        self, text: str, stdin: Input | None = None, *, arguments: list[str] | None = None, want: bool = False
    ) -> str:
        """Follow text that becomes code in a shell of its own (``sh -c``); changes to variables stay there."""
        outer = self.state
        self.state = outer.copy()
        if arguments is not None:
            self.state.positional = arguments
        try:
            return self.run_text(text, stdin, want=want, what="shell code")
        finally:
            self.state = outer

    def output_of(self, body: Sequence) -> str:
        """Return what a command substitution yields."""
        if self.nesting >= MAX_NESTING:
            self.unresolved("substitutions are nested too deeply")
            return UNKNOWN
        outer, picks = self.state, self.picks
        self.state, self.picks = outer.copy(), None
        self.nesting += 1
        try:
            return self.sequence(body, None, True)
        finally:
            self.nesting -= 1
            self.state, self.picks = outer, picks

    def process_substitution(self, node: ProcSub) -> str:
        """Return a path that stands for the pipe; what can be read from it is kept as the file's text."""
        if node.body is None:
            return UNKNOWN
        path = f"/dev/fd/{63 - len(self.state.files) % 50}"
        if node.writes:
            outer, self.state = self.state, self.state.copy()
            self.sequence(node.body, Input(OUTPUT), False)
            self.state = outer
        else:
            self.remember(path, text=self.output_of(node.body))
        return path

    def pick(self, name: str, choice: Choice) -> str:
        """Return the value of a variable that may hold one of several, remembering that others are to follow."""
        self.offered[name] = len(choice)
        index = (self.picks or {}).get(name, 0)
        return choice[index] if index < len(choice) else choice[0]

    # -- lists --------------------------------------------------------------------------------------------------------

    def sequence(self, body: Sequence, stdin: Input | None, want: bool) -> str:
        if not want:
            for item in body.items:
                self._and_or(item, stdin, False)
            return ""
        return "".join([self._and_or(item, stdin, True) for item in body.items])

    def _and_or(self, node: AndOr, stdin: Input | None, want: bool) -> str:
        if node.background:
            outer, self.state = self.state, self.state.copy()
            self.parallel += 1
            out = self._chain(node, stdin, want)
            self.parallel -= 1
            self.state = outer
            return out
        return self._chain(node, stdin, want)

    def _chain(self, node: AndOr, stdin: Input | None, want: bool) -> str:
        """Follow ``a && b || c``: the state after it is a choice of what each way left."""
        out = self._pipeline(node.first, stdin, want)
        failed: list[State] = []
        for operator, pipeline in node.rest:
            ends = _ends(pipeline)
            if operator == "&&":
                if self._may_change(pipeline):
                    failed.append(self.state.copy())
                out += self._pipeline(pipeline, stdin, want)
                continue
            if ends or not self._may_change(pipeline):
                out += self._pipeline(pipeline, stdin, want)
                continue
            succeeded = self.state.copy()
            for state in failed:
                self.state.join(state)
            failed = []
            out += self._pipeline(pipeline, stdin, want)
            self.state.join(succeeded)
        for state in failed:
            self.state.join(state)
        return out

    def _may_change(self, pipeline: Pipeline) -> bool:
        """Return whether the pipeline can leave other variables, functions or folders behind."""
        if len(pipeline.commands) != 1:
            return False
        command = pipeline.commands[0]
        if not isinstance(command, Simple) or command.assigns or not command.words:
            return True
        name = command.words[0].literal
        return name is None or name in _STATEFUL or name in self.state.functions or name in self.state.aliases

    def _pipeline(self, node: Pipeline, stdin: Input | None, want: bool) -> str:
        commands = node.commands
        if len(commands) == 1:
            return self.command(commands[0], stdin, want)
        out = ""
        last = len(commands) - 1
        self.parallel += 1
        for index, command in enumerate(commands):
            outer, self.state = self.state, self.state.copy()
            out = self.command(command, stdin if index == 0 else Input(out), want or index < last)
            self.state = outer
        self.parallel -= 1
        return out

    # -- commands -----------------------------------------------------------------------------------------------------

    def command(self, node: Command, stdin: Input | None, want: bool) -> str:
        if isinstance(node, Simple):
            return self._simple(node, stdin, want)
        if isinstance(node, Function):
            self.state.functions[node.name] = (node.body,)
            return ""
        if isinstance(node, Coproc):
            outer, self.state = self.state, self.state.copy()
            self.command(node.body, None, False)
            self.state = outer
            return ""
        if node.redirects:
            stdin, target = self._redirects(node.redirects, stdin)
            out = self._compound(node, stdin, want or target is not None)
            return self._deliver(out, target)
        return self._compound(node, stdin, want)

    def _compound(self, node: Command, stdin: Input | None, want: bool) -> str:
        if isinstance(node, Group):
            if not node.subshell:
                return self.sequence(node.body, stdin, want)
            outer, self.state = self.state, self.state.copy()
            out = self.sequence(node.body, stdin, want)
            self.state = outer
            return out
        if isinstance(node, If):
            return self._if(node, stdin, want)
        if isinstance(node, Loop):
            return self._loop(node, stdin, want)
        if isinstance(node, For):
            return self._for(node, stdin, want)
        if isinstance(node, Case):
            return self._case(node, stdin, want)
        if isinstance(node, Test):
            self._test(node)
        elif isinstance(node, ArithCommand):
            self.expander.arithmetic(node.word)
        return ""

    def _if(self, node: If, stdin: Input | None, want: bool) -> str:
        out = ""
        others: list[State] = []
        self.uncertain += 1
        for condition, body in node.branches:
            out += self.sequence(condition, stdin, want)
            before = self.state.copy()
            out += self.sequence(body, stdin, want)
            others.append(self.state)
            self.state = before
        if node.otherwise is not None:
            out += self.sequence(node.otherwise, stdin, want)
        self.uncertain -= 1
        for state in others:
            self.state.join(state)
        return out

    def _loop(self, node: Loop, stdin: Input | None, want: bool) -> str:
        before = self.state.copy()
        out = ""
        endless = not node.until and _always_true(node.condition)
        if endless and any(item.background for item in node.body.items):
            self.add(Verb.DOS, "Starts processes without end")
        lines = MAX_LINES if stdin is not None and is_literal(stdin.text) and stdin.text else 2
        for turn in range(lines):
            seen = dict(self.state.variables)
            text = stdin.text if stdin is not None else ""
            out += self.sequence(node.condition, stdin, want)
            out += self.sequence(node.body, stdin, want)
            if self.stopped or ((stdin is None or stdin.text == text) and (turn or self.state.variables == seen)):
                break
            if stdin is not None and not stdin.text and turn:
                break
        else:
            if lines == MAX_LINES and stdin is not None and stdin.text:
                self.unresolved("a loop has too many turns")
        self.state.join(before)
        return out

    def _for(self, node: For, stdin: Input | None, want: bool) -> str:
        if node.arithmetic is not None:
            self.expander.arithmetic(node.arithmetic)
            if _endless_for(node) and any(item.background for item in node.body.items):
                self.add(Verb.DOS, "Starts processes without end")
            for name in list(self.state.variables):
                if name in _names_in(node):
                    self.state.variables[name] = UNKNOWN
            return self.sequence(node.body, stdin, want)
        if node.words is None:
            items = [UNKNOWN] if self.state.positional is None else list(self.state.positional)
        else:
            items = self.expander.fields(node.words)
        before = self.state.copy()
        out = ""
        if len(items) > MAX_ITEMS:
            self.unresolved("a loop has too many turns")
            items = items[:MAX_ITEMS]
        if node.select:
            items = [*items, UNKNOWN]
        for item in items:
            self.state.variables[node.name] = item
            out += self.sequence(node.body, stdin, want)
            if self.stopped:
                break
        if not items or len(items) > 1:
            self.state.join(before)
        return out

    def _case(self, node: Case, stdin: Input | None, want: bool) -> str:
        subject = self.expander.value(node.subject)
        known = is_literal(subject)
        before = self.state.copy()
        others: list[State] = []
        out = ""
        for patterns, body in node.arms:
            fits = [self.expander.value(word) for word in patterns]
            if known and not any(matches(subject, each) for each in fits):
                continue
            self.state = before.copy()
            out += self.sequence(body, stdin, want)
            others.append(self.state)
        self.state = before
        for state in others:
            self.state.join(state)
        return out

    def _test(self, node: Test) -> None:
        """``[[ ]]`` expands its words; the arithmetic operators evaluate them once more."""
        values = [self.expander.value(word) for word in node.words]
        for index, value in enumerate(values):
            if value in _NUMERIC_TESTS:
                for operand in values[max(0, index - 1) : index] + values[index + 1 : index + 2]:
                    self.expander.arithmetic_text(operand)
            elif value in ("-v", "-R") and index + 1 < len(values):
                self.expander.arithmetic_text(values[index + 1])

    # -- simple commands ----------------------------------------------------------------------------------------------

    def _simple(self, node: Simple, stdin: Input | None, want: bool) -> str:
        """Follow a command once for each combination of the values that its variables may hold."""
        if not self.step():
            return OUTPUT
        if self.nesting == 0 and not self.callers:
            self.span = (node.start, node.end)
        outer_picks, outer_offered = self.picks, self.offered
        self.picks, self.offered = {}, {}
        out = self._simple_once(node, stdin, want)
        if self.offered:
            for name, count in list(self.offered.items()):
                for index in range(1, count):
                    self.picks = {name: index}
                    self._simple_once(node, stdin, False)
            if len(self.offered) > 1:
                for index in range(1, max(self.offered.values())):
                    self.picks = {name: min(index, count - 1) for name, count in self.offered.items()}
                    self._simple_once(node, stdin, False)
        self.picks, self.offered = outer_picks, outer_offered
        return out

    def _simple_once(self, node: Simple, stdin: Input | None, want: bool) -> str:
        argv = self.expander.fields(node.words)
        target = None
        if node.redirects:
            stdin, target = self._redirects(node.redirects, stdin)
        for assign in node.array_args:
            self.assign(assign)
        if not argv:
            for assign in node.assigns:
                self.assign(assign)
            # "$(< file)" yields the file (bash(1), Command Substitution)
            shows = want and not node.assigns and stdin is not None and len(node.redirects) == 1
            return self._deliver(stdin.text if shows and stdin is not None else "", target)
        if not node.assigns:
            out = self.call(argv, stdin, want or target is not None)
            return self._deliver(out, target)
        saved = {assign.name: self.state.variables.get(assign.name) for assign in node.assigns}
        for assign in node.assigns:
            self.assign(assign, export=True)
        out = self.call(argv, stdin, want or target is not None)
        for name, value in saved.items():
            if value is None:
                self.state.variables.pop(name, None)
            else:
                self.state.variables[name] = value
        return self._deliver(out, target)

    def call(self, argv: list[str], stdin: Input | None = None, want: bool = False) -> str:
        """Follow a command of known words: function, built-in or program. The words before it were its wrappers."""
        return self.dispatch(self, argv, stdin, want)

    def assign(self, node: Assign, *, export: bool = False) -> None:
        """Carry out ``name=value``."""
        variables = self.state.variables
        name = node.name
        if node.array is not None:
            array: dict[str, str] = {}
            for number, value in enumerate(self.expander.fields(node.array)):
                key, equals, rest = value.partition("]=")
                if equals and key[:1] in ("[", "\ufdd6"):
                    array[key[1:]] = rest
                else:
                    array[str(number)] = value
            variables[name] = array
            return
        value = self.expander.value(node.value, assignment=True)
        if node.index is not None:
            index = self.expander.value(node.index)
            self.expander.arithmetic_text(index)
            held = variables.get(name)
            array = dict(held) if isinstance(held, dict) else {}
            array[index] = array.get(index, "") + value if node.append else value
            variables[name] = array
            return
        if node.append:
            value = self.expander.variable(name) + value if name in variables else value
        self.set_variable(name, value, export=export)

    def set_variable(self, name: str, value: str, *, export: bool = False) -> None:
        if export:
            self.state.exported.add(name)
        judge_variable(self, name, value)
        self.state.variables[name] = value

    # -- functions ----------------------------------------------------------------------------------------------------

    def call_function(self, argv: list[str], stdin: Input | None, want: bool) -> str:
        name = argv[0]
        if name in self.callers:
            if self.parallel > self.forks[self.callers.index(name)]:
                self.add(Verb.DOS, "Starts copies of itself without end (a fork bomb)")
            return OUTPUT
        if len(self.callers) > MAX_NESTING:
            self.unresolved("functions are nested too deeply")
            return OUTPUT
        outer = self.state.positional
        self.callers.append(name)
        self.forks.append(self.parallel)
        self.state.positional = argv[1:]
        out = ""
        for body in self.state.functions[name]:
            out = self.command(body, stdin, want)
        self.callers.pop()
        self.forks.pop()
        self.state.positional = outer
        return out

    # -- redirections -------------------------------------------------------------------------------------------------

    def _redirects(self, redirects: list[Redirect], stdin: Input | None) -> tuple[Input | None, str | None]:
        """Follow redirections; returns standard input and where standard output goes (None: on)."""
        target: str | None = None
        for redirect in redirects:
            op, fd = redirect.op, redirect.fd
            if op in ("<<", "<<-"):
                text = self.expander.value(redirect.body)
                stdin = Input(text) if fd in ("", "0") else stdin
                continue
            value = self.expander.value(redirect.target)
            if op == "<<<":
                stdin = Input(value + "\n")
            elif op == "<":
                source = self.read_input(value, stdin)
                stdin = source if fd in ("", "0") else stdin
            elif op == "<&" and value.isdigit() and int(value) > 2:
                stdin = Input(OUTPUT)  # what was opened there is not followed
            elif op == "<&" or (op == ">&" and (value.isdigit() or value in ("-", "") or value.rstrip("-").isdigit())):
                continue
            else:
                self.write(value, append=op in (">>", "&>>", "<>"))
                if fd in ("", "1") or op in ("&>", "&>>", ">&"):
                    target = ("+" if op == ">>" else "=") + value
        return stdin, target

    def _deliver(self, out: str, target: str | None) -> str:
        """Hand on output, or leave it in the file that it was redirected to."""
        if target is None:
            return out
        self.keep_text(target[1:], out, append=target[0] == "+")
        return ""


_NEUTRAL = {ord(mark): "_unknown_" for mark in (UNKNOWN, OUTPUT, "\ufdd3")}
_NUMERIC_TESTS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_STATEFUL = frozenset(
    [
        "cd",
        "pushd",
        "popd",
        "export",
        "declare",
        "typeset",
        "local",
        "readonly",
        "read",
        "mapfile",
        "readarray",
        "eval",
        ".",
        "source",
        "set",
        "shift",
        "unset",
        "alias",
        "unalias",
        "printf",
        "getopts",
        "let",
        "builtin",
        "command",
        "env",
        "exec",
        "trap",
        "shopt",
        "enable",
        "wait",
    ]
)


def _ends(pipeline: Pipeline) -> bool:
    """Return whether what follows is not reached after this (``|| exit 1``)."""
    commands = pipeline.commands
    if len(commands) != 1:
        return False
    command = commands[0]
    if isinstance(command, Group) and not command.subshell and command.body.items:
        return _ends(command.body.items[-1].first)
    return isinstance(command, Simple) and bool(command.words) and command.words[0].literal in _ENDING


def _always_true(condition: Sequence) -> bool:
    if len(condition.items) != 1 or condition.items[0].rest:
        return False
    commands = condition.items[0].first.commands
    if len(commands) != 1:
        return False
    command = commands[0]
    if isinstance(command, ArithCommand):
        return (command.word.literal or "").strip() not in ("", "0")
    return isinstance(command, Simple) and bool(command.words) and command.words[0].literal in _ALWAYS


def _endless_for(node: For) -> bool:
    """Return whether the condition of ``for ((...))`` is empty or a number that is not zero."""
    pieces = (
        "".join(part.text for part in node.arithmetic.parts if isinstance(part, Quoted)).split(";")
        if node.arithmetic
        else []
    )
    return len(pieces) == 3 and (not pieces[1].strip() or (pieces[1].strip().isdigit() and int(pieces[1]) != 0))


def _names_in(node: For) -> set[str]:
    """Return the names that a ``for ((...))`` may change: all of its words."""
    if node.arithmetic is None:
        return set()
    text = "".join(part.text for part in node.arithmetic.parts if hasattr(part, "text"))
    return set("".join(char if char.isalnum() or char == "_" else " " for char in text).split())
