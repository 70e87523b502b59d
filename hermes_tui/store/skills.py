"""Skills: folders with a ``SKILL.md`` (the open Agent Skills format) and the files that belong to it.

A skill is known by its front matter (name, description), which is all that listing reads; its body and files are
loaded when asked for. Folders are searched in order: the person's, the project's, then extra ones that are only read.
"""

import contextlib
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from hermes_tui.store.atomic import replace_file

SKILL_FILE = "SKILL.md"
MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1_024
MAX_BODY_CHARS = 100_000
MAX_FILE_BYTES = 1 << 20
SUBFOLDERS = ("references", "templates", "scripts", "assets")
"""Where the files of a skill may be written."""
DEFAULT_CATEGORY = "general"

_NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_HEAD_BYTES = 16_384
_MAX_DEPTH = 3
_TRASH = ".trash"


class SkillProblem(Exception):
    """The skill cannot be read or changed so. The text says why."""


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """A folder that holds skills."""

    path: Path
    source: str
    """``user``, ``project`` or ``extra``."""
    writable: bool


@dataclass(frozen=True, slots=True)
class SkillInfo:
    """A skill as it is listed."""

    name: str
    description: str
    category: str
    path: Path
    """The skill's folder."""
    folder: SkillFolder
    problem: str = ""
    """What is wrong with its front matter; such a skill is not offered."""


class SkillLibrary:
    """All skills of some folders. Reads the disk anew each time."""

    def __init__(self, folders: Sequence[SkillFolder]) -> None:
        self._folders = tuple(folders)

    @classmethod
    def standard(cls, own: Path, workspace: Path | None = None, extra: Sequence[Path] = ()) -> "SkillLibrary":
        """Return the library of the person's folder, the project's and the read-only extra ones, in this order."""
        folders = [SkillFolder(own, "user", writable=True)]
        if workspace is not None and (workspace / ".hermes" / "skills").resolve() != own.resolve():
            folders.append(SkillFolder(workspace / ".hermes" / "skills", "project", writable=True))
        return cls([*folders, *(SkillFolder(path.expanduser(), "extra", writable=False) for path in extra)])

    def skills(self, category: str = "") -> list[SkillInfo]:
        """Return all skills, or those of a category, sorted by name; of two with one name the first found."""
        found: dict[str, SkillInfo] = {}
        for info in self._all():
            found.setdefault(info.name, info)
        wanted = category.strip().lower()
        chosen = (info for info in found.values() if not wanted or info.category.lower() == wanted)
        return sorted(chosen, key=lambda info: info.name)

    def find(self, name: str) -> SkillInfo:
        """Return the skill called ``name`` (or ``category/name``). Raises SkillProblem, naming near ones."""
        category, _, plain = name.strip().rpartition("/")
        skills = self.skills(category)
        for info in skills:
            if plain in (info.name, info.path.name):
                return info
        known = ", ".join(info.name for info in skills[:20])
        raise SkillProblem(f"There is no skill {name!r}. " + (f"There are: {known}" if known else "There are none yet"))

    def create(self, name: str, content: str, category: str = "") -> SkillInfo:
        """Write a new skill into the person's folder. Raises SkillProblem."""
        checked_name(name)
        category = category.strip().lower() or DEFAULT_CATEGORY
        checked_name(category)
        if any(name in (info.name, info.path.name) for info in self._all()):
            raise SkillProblem(f"There is a skill {name!r} already: edit it instead")
        checked_content(name, content)
        folder = self._folders[0]
        path = folder.path / category / name
        with _plain_errors(path):
            path.mkdir(parents=True)
            replace_file(path / SKILL_FILE, content.encode("utf-8"), mode=0o644)
        return _info(path, folder)

    def delete(self, info: SkillInfo) -> Path:
        """Put a skill away, out of every list; return where it is kept. Raises SkillProblem."""
        writable(info)
        trash = info.folder.path / _TRASH / f"{info.path.name}-{time.strftime('%Y%m%d-%H%M%S')}"
        with _plain_errors(info.path):
            trash.parent.mkdir(exist_ok=True)
            info.path.rename(trash)
        return trash

    def _all(self) -> Iterator[SkillInfo]:
        for folder in self._folders:
            for path in _skill_folders(folder.path, 0):
                yield _info(path, folder)


def writable(info: SkillInfo) -> None:
    """Raise SkillProblem where the skill lies in a folder that is only read."""
    if not info.folder.writable:
        raise SkillProblem(
            f"The skill {info.name} lies in {info.folder.path}, which is only read: copy it to change it"
        )


def skill_file(info: SkillInfo, file_path: str) -> Path:
    """Return the path of a file of the skill. Raises SkillProblem where it would lie outside of it."""
    pure = PurePosixPath(file_path)
    if not file_path.strip() or pure.is_absolute() or ".." in pure.parts or "\0" in file_path:
        raise SkillProblem(f"file_path must be a path inside the skill, such as references/notes.md, not {file_path!r}")
    path = info.path / pure
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(info.path)):
        raise SkillProblem(f"{file_path} leads out of the skill's folder")
    return path


