"""What commands do to files: each touch of a path becomes an effect, and what they leave is remembered."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Protocol

from hermes_tui.safety.scopes import Located, is_secret_name
from hermes_tui.safety.shell.state import FileNode, State
from hermes_tui.safety.shell.values import (
    FETCHED,
    OUTPUT,
    SECRET,
    STAR,
    deactivate,
    has_glob,
    is_literal,
    is_unknown,
    matches,
    shown,
)
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.facts import FileFacts
    from hermes_tui.safety.scopes import Geography
    from hermes_tui.safety.shell.expand import Expander
    from hermes_tui.safety.shell.machine import Input

PATH_MAX = 4096
"""Longer paths open nothing on Linux (limits.h)."""

_GRAVITY = {
    scope: rank
    for rank, scope in enumerate(
        (
            Scope.NONE,
            Scope.TEMP,
            Scope.WORKSPACE,
            Scope.CONTAINER,
            Scope.HOME,
            Scope.CONTROL,
            Scope.UNKNOWN,
            Scope.REMOTE,
            Scope.STARTUP,
            Scope.SECRET,
            Scope.SYSTEM,
            Scope.OWN,
            Scope.DEVICE,
            Scope.ROOT,
        )
    )
}
_WHERE = {
    Scope.TEMP: "a temporary file",
    Scope.HOME: "outside the workspace",
    Scope.SYSTEM: "a system path",
    Scope.STARTUP: "a file that runs by itself",
    Scope.CONTROL: "a file that runs by itself or steers the project",
    Scope.OWN: "a setting of hermes-tui itself",
    Scope.SECRET: "a place of credentials",
}


_SECRETS_BELOW = (".config", ".local", ".local/share", "Library", ".cache")
"""Folders of home that are no secret themselves, but hold secrets."""


def graver(first: Scope, second: Scope) -> Scope:
    return first if _GRAVITY[first] >= _GRAVITY[second] else second


class _Adds(Protocol):
    def __call__(
        self,
        verb: Verb,
        text: str,
        target: str = "",
        scope: Scope = Scope.NONE,
        *,
        reversible: bool | None = None,
        certain: bool = True,
    ) -> None: ...


class Files:
    """The part of the machine that touches files."""

    geography: Geography
    facts: FileFacts
    state: State
    expander: Expander
    add: _Adds

    # -- where --------------------------------------------------------------------------------------------------------

    def folder(self) -> str:
        return self.expander.variable("PWD")

    def locate(self, text: str, *, follow: bool = True) -> Located:
        """Work out a path as the present place sees it."""
        place, geography = self.state.place, self.geography
        if len(text) > PATH_MAX:
            return Located(text[:PATH_MAX], Scope.UNKNOWN)
        folder = self.folder()
        path = geography.proc_alias(geography.absolute(text, folder), folder)
        if place.root:
            path = geography.proc_alias(geography.absolute(place.root + path, "/"), folder)
        if place.kind == "remote":
            scope = geography.scope(path)
            return Located(
                path, scope if scope in (Scope.ROOT, Scope.DEVICE, Scope.UNKNOWN, Scope.NONE) else Scope.REMOTE
            )
        if place.kind == "container":
            return self._locate_in_container(path)
        scope = geography.scope(path)
        if scope is Scope.UNKNOWN:
            return Located(path, scope)
        real = geography.real(path, self.state, follow=follow or text.endswith("/"))
        if real != path:
            scope = graver(scope, geography.scope(real))
        return Located(real, scope, self.state.node(real) or self.state.node(path))

    def _locate_in_container(self, path: str) -> Located:
        place, geography = self.state.place, self.geography
        scope = Scope.CONTAINER
        for inside, outside in place.mounts:
            if path == inside or path.startswith(inside.rstrip("/") + "/"):
                host = geography.absolute(outside + path[len(inside.rstrip("/")) :], "/")
                real = geography.real(host, self.state, follow=True)
                return Located(real, graver(geography.scope(host), geography.scope(real)))
            if inside.startswith(path.rstrip("/").rstrip(STAR).rstrip("/") + "/") or path.strip("/" + STAR) == "":
                scope = graver(scope, geography.scope(geography.absolute(outside, "/")))
        if place.devices and path.startswith("/dev/"):
            scope = geography.scope(path)
        elif path.startswith("/dev/") and geography.scope(path) is Scope.NONE:
            scope = Scope.NONE
        elif scope is Scope.ROOT and not place.mounts:
            scope = Scope.CONTAINER
        return Located(path, scope, self.state.node(path))

    def name(self, text: str) -> str:
        """Return a path as a person wants to read it."""
        text = shown(text)
        home = self.geography.home
        for folder, short in ((self.geography.workspace, "."), (home, "~")):
            if text == folder:
                return folder if short == "." else "~"
            if text.startswith(folder + "/"):
                return text[len(folder) + 1 :] if short == "." else "~" + text[len(folder) :]
        return text.removeprefix("./") or text or "''"

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, text: str, *, recursive: bool = False) -> Located:
        """A program reads the file (or, recursively, the folder)."""
        located = self.locate(text)
        scope = located.scope
        if scope is Scope.SECRET:
            self.add(Verb.SECRET, f"Reads credentials: {self.name(text)}", located.path, scope)
        elif scope is Scope.DEVICE:
            self.add(Verb.SECRET, f"Reads the device {self.name(text)}", located.path, scope)
        elif recursive and located.path in (f"{self.geography.home}/{name}" for name in _SECRETS_BELOW):
            self.add(Verb.SECRET, f"Reads everything in {self.name(text)}, credentials too", located.path, Scope.SECRET)
        elif scope is Scope.ROOT and recursive:
            self.add(Verb.SECRET, f"Reads everything in {self.name(text)}, credentials too", located.path, scope)
        elif (
            not is_literal(located.path)
            and scope in (Scope.SYSTEM, Scope.HOME, Scope.ROOT)
            and self._may_be_secret(located.path)
        ):
            self.add(
                Verb.SECRET,
                f"Reads whatever {self.name(text)} matches, which may be credentials",
                located.path,
                Scope.SECRET,
            )
        return located

    def _may_be_secret(self, path: str) -> bool:
        folder, name = posixpath.split(path)
        home = self.geography.home
        if folder == home:
            return name.startswith(".") and has_glob(name)
        return is_secret_name(deactivate(name).lstrip("\ufdd0\ufdd1")) and (has_glob(path) or is_unknown(path))

    def read_input(self, text: str, stdin: Input | None) -> Input:
        """Return what a program would read from the file: its text where the command made it, marks otherwise."""
        from hermes_tui.safety.shell.machine import Input

        if text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"):
            return stdin if stdin is not None else Input(OUTPUT)
        if text == "/dev/null":
            return Input("")
        located = self.read(text)
        if located.scope is Scope.REMOTE and text.startswith("/dev/"):
            self.add(Verb.NET_SEND, f"Opens a connection to {shown(text[9:])}", shown(text), Scope.REMOTE)
            return Input(FETCHED)
        return Input(self.text_of(located), located.path)

    def text_of(self, located: Located) -> str:
        node = located.node
        if node is not None:
            if node.fetched:
                return FETCHED
            if node.kind == "link" and node.target:
                return self.text_of(self.locate(node.target))
            if node.text is not None:
                return node.text
        if located.scope is Scope.SECRET or is_secret_name(located.path):
            return SECRET
        return OUTPUT

    # -- writing ------------------------------------------------------------------------------------------------------

    def write(self, text: str, *, append: bool = False, edit: bool = False, into: bool = False) -> Located:
        """A program writes the file. ``edit`` keeps most of it; ``into`` means files below the folder."""
        located = self.locate(text)
        scope, name = located.scope, self.name(text)
        if scope is Scope.NONE:
            return located
        if scope is Scope.REMOTE and self.state.place.kind == "local":
            self.add(Verb.NET_SEND, f"Opens a connection to {shown(text[9:])}", shown(text), scope)
            return located
        if scope is Scope.DEVICE:
            self.add(Verb.DEVICE, f"Writes to the device {name}", located.path, scope)
            return located
        if scope is Scope.ROOT:  # a file cannot take the place of a folder; files below it are what is meant
            scope = Scope.HOME if located.path.startswith(self.geography.home) else Scope.SYSTEM
        where = f" ({_WHERE[scope]})" if scope in _WHERE else ""
        exists = self._exists(located)
        fresh = located.node is not None and located.node.fresh
        undone = True if fresh or (located.literal and self.facts.created_this_session(located.path)) else None
        if append:
            self.add(Verb.APPEND, f"Appends to {name}{where}", located.path, scope, reversible=undone)
        elif edit:
            self.add(Verb.EDIT, f"Edits {name} in place{where}", located.path, scope, reversible=undone)
        elif into:
            self.add(Verb.CREATE, f"Writes files into {name}{where}", located.path, scope, reversible=undone)
        elif exists:
            self.add(Verb.OVERWRITE, f"Overwrites {name}{where}", located.path, scope, reversible=undone)
        else:
            self.add(Verb.CREATE, f"Creates {name}{where}", located.path, scope, reversible=True)
        if located.literal and not into:
            self.remember(located.path, fresh=fresh or not exists)
        return located

    def _exists(self, located: Located) -> bool:
        """Return whether writing the file would lose something."""
        node = located.node
        if node is not None and (node.fresh or node.kind == "gone"):
            return False
        if located.scope is Scope.UNKNOWN or self.state.place.kind != "local":
            return True
        if not located.literal:
            folder, name = posixpath.split(located.path)
            known = is_literal(folder) and not is_unknown(name)
            return known and any(matches(each, name) for each in self.facts.glob(folder))
        return self.facts.exists(located.path) and self.facts.size(located.path) != 0

    def remember(
        self,
        path: str,
        *,
        text: str | None = None,
        fresh: bool = True,
        fetched: bool = False,
        kind: str = "file",
        target: str = "",
    ) -> None:
        self.state.files[path] = FileNode(kind, text, fetched, target, fresh)

    def keep_text(self, path_text: str, text: str, *, append: bool) -> None:
        """Remember what a redirection left in a file."""
        located = self.locate(path_text)
        node = self.state.files.get(located.path)
        if node is None or node.kind != "file":
            return
        if append:
            text = (node.text if node.text is not None else "" if node.fresh else OUTPUT) + text
        node.text = text
        node.fetched = FETCHED in text

    # -- deleting, moving ---------------------------------------------------------------------------------------------

    def delete(self, text: str, *, recursive: bool = False, says: str = "Deletes") -> None:
        located = self.locate(text, follow=False)
        scope, node = located.scope, located.node
        folder_text = text.rstrip("/")
        if folder_text.endswith(("/..", "/.")) or folder_text in ("..", "."):
            located = self.locate(text)
            scope = located.scope
        if scope is Scope.NONE and located.path.startswith("/dev/"):
            scope = Scope.SYSTEM
        if scope is Scope.ROOT and not recursive and not has_glob(located.path):
            scope = Scope.SYSTEM
        if node is not None and node.fresh and scope in (Scope.WORKSPACE, Scope.TEMP, Scope.CONTROL):
            self.remember(located.path, kind="gone", fresh=True)
            return
        where = f" ({_WHERE[scope]})" if scope in _WHERE and scope is not Scope.TEMP else ""
        undone = True if located.literal and self.facts.created_this_session(located.path) else None
        name = "an unknown path" if text and not shown(text).strip("…/ ") else self.name(text)
        self.add(Verb.DELETE, f"{says} {name}{where}", located.path, scope, reversible=undone)
        if located.literal:
            self.remember(located.path, kind="gone", fresh=False)

    def move(self, source: str, target: str, *, into: bool) -> None:
        """Move or rename: lost is what stood at the target, and the source's place where it leaves the project."""
        located = self.locate(source, follow=False)
        end = posixpath.join(target, posixpath.basename(source.rstrip("/"))) if into else target
        goal = self.locate(end)
        inside = (Scope.WORKSPACE, Scope.TEMP)
        if located.scope is Scope.ROOT:
            self.add(Verb.DELETE, f"Moves {self.name(source)} away", located.path, Scope.ROOT)
        elif (
            located.scope not in inside
            or (goal.scope not in inside)
            or (located.scope is Scope.WORKSPACE and goal.scope is Scope.TEMP)
        ):
            scope = graver(located.scope, goal.scope)
            self.add(Verb.MOVE, f"Moves {self.name(source)} to {self.name(end)}", located.path, scope)
        else:
            self.add(
                Verb.MOVE,
                f"Moves {self.name(source)} to {self.name(end)}",
                located.path,
                located.scope,
                reversible=True,
            )
        if target.rstrip("/") == "/dev/null":
            self.add(Verb.DELETE, f"Moves {self.name(source)} into nothing", located.path, located.scope)
        elif has_glob(source) and not into and not self.facts.is_dir(goal.path):
            self.add(Verb.OVERWRITE, f"Moves several files onto {self.name(target)}", goal.path, goal.scope)
        else:
            node = located.node
            self.write(end)
            if goal.literal and node is not None:
                self.remember(
                    goal.path,
                    text=node.text,
                    fetched=node.fetched,
                    kind=node.kind,
                    target=node.target,
                    fresh=node.fresh,
                )
            elif goal.literal:
                self.remember(goal.path, kind="moved", fresh=False)
        if located.literal:
            self.remember(located.path, kind="gone", fresh=True)

    def is_folder(self, text: str) -> bool:
        located = self.locate(text)
        if located.node is not None:
            return located.node.kind == "dir"
        if text.endswith("/") or located.path in self.geography.roots:
            return True
        return located.literal and self.state.place.kind == "local" and self.facts.is_dir(located.path)

    def permissions(self, text: str, *, says: str, recursive: bool) -> None:
        located = self.locate(text)
        scope = located.scope
        if scope is Scope.ROOT and not recursive:
            scope = Scope.HOME if located.path == self.geography.home else Scope.SYSTEM
        self.add(Verb.PERMISSIONS, f"{says} {self.name(text)}", located.path, scope)
