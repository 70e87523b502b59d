"""Secrets out of everything that is shown, logged, stored or sent: known formats, and values known to be secret.

The formats are those the issuers publish for secret scanning; a match keeps its first characters, so that a person can
tell which key it was. Each format has a literal that must be in the text: a search for a literal costs next to nothing,
and only the formats whose literal is there are matched. Repetitions are bounded, so that no text makes it slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

MARK = "[redacted]"
MIN_KNOWN = 6
"""Known values shorter than this are left: they would black out ordinary words."""

_LONG = 2000
_W = "[A-Za-z0-9_-]"
_KEYS: tuple[tuple[str, str], ...] = (
    ("sk-", rf"sk-(?:ant-|or-v1-|proj-|svcacct-|admin-|lf-)?{_W}{{16,300}}"),
    ("_live_", r"[srp]k_live_[A-Za-z0-9]{10,200}"),
    ("_test_", r"[srp]k_test_[A-Za-z0-9]{10,200}"),
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{16,200}"),
    ("gh", r"gh[pousr]_[A-Za-z0-9]{20,255}"),
    ("github_pat_", r"github_pat_\w{22,255}"),
    ("gl", rf"gl(?:pat|ptt|dt|rt|cbt|oas|ft|imt|agent|soat|ffct|rtr)-{_W}{{16,200}}"),
    ("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,300}"),
    ("xapp-", r"xapp-\d-[A-Za-z0-9-]{10,300}"),
    ("AKIA", r"AKIA[A-Z2-7]{16}"),
    ("ASIA", r"ASIA[A-Z2-7]{16}"),
    ("AIza", rf"AIza{_W}{{35}}"),
    ("ya29.", rf"ya29\.{_W}{{20,500}}"),
    ("GOCSPX-", rf"GOCSPX-{_W}{{20,100}}"),
    ("hf_", r"hf_[A-Za-z0-9]{20,100}"),
    ("npm_", r"npm_[A-Za-z0-9]{30,100}"),
    ("pypi-AgE", rf"pypi-AgE{_W}{{40,500}}"),
    ("rubygems_", r"rubygems_[a-f0-9]{40,100}"),
    ("CLOJARS_", r"CLOJARS_[a-z0-9]{50,100}"),
    ("dckr_pat_", rf"dckr_pat_{_W}{{20,100}}"),
    ("_v1_", r"do[por]_v1_[a-f0-9]{40,100}"),
    ("SG.", rf"SG\.{_W}{{16,100}}\.{_W}{{20,100}}"),
    ("key-", r"key-[a-f0-9]{32}"),
    ("shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("sq0", rf"sq0(?:atp|csp)-{_W}{{20,100}}"),
    ("ATATT3", r"ATATT3[A-Za-z0-9_=-]{30,400}"),
    ("lin_api_", r"lin_api_[A-Za-z0-9]{30,100}"),
    ("ntn_", r"ntn_[A-Za-z0-9]{30,100}"),
    ("dapi", r"dapi[a-f0-9]{32}"),
    ("figd_", rf"figd_{_W}{{30,100}}"),
    ("PMAK-", r"PMAK-[a-f0-9]{20,40}-[a-f0-9]{30,60}"),
    ("pul-", r"pul-[a-f0-9]{40}"),
    ("hv", rf"hv[sbr]\.{_W}{{20,300}}"),
    ("glsa_", r"glsa_[A-Za-z0-9]{30,100}_[a-f0-9]{8}"),
    ("NRAK-", r"NRAK-[A-Z0-9]{27}"),
    ("sntry", r"sntry[su]_[A-Za-z0-9_=/+-]{30,400}"),
    ("AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,100}"),
    ("r8_", r"r8_[A-Za-z0-9]{30,100}"),
    ("gsk_", r"gsk_[A-Za-z0-9]{40,100}"),
    ("xai-", r"xai-[A-Za-z0-9]{40,200}"),
    ("tvly-", r"tvly-[A-Za-z0-9-]{20,100}"),
    ("fc-", r"fc-[a-f0-9]{32}"),
    ("nvapi-", rf"nvapi-{_W}{{40,200}}"),
    ("pplx-", r"pplx-[A-Za-z0-9]{40,100}"),
    ("sess-", r"sess-[A-Za-z0-9]{30,100}"),
    (":AA", rf"\d{{8,10}}:AA{_W}{{33}}"),
    ("eyJ", rf"eyJ{_W}{{10,4000}}\.eyJ{_W}{{10,8000}}\.{_W}{{5,2000}}"),
)

_SECRET_WORD = (
    r"api_?-?key|secret(?:_?-?(?:key|access_?-?key))?|access_?-?(?:key|token)|auth_?-?token|private_?-?key|encryption_?-?key|"
    r"session_?-?key|account_?key|shared_?access_?(?:key|signature)|signing_?key|master_?key|passw(?:or)?d|passphrase|pwd|"
    r"credentials?|token|database_?url|connection_?string"
)
_NAMED = re.compile(
    rf"(?i:(?P<head>(?:{_SECRET_WORD})(?:_\d{{1,3}})?['\"]?[ \t]{{0,8}}(?::=|=>|=|:)[ \t]{{0,8}}))"
    r"(?P<quote>['\"]?)(?P<value>[^\s'\",;&){}\[\]<>$]{6,2000})"
)
_WORDS = ("key", "secret", "token", "passw", "pwd", "passphrase", "credential", "signature", "database", "connection")
_PLAIN_VALUE = re.compile(
    r"(?i)true|false|null|none|undefined|required|optional|redacted|string|boolean|example|changeme|placeholder|your[-_].*|"
    r"x{3,}.*|\*+|\.{3,}.*|\d+|password|passwd|secret|token|"
    r"(?:os|process|env|settings|config|self|cfg|args|secrets|vars|data|request|response|params|options|this|props|ctx|state|"
    r"user|row|result|record|item|obj|form|session)(?:\.|\[|$).*|[a-z_][\w.]*\(.*|[a-z_]\w*(?:\.[a-z_]\w*)+|/[\w./-]+"
)
_ENV_LINE = re.compile(
    r"(?m)^(?P<head>[ \t]*(?:export[ \t]+)?[A-Z][A-Z0-9_]{0,60}?"
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|DSN|PAT)(?:_[A-Z0-9]{1,20})?=)"
    r"(?P<quote>['\"]?)(?P<value>[^\r\n'\"]{3,4000})"
)
_AUTH = re.compile(
    r"(?i:(?P<head>authorization['\"]?[ \t]{0,4}[:=][ \t]{0,4}['\"]?"
    r"(?:(?:bearer|basic|token|digest|apikey)[ \t]{1,4})?))"
    r"(?P<value>[A-Za-z0-9._~+/=-]{8,4000})"
)
_BEARER = re.compile(r"(?P<head>[Bb](?:earer|EARER)[ \t]{1,4})(?P<value>[A-Za-z0-9._~+/=-]{16,4000})")
_COOKIE = re.compile(r"(?i:(?P<head>cookie['\"]?:[ \t]{0,4}))(?P<value>[^\r\n'\"]{8,8000})")
_URL = re.compile(r"(?P<head>://[^\s:/@'\"]{0,100}:)(?P<value>[^\s/@'\"]{3,200})@")
_USER = re.compile(r"(?P<head>(?:(?<=\s)-u|--(?:proxy-)?user)[ =]['\"]?[^\s:'\"]{1,100}:)(?P<value>[^\s'\"]{3,200})")
_HOOK = re.compile(
    r"(?P<head>https://(?:hooks\.slack\.com/(?:services|workflows)|(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks|"
    r"[\w-]{1,60}\.webhook\.office\.com)/)(?P<value>[A-Za-z0-9_/@-]{8,500})"
)
_PEM = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----(?:(?!-----BEGIN ).){0,20000}?"
    r"(?:-----END (?P=kind)-----|(?=-----BEGIN )|\Z)",
    re.DOTALL,
)


def _kept(value: str) -> str:
    """Return what of a key may be seen: enough to tell it from others, never enough to use it."""
    return value[:4] + MARK if len(value) >= 16 else MARK


def _key(match: re.Match[str]) -> str:
    return _kept(match.group())


def _headed(match: re.Match[str]) -> str:
    if match["value"].startswith(MARK):
        return match.group()
    start = match.start()
    return match.group()[: match.start("value") - start] + MARK + match.group()[match.end("value") - start :]


def _named(match: re.Match[str]) -> str:
    value = match["value"]
    if MARK in value or _PLAIN_VALUE.fullmatch(value):
        return match.group()
    return f"{match['head']}{match['quote']}{_kept(value)}"


def _env(match: re.Match[str]) -> str:
    value = match["value"].strip()
    if value.startswith("$") or MARK in value or re.fullmatch(r"(?i)true|false|\d{1,5}|changeme|your[-_].*", value):
        return match.group()
    return f"{match['head']}{match['quote']}{_kept(value)}"


def _pem(match: re.Match[str]) -> str:
    return f"-----BEGIN {match['kind']}-----\n{MARK}"


_Step = tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]]


@lru_cache(maxsize=1)
def _steps() -> tuple[_Step, ...]:
    """Compile the formats on first use: a program that only judges a command needs none of them."""
    return (
        ("PRIVATE KEY", _PEM, _pem),
        *((literal, re.compile(rf"(?<![A-Za-z0-9]){pattern}"), _key) for literal, pattern in _KEYS),
        ("https://", _HOOK, _headed),
        ("://", _URL, _headed),
    )


_STEPS_FOLDED: tuple[_Step, ...] = (
    ("authorization", _AUTH, _headed),
    ("bearer ", _BEARER, _headed),
    ("cookie", _COOKIE, _headed),
    ("-u", _USER, _headed),
)


def _by_lines(text: str, words: list[str]) -> str:
    """Look for named values only in the lines that hold one of the words: most lines of a log do not."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        folded = line.lower()
        if any(word in folded for word in words):
            lines[number] = _NAMED.sub(_named, line)
    return "\n".join(lines)