def own_file(info: SkillInfo, file_path: str) -> Path:
    """Return the path of a file beside SKILL.md that may be written or removed. Raises SkillProblem."""
    writable(info)
    path = skill_file(info, file_path)
    parts = PurePosixPath(file_path).parts
    if len(parts) < 2 or parts[0] not in SUBFOLDERS:
        raise SkillProblem(f"files of a skill lie in {', '.join(SUBFOLDERS)}, not at {file_path!r}")
    return path


def read_text(path: Path) -> str:
    """Return the text of a skill's file. Raises SkillProblem where it is missing, too large or no text."""
    with _plain_errors(path):
        if path.is_dir():
            raise SkillProblem(f"{path} is a folder")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise SkillProblem(f"{path} is larger than {MAX_FILE_BYTES:,} bytes")
        data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise SkillProblem(f"{path} is no text in UTF-8") from None


def write_text(path: Path, text: str) -> None:
    """Write a skill's file with its folders. Raises SkillProblem."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise SkillProblem("the text holds half a character (a lone surrogate)") from None
    if len(data) > MAX_FILE_BYTES:
        raise SkillProblem(f"{len(data):,} bytes are too many: a file of a skill has at most {MAX_FILE_BYTES:,}")
    with _plain_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data, mode=0o644)


def remove_file(path: Path) -> None:
    """Remove a skill's file. Raises SkillProblem."""
    with _plain_errors(path):
        path.unlink()


def linked_files(info: SkillInfo) -> list[str]:
    """Return the files that belong to a skill, relative to its folder, without SKILL.md."""
    found = (path for folder in SUBFOLDERS for path in sorted((info.path / folder).rglob("*")) if path.is_file())
    names = (path.relative_to(info.path) for path in found)
    return [str(name) for name in names if not any(part.startswith(".") for part in name.parts)]


def checked_name(name: str) -> str:
    """Return ``name``; raises SkillProblem where it cannot name a skill or category."""
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        raise SkillProblem(
            f"{name!r} cannot be a name: use small letters and digits, joined by '-', '_' or '.', at most "
            f"{MAX_NAME_CHARS} characters"
        )
    return name


def checked_content(name: str, content: str) -> None:
    """Raise SkillProblem where ``content`` is no proper SKILL.md of the skill ``name``."""
    front, body = split_front(content)
    if str(front.get("name", "")) != name:
        raise SkillProblem(f"the front matter must say 'name: {name}'")
    description = front.get("description")
    if not isinstance(description, str) or not description.strip():
        raise SkillProblem("the front matter needs a description: what the skill does and when to use it")
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise SkillProblem(f"the description has {len(description):,} of at most {MAX_DESCRIPTION_CHARS:,} characters")
    if not body.strip():
        raise SkillProblem("there is nothing after the front matter")
    if len(body) > MAX_BODY_CHARS:
        raise SkillProblem(f"the text has {len(body):,} of at most {MAX_BODY_CHARS:,} characters: move parts to files")


def split_front(content: str) -> tuple[dict[str, Any], str]:
    """Return the front matter of a SKILL.md and the text after it. Raises SkillProblem where there is none."""
    match = _FRONT.match(content)
    if match is None:
        raise SkillProblem("it must start with front matter: '---', 'name: ...', 'description: ...', '---'")
    import yaml

    try:
        front = yaml.load(match[1], getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SkillProblem(f"the front matter is no valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(front, dict):
        raise SkillProblem("the front matter must hold 'name: ...' and 'description: ...'")
    return front, content[match.end() :]


def _skill_folders(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the folders below ``folder`` that have a SKILL.md; a skill holds no other ones."""
    try:
        entries = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return
    for entry in entries:
        if (entry / SKILL_FILE).is_file():
            yield entry
        elif depth + 1 < _MAX_DEPTH:
            yield from _skill_folders(entry, depth + 1)


def _info(path: Path, folder: SkillFolder) -> SkillInfo:
    """Return what listing tells of a skill; reads only the head of its SKILL.md."""
    relative = path.relative_to(folder.path)
    category = relative.parts[0] if len(relative.parts) > 1 else DEFAULT_CATEGORY
    try:
        with (path / SKILL_FILE).open("rb") as file:
            front, _body = split_front(file.read(_HEAD_BYTES).decode("utf-8", "replace"))
    except (OSError, SkillProblem) as error:
        return SkillInfo(path.name, "", category, path, folder, problem=str(error))
    name, description = front.get("name") or path.name, front.get("description")
    if not isinstance(name, str) or not isinstance(description, str) or not description.strip():
        return SkillInfo(path.name, "", category, path, folder, problem="the front matter has no description")
    short = " ".join(description.split())[:MAX_DESCRIPTION_CHARS]
    return SkillInfo(name.strip()[:MAX_NAME_CHARS], short, category, path, folder)


@contextlib.contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Turn OSErrors into SkillProblems."""
    try:
        yield
    except FileNotFoundError:
        raise SkillProblem(f"{path} does not exist") from None
    except OSError as error:
        raise SkillProblem(f"{path}: {error.strerror or error}") from None
