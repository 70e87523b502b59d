"""Finding and loading stored sessions, and the title of new ones. Blocks on the disk: call it from a pool thread."""

from dataclasses import dataclass
from pathlib import Path

from hermes_tui.protocol.events import AnyEvent
from hermes_tui.protocol.messages import Message
from hermes_tui.store.records import SessionSummary
from hermes_tui.store.sessions import SessionStore

TITLE_CHARS = 60


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as it was kept."""

    summary: SessionSummary
    folder_is_there: bool
    messages: list[Message]
    """History of the root agent, with a result for every tool call."""
    events: list[AnyEvent]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The session to open: None begins a new one. ``notice`` is for the person."""

    session_id: str | None
    notice: str = ""


def find_wanted(store: SessionStore, resume: str, latest_in: str | None) -> Wanted:
    """Return the session that a person means by an id, the beginning of one, or a title; or the latest of a folder."""
    if resume:
        found = store.find(resume)
        if not found:
            return Wanted(None, f"There is no session {resume!r}.")
        if len(found) > 1:
            names = ", ".join(f"{one.id} ({one.label})" for one in found[:5])
            return Wanted(found[0].id, f"{resume!r} may be any of {names}; the newest was opened.")
        return Wanted(found[0].id)
    if latest_in is not None:
        latest = store.latest(latest_in)
        if latest is None:
            return Wanted(None, "There is no earlier session in this folder.")
        return Wanted(latest.id)
    return Wanted(None)


def load_session(store: SessionStore, session_id: str) -> StoredSession:
    """Return a stored session, claimed for this program and mended where a crash left it open.

    Raises LookupError where there is none or another program has it open, StoreError where it cannot be read. The
    text is for the person.
    """
    if store.get(session_id) is None:
        raise LookupError(f"There is no session {session_id}.")
    if not store.claim(session_id):
        raise LookupError(f"The session {session_id} is open in another window; nothing was changed in it.")
    store.repair(session_id)
    summary = store.get(session_id)
    if summary is None:
        raise LookupError(f"The session {session_id} was deleted a moment ago.")
    there = Path(summary.folder).is_dir()
    return StoredSession(summary, there, store.messages(session_id), store.events(session_id))


def title_of(text: str) -> str:
    """Return a title for a session that begins with this prompt: its first line, cut at a word."""
    line = " ".join(text.strip().splitlines()[0].split()) if text.strip() else ""
    if len(line) <= TITLE_CHARS:
        return line
    return line[: TITLE_CHARS + 1].rpartition(" ")[0][:TITLE_CHARS] or line[:TITLE_CHARS]
