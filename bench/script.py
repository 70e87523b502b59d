"""What the scripted model says in a measurement: one rule per prompt, each answer ending in a mark of its own.

A mark is a word of letters that occur nowhere else, short enough to arrive as one token and to be painted in one go.
"""

import random
from typing import Any

Json = dict[str, Any]

_WORDS = ("the", "parser", "reads", "`tokens`", "and", "returns", "**values**", "of", "each", "function", "called")
_CODE = "\n\n```python\ndef area(width, height):\n    return width * height  # both in cells\n```\n\n"
_LIST = "\n\n- first the *outer* part\n- then the inner one\n- and the [rest](https://example.org)\n\n"
_BLOCK = 65_536


def mark(name: str) -> str:
    """The word that ends the answer to the prompt ``name``."""
    return f"Ֆ{name}Ֆ"


def prose(count: int, seed: int = 1) -> str:
    """Return Markdown of about ``count`` tokens: paragraphs, lists, code."""
    chooser = random.Random(seed)
    parts: list[str] = []
    for number in range(1, count + 1):
        parts.append(chooser.choice(_WORDS) + " ")
        if number % 200 == 150:
            parts.append(_CODE)
        elif number % 150 == 100:
            parts.append(_LIST)
        elif number % 60 == 59:
            parts.append("\n\n")
    return "".join(parts)


def answer(name: str, tokens: int, tokens_per_s: float = 0.0) -> Json:
    """A text answer: paced, or all at once in few writes."""
    pace: Json = {"tokens_per_s": tokens_per_s} if tokens_per_s else {"split": _BLOCK}
    return {"match": rf"{name}\b", "replies": [{"text": f"{prose(tokens)}\n\n{mark(name)}", **pace}]}


def commands(name: str, *batches: list[str]) -> Json:
    """A turn that runs each batch of shell commands in one answer, then ends."""
    replies: list[Json] = [
        {"calls": [{"name": "terminal", "arguments": {"command": command}} for command in batch], "split": _BLOCK}
        for batch in batches
    ]
    return {"match": rf"{name}\b", "replies": [*replies, {"text": mark(name), "split": _BLOCK}]}


def calls(name: str, tool: str, count: int) -> Json:
    """A turn of ``count`` answers with one call of ``tool`` each, without arguments."""
    reply: Json = {"calls": [{"name": tool, "arguments": {}}], "split": _BLOCK}
    return {"match": rf"{name}\b", "replies": [*[reply] * count, {"text": mark(name), "split": _BLOCK}]}
