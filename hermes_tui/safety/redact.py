"""Secrets out of everything that is shown, logged, stored or sent: known formats, and the values that are known to be secret.

The formats are those the issuers publish for secret scanning; a match keeps its first characters, so that a person can
tell which key it was. Cheap words are looked for first: text without any of them is returned as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MARK = "[redacted]"
MIN_KNOWN = 6
"""Known values shorter than this are left: they would black out ordinary words."""

_HINT = re.compile(
    r"(?i)BEGIN [A-Z ]*PRIVATE KEY|sk-|[prs]k_(?:live|test)|gh[pousr]_|github_pat_|glpat-|gl[a-z]{2,6}-|xox[abeoprs]-|xapp-|A[KS]IA|AIza|ya29\.|eyJ|hf_|npm_|pypi-|dop_v1|"
    r"SG\.|key-|token|secret|passw|pwd|api.?key|authorization|bearer|basic |://|r8_|gsk_|xai-|tvly-|BSA|fc-|dckr_pat|shp[a-z]{2}_|sq0|ATATT|lin_api|"
    r"ntn_|secret_|dapi|figd_|PMAK|rubygems_|CLOJARS|pul-|hvs\.|glsa_|NRAK|sntry|AGE-SECRET|cookie|credential|private.?key|access.?key|hooks\.|discord|bot\d|[0-9]:AA|nvapi|pplx|co_|sess-|rk-|tk-|AccountKey|SharedAccess|-u |--user|otpauth|connection.?string"
)

_FORMATS = re.compile(
    r"(?P<pem>-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z))"
    r"|(?<![A-Za-z0-9])(?P<key>"
    r"sk-(?:ant-|or-v1-|proj-|svcacct-|admin-|lf-)?[A-Za-z0-9_-]{16,}"
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{22,}|gl(?:pat|ptt|dt|rt|cbt|oas|ft|imt|agent|soat|ffct|rtr)-[A-Za-z0-9_.-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"
    r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"
    r"|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[A-Za-z0-9_-]{40,}|rubygems_[a-f0-9]{40,}|CLOJARS_[a-z0-9]{50,}|dckr_pat_[A-Za-z0-9_-]{20,}"
    r"|do[por]_v1_[a-f0-9]{40,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{20,}|key-[a-f0-9]{32}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}"
    r"|EAAA[A-Za-z0-9_-]{50,}|ATATT3[A-Za-z0-9_=-]{30,}|lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{40,}|dapi[a-f0-9]{32}|figd_[A-Za-z0-9_-]{30,}"
    r"|PMAK-[a-f0-9]{20,}-[a-f0-9]{30,}|pul-[a-f0-9]{40}|hv[sbr]\.[A-Za-z0-9_-]{20,}|s\.[A-Za-z0-9]{24}(?![A-Za-z0-9])|glsa_[A-Za-z0-9]{30,}_[a-f0-9]{8}|NRAK-[A-Z0-9]{27}"
    r"|sntry[su]_[A-Za-z0-9_=/+-]{30,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}|r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|tvly-[A-Za-z0-9-]{20,}|BSA[A-Za-z0-9_-]{24,}"
    r"|fc-[a-f0-9]{32}|nvapi-[A-Za-z0-9_-]{40,}|pplx-[A-Za-z0-9]{40,}|sess-[A-Za-z0-9]{30,}|tk-[A-Za-z0-9]{30,}|\d{8,10}:AA[A-Za-z0-9_-]{33}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"
    r"|[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"
    r")"
    r"|(?P<hook>https://(?:hooks\.slack\.com/(?:services|workflows)|(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks|[\w.-]+\.webhook\.office\.com)/)[A-Za-z0-9_/@-]+"
    r"|(?P<url>[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@'\"]*):(?P<urlpass>[^\s/@'\"]{3,})@"
    r"|(?P<auth>(?i:(?:proxy-)?authorization['\"]?\s*[:=]\s*['\"]?(?:bearer|basic|token|digest|apikey|aws4-hmac-sha256)?\s*))(?P<authvalue>[A-Za-z0-9._~+/=-]{8,})"
    r"|(?P<bearer>(?i:\bbearer\s+))(?P<bearervalue>[A-Za-z0-9._~+/=-]{16,})"
    r"|(?P<cookie>(?i:\b(?:set-)?cookie['\"]?:\s*))(?P<cookievalue>[^\r\n'\"]{8,})"
    r"|(?P<curl>(?:(?<=\s)-u|--user|--proxy-user)[ =]['\"]?[^\s:'\"]+):(?P<curlpass>[^\s'\"]{3,})"
    r"|(?P<name>(?i:(?<![A-Za-z0-9])[A-Za-z0-9_.-]{0,60}?(?:api_?-?key|secret(?:_?-?(?:key|access_?-?key))?|access_?-?(?:key|token)|auth_?-?token|client_?-?secret|private_?-?key|refresh_?-?token|"
    r"encryption_?-?key|session_?-?(?:key|token)|account_?key|shared_?access_?(?:key|signature)|passw(?:or)?d|passphrase|passwd|pwd|credentials?|token|webhook_?secret|signing_?key|master_?key|database_?url|connection_?string)"
    r"['\"]?\s*(?:=|:|=>|:=)\s*))(?P<quote>['\"]?)(?P<value>[^\s'\",;&){}\[\]<>$]{6,})",
    re.DOTALL,
)
_PLAIN_VALUE = re.compile(
    r"(?i)true|false|null|none|undefined|required|optional|redacted|string|str|int|bool|boolean|example|changeme|placeholder|your[-_].*|x{3,}.*|\*+|\.{3,}.*|\d{1,5}|"
    r"(?:os|process|env|settings|config|self|cfg|args|secrets|vars|data|request|response|params|options|this|props|ctx|state|user|row|result|record|item|obj|form|session)(?:\.|\[|$).*|"
    r"[a-z_][\w.]*\(.*|\w+\.\w+(?:\.\w+)*\(?|/[\w./-]+|[\w-]+/[\w-]+|password|passwd|secret|token"
)
_ENV_LINE = re.compile(
    r"(?m)^(?P<head>\s*(?:export\s+)?[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|DSN|PAT)(?:_[A-Z0-9]+)?=)(?P<quote>['\"]?)(?P<value>[^\r\n'\"]{3,})"
)


def _kept(value: str) -> str:
    """Return what of a key may be seen: enough to tell it from others, never enough to use it."""
    return value[:4] + MARK if len(value) >= 16 else MARK


def _replace(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if match["pem"] is not None:
        first = match["pem"].partition("\n")[0]
        return first if first == match["pem"] else f"{first[:64]}\n{MARK}"
    if match["key"] is not None:
        return _kept(match["key"])
    if match["hook"] is not None:
        return match["hook"] + MARK
    if match["url"] is not None:
        return f"{match['url']}:{MARK}@"
    for head, value in (("auth", "authvalue"), ("bearer", "bearervalue"), ("cookie", "cookievalue")):
        if match[head] is not None:
            return match[head] + (
                match[value] if match[value].startswith("$") or _PLAIN_VALUE.fullmatch(match[value]) else MARK
            )
    if match["curl"] is not None:
        return f"{match['curl']}:{MARK}"
    del kind
    if match["value"] is not None and not _PLAIN_VALUE.fullmatch(match["value"]):
        return f"{match['name']}{match['quote']}{_kept(match['value'])}"
    return match.group()


def _replace_env(match: re.Match[str]) -> str:
    value = match["value"]
    if (
        value.startswith("$")
        or MARK in value
        or re.fullmatch(r"(?i)true|false|\d{1,5}|changeme|your[-_].*", value.strip())
    ):
        return match.group()
    return f"{match['head']}{match['quote']}{_kept(value.strip())}"


def redact(text: str) -> str:
    """Return ``text`` with credentials of known formats replaced. Text without any is returned as the same object."""
    if _HINT.search(text) is None:
        return text
    return _ENV_LINE.sub(_replace_env, _FORMATS.sub(_replace, text))


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


def secrets_of_environment(environ: Iterable[tuple[str, str]]) -> list[str]:
    """Return the values of variables whose names say that they are secret, for ``Redactor``."""
    name = re.compile(r"(?:KEY|TOKEN|SECRET|PASSW(?:OR)?D|PASS|PWD|CREDENTIALS?|PAT|DSN)(?:_[A-Z0-9]+)?$")
    return [
        value for key, value in environ if name.search(key) and key not in ("PWD", "OLDPWD") and len(value) >= MIN_KNOWN
    ]
