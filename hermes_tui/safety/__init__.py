"""What a command would do, and whether a person must be asked.

``judge`` reads a shell command, works out its effects without running anything, and gives a verdict. The package knows
nothing of screens or agents and can stand alone.
"""

from hermes_tui.safety.facts import EnvironmentFacts, FileFacts, ListedFacts, LocalFacts, facts_of
from hermes_tui.safety.judge import classify, judge
from hermes_tui.safety.redact import Redactor, redact
from hermes_tui.safety.rules import Rules
from hermes_tui.safety.tools import judge_tool
from hermes_tui.safety.verdict import Decision, Effect, Rule, RuleAction, RuleSource, Scope, Verb, Verdict

__all__ = [
    "Decision",
    "Effect",
    "EnvironmentFacts",
    "FileFacts",
    "ListedFacts",
    "LocalFacts",
    "Redactor",
    "Rule",
    "RuleAction",
    "RuleSource",
    "Rules",
    "Scope",
    "Verb",
    "Verdict",
    "classify",
    "facts_of",
    "judge",
    "judge_tool",
    "redact",
]