def redact(text: str) -> str:
    """Return ``text`` with credentials of known formats replaced. Text without any is returned as the same object."""
    for literal, pattern, replace in _steps():
        if literal in text:
            text = pattern.sub(replace, text)
    folded = text.lower()
    for literal, pattern, replace in _STEPS_FOLDED:
        if literal in folded:
            text = pattern.sub(replace, text)
    if "=" in text or ":" in text:
        present = [word for word in _WORDS if word in folded]
        if present:
            text = _by_lines(text, present) if len(text) > _LONG else _NAMED.sub(_named, text)
        text = _ENV_LINE.sub(_env, text) if "=" in text else text
    return text


class Redactor:
    """Redacts known values as well: the sudo password, keys of ``.env``. Holds them in memory only."""

    __slots__ = ("_pattern", "enabled")

    def __init__(self, extra_values: Iterable[str] = (), *, enabled: bool = True) -> None:
        self.enabled = enabled
        self._pattern: re.Pattern[str] | None = None
        self.know(extra_values)

    def know(self, values: Iterable[str]) -> None:
        """Replace the known values; longer ones win over those they contain."""
        kept = sorted({value for value in values if len(value) >= MIN_KNOWN}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, kept))) if kept else None

    def __call__(self, text: str) -> str:
        """Return the text without secrets; known values go even when the switch is off."""
        if self._pattern is not None:
            text = self._pattern.sub(MARK, text)
        return redact(text) if self.enabled else text

    def __repr__(self) -> str:
        return f"Redactor(enabled={self.enabled})"


_SECRET_VARIABLE = re.compile(r"(?:KEY|TOKEN|SECRET|PASSW(?:OR)?D|PASS|PWD|CREDENTIALS?|PAT|DSN)(?:_[A-Z0-9]+)?$")


def secrets_of_environment(environ: Iterable[tuple[str, str]]) -> list[str]:
    """Return the values of variables whose names say that they are secret, for ``Redactor``."""
    return [
        value
        for key, value in environ
        if _SECRET_VARIABLE.search(key) and key not in ("PWD", "OLDPWD") and len(value) >= MIN_KNOWN
    ]
