"""Keys: checked with one real request, and stored in .env, readable by nobody else."""

import asyncio
import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_tui.models.catalog import Provider, normal_base_url
from hermes_tui.models.errors import from_connection, shown
from hermes_tui.models.http import http_client
from hermes_tui.models.secret import Secret
from hermes_tui.models.spec import ModelSpec

if TYPE_CHECKING:
    import httpx2

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class KeyCheck:
    ok: bool
    message: str
    """For the person."""


async def check_key(provider: Provider, key: str, base_url: str | None = None, *, timeout_s: float = 10.0) -> KeyCheck:
    """Ask the provider whether it takes this key. Nothing is stored."""
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        return KeyCheck(False, "This is no key: it is empty, or holds spaces or signs that no key has. Paste it again.")
    address = normal_base_url(base_url or provider.base_url)
    if address is None:
        return KeyCheck(False, f"{base_url!r} is not an address. Write it as https://host:port/v1.")
    headers = {provider.key_header: key} if provider.key_header else {"Authorization": f"Bearer {key}"}
    spec = ModelSpec(
        id="", provider=provider.name, provider_label=provider.label, base_url=address, api_key=Secret(key)
    )
    ready = await asyncio.to_thread(http_client, local=spec.local)  # loads the SDK, where that was not done yet
    import httpx2

    try:
        async with ready as client:
            url, headers = f"{address}/{provider.check_path}", {**headers, **provider.check_headers}
            answer = await client.get(url, headers=headers, timeout=timeout_s)
    except httpx2.RequestError as error:
        failure = from_connection(error, spec, begun=False)
        return KeyCheck(False, f"The key could not be checked, so it was not kept: {failure.message}")
    return _judged(answer, provider, spec)


def _judged(answer: "httpx2.Response", provider: Provider, spec: ModelSpec) -> KeyCheck:
    status = answer.status_code
    if status == 200:
        return KeyCheck(True, f"{provider.label} takes this key.")
    if status in (401, 403) or (status == 400 and "key" in answer.text.lower()):  # xAI answers 400
        where = f" Get one at {provider.keys_page}." if provider.keys_page else ""
        return KeyCheck(False, f"{provider.label} refused this key ({status}).{where}")
    if status == 404:
        return KeyCheck(True, f"{spec.host} answers, but has no way to check a key: the first message will tell.")
    if status == 429:
        return KeyCheck(True, f"{provider.label} knows this key, but its limit is used up for now.")
    said = shown(answer.text, spec, limit=120)
    return KeyCheck(False, f"The key could not be checked: {provider.label} answered {status}: {said} Try again later.")


def store_key(env_path: Path, variable: str, key: str) -> None:
    """Write ``variable=key`` into the .env file; everything else in it stays as it is.

    The file is replaced as a whole, so it is never half written, and has mode 0600 from its first byte. A link is
    followed. Raises ValueError for a name or key that cannot stand in such a file, OSError where it cannot be written.
    """
    key = key.strip()
    if not _NAME.fullmatch(variable):
        raise ValueError(f"{variable!r} is no name of a variable")
    if not key or not key.isprintable():
        raise ValueError("the key is empty or holds control characters")
    path = env_path.resolve()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    old = path.read_bytes() if path.exists() else b""
    descriptor, temporary = tempfile.mkstemp(prefix=".env.", dir=path.parent)  # mkstemp makes it 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_with_assignment(old, variable, key))
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


def _with_assignment(old: bytes, variable: str, key: str) -> bytes:
    """Replace the first assignment of the variable and drop later ones, which would win over it; else append."""
    line = f"{variable}={_quoted(key)}".encode()
    pattern = re.compile(
        rb"^[ \t]*(?:export[ \t]+)?" + variable.encode() + rb"[ \t]*=[ \t]*"
        rb"(?:\"(?:[^\"\\]|\\.)*\"[^\n]*|'[^']*'[^\n]*|[^\n]*)\n?",
        re.MULTILINE | re.DOTALL,
    )
    found = pattern.search(old)
    if found is None:
        ending = b"\r\n" if b"\r\n" in old else b"\n"
        return old + (b"" if not old or old.endswith(b"\n") else ending) + line + ending
    match = found[0]
    ending = b"\r\n" if match.endswith(b"\r\n") else b"\n"
    return old[: found.start()] + line + ending + pattern.sub(b"", old[found.end() :])


def _quoted(key: str) -> str:
    if _PLAIN.fullmatch(key):
        return key
    if "'" not in key:
        return f"'{key}'"
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
