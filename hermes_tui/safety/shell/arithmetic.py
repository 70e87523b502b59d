"""Shell arithmetic on known numbers, for the few places where a value decides what runs."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\s*(?:(\d+)|(\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%()<>!&|^~]))")
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LIMIT = 1 << 63


def calculate(text: str) -> int | None:
    """Return the value of an expression made of numbers and operators, None where it is anything else."""
    if len(text) > 200:
        return None
    tokens: list[str] = []
    pos, text = 0, text.strip()
    while pos < len(text):
        match = _TOKEN.match(text, pos)
        if match is None:
            return None
        tokens.append(match[1] or match[2])
        pos = match.end()
    try:
        value, rest = _level(tokens, 0, 0)
    except (IndexError, ValueError, ZeroDivisionError, RecursionError):
        return None
    return value if rest == len(tokens) and abs(value) < _LIMIT else None


def _level(tokens: list[str], pos: int, level: int) -> tuple[int, int]:
    if level == len(_LEVELS):
        return _unary(tokens, pos)
    left, pos = _level(tokens, pos, level + 1)
    while pos < len(tokens) and tokens[pos] in _LEVELS[level]:
        operator = tokens[pos]
        right, pos = _level(tokens, pos + 1, level + 1)
        left = _apply(operator, left, right)
    return left, pos


def _unary(tokens: list[str], pos: int) -> tuple[int, int]:
    token = tokens[pos]
    if token in "+-!~":
        value, pos = _unary(tokens, pos + 1)
        return {"+": value, "-": -value, "!": int(not value), "~": ~value}[token], pos
    if token == "(":
        value, pos = _level(tokens, pos + 1, 0)
        if tokens[pos] != ")":
            raise ValueError(token)
        return value, pos + 1
    return (int(token, 8) if len(token) > 1 and token[0] == "0" else int(token)), pos + 1


def _apply(operator: str, left: int, right: int) -> int:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%":
            quotient = abs(left) // abs(right) * (1 if left * right >= 0 else -1)
            return quotient if operator == "/" else left - quotient * right
        case "<<" | ">>":
            if not 0 <= right < 64:
                raise ValueError(operator)
            return left << right if operator == "<<" else left >> right
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "&&":
            return int(bool(left and right))
        case "||":
            return int(bool(left or right))
    return int(
        {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right, "==": left == right}.get(
            operator, left != right
        )
    )
