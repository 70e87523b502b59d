"""Text that would steer later sessions: instructions planted in memory, skills, project files or schedules.

What is read into every prompt must not come from whoever wrote a web page or a file. This finds the usual wordings and
tricks (OWASP LLM01, prompt injection); it is a net, not a proof, so that what passes is still only data.
"""

import re
import unicodedata

_HIDDEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_JOINERS = "\u200d\u200c\ufe0f"
"""Emoji and some scripts need these between letters."""

_RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (reason, re.compile(pattern))
    for reason, pattern in (
        (
            "it tells the reader to ignore instructions",
            r"\b(ignore|disregard|forget|override|bypass)\b.{0,30}\b(previous|prior|above|earlier|preceding|system|all|any|"
            r"your)\b.{0,20}\b(instructions?|prompts?|rules?|guidelines?|directives?|messages?|restrictions?)\b",
        ),
        (
            "it tells the reader to ignore instructions",
            r"忽略.{0,8}(之前|以上|上面|所有|先前).{0,8}(指令|指示|说明|规则|提示)|"
            r"\bignorier\w* .{0,20}(vorherig|bisherig|obig|alle)\w* .{0,12}(anweisung|regel|instruktion)|"
            r"\bignora .{0,20}(anterior|previ|todas)\w* .{0,12}(instruccion|istruzion|regla)|"
            r"\bignore[rz]? .{0,20}(précédent|toutes)\w* .{0,12}(instruction|consigne|règle)|"
            r"игнорируй.{0,20}(предыдущ|все).{0,12}(инструкц|правил)",
        ),
        ("it tells the reader to be somebody else", r"\byou are now (an? |in |the )?\w+ (mode|assistant|ai|model)\b"),
        (
            "it pretends to be another part of the conversation",
            r"</?(system|assistant|developer|tool_result)>|"
            r"<\|(im_start|im_end|system|endoftext)\|>|\[/?inst\]|^#+ ?system( prompt| message)?:?$",
        ),
        (
            "it asks to hide something from the person",
            r"\b(do not|don't|never|without)\b.{0,12}\b(tell|inform|mention|notify|reveal)(ing)?\b.{0,30}"
            r"\b(user|person|human|owner|operator)\b",
        ),
        (
            "it asks to get around approvals",
            r"\b(bypass|disable|turn off|skip|evade|circumvent|switch off)\b.{0,20}\b(approvals?|approval gate|safety|"
            r"sandbox|guardrails?|confirmation|permissions?) ?(checks?|gates?|prompts?|modes?)?\b",
        ),
        (
            "it sends secrets away",
            r"\b(curl|wget|nc|netcat|exfiltrate)\b.{0,120}(\$\{?\w*(key|token|secret|passw)\w*|"
            r"\.env\b|id_(rsa|ed25519)|/etc/(passwd|shadow)|\.aws/credentials|\.ssh/)",
        ),
        (
            "it sends secrets away",
            r"\b(cat|read|open|collect|print)\b.{0,60}(\.env\b|id_(rsa|ed25519)|/etc/shadow|\.aws/credentials).{0,120}"
            r"\b(curl|wget|send|post|upload|https?://)",
        ),
    )
)

_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(sk|pk|rk)[-_](live|test|ant|or|proj)?[-_]?[A-Za-z0-9_-]{20,}|"
    r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{18,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|"
    r"\bAIza[\w-]{35}|\bhf_[A-Za-z0-9]{30,}|\bnpm_[A-Za-z0-9]{36}|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}|"
    r"(?i:\b(password|passwort|passwd|secret|api[_ -]?key|token)\b\s*(is|=|:)\s*"
    r"[\"'`]?(?=\S*[0-9!@#$%^&*])[^\s\"'`]{8,})|"
    r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]{4,}@"
)


def find_injection(text: str) -> str:
    """Return why ``text`` looks like planted instructions; empty where it does not."""
    if hidden := [char for char in _HIDDEN.findall(text) if char not in _JOINERS]:
        return f"it holds invisible characters (U+{ord(hidden[0]):04X})"
    plain = _HIDDEN.sub("", unicodedata.normalize("NFKC", text)).casefold()
    joined = re.sub(r"[ \t]*\n[ \t]*", " ", plain)
    for reason, rule in _RULES:
        if rule.search(joined) or any(rule.search(line.strip()) for line in plain.split("\n")):
            return reason
    return ""


def find_secret(text: str) -> str:
    """Return the first characters of what looks like a key or password in ``text``; empty where nothing does."""
    match = _SECRETS.search(text)
    return f"{match[0][:6]}…" if match else ""
