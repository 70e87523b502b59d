"""What of a message is searched, and how text is matched and quoted."""

import re

from hermes_tui.protocol.messages import Message, Role

INDEXED_CHARS = 16_000
INDEXED_RESULT_CHARS = 4_000
"""Of a longer message or tool result the index holds the beginning and the end. Results are large and rarely searched
for; indexing all of them would make every step of the agent wait."""

_CJK = "\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
_HAS_CJK = re.compile(f"[{_CJK}]")
_RUNS = re.compile(f"[{_CJK}]+|[^{_CJK}]+")
_TERMS = re.compile(r'"([^"]*)"|(\S+)')


def searchable(message: Message) -> str:
    """Return the text that the index holds: content and tool calls of a message; nothing of a system prompt."""
    if message.role is Role.SYSTEM:
        return ""
    text = message.content
    if message.tool_calls:
        text = "\n".join([text, *(f"{call.name} {call.arguments}" for call in message.tool_calls)])
    limit = INDEXED_RESULT_CHARS if message.role is Role.TOOL else INDEXED_CHARS
    if len(text) > limit:
        text = f"{text[: limit // 2]}\n{text[-limit // 2 :]}"
    return clean(text)


def clean(text: str) -> str:
    """Return the text without lone surrogates, which neither SQLite nor UTF-8 can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def one_line(text: str) -> str:
    """Return the text cleaned, with every run of white space as one space."""
    return " ".join(clean(text).split())


def has_cjk(text: str) -> bool:
    """Whether the text holds Chinese, Japanese or Korean, whose words are not all divided by spaces."""
    return _HAS_CJK.search(text) is not None


def terms_of(query: str) -> list[str]:
    """Return the words and quoted phrases of a query, cut where CJK and other text meet."""
    terms = [quoted or word for quoted, word in _TERMS.findall(query)]
    return [run.strip() for term in terms for run in _RUNS.findall(term) if re.search(r"\w", run)]


def fts_phrase(term: str) -> str:
    """Return the term as a phrase of FTS5 in which nothing is an operator."""
    return '"' + clean(term).replace('"', " ").replace("\0", " ") + '"'


def like_pattern(text: str) -> str:
    r"""Return a pattern for ``LIKE ... ESCAPE '\'`` that finds the text anywhere."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", clean(text)) + "%"
