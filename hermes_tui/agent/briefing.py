"""What a session's agent is told beyond its role: memories and skills; and what background processes have to say."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hermes_tui.backends.processes import NoticeKind, ProcessNotice
from hermes_tui.paths import Paths
from hermes_tui.store.memory import MemoryStore
from hermes_tui.store.skills import SkillLibrary
from hermes_tui.tools.memory_tool import memory_prompt
from hermes_tui.tools.registry import ToolEntry
from hermes_tui.tools.skills_tool import skills_prompt

NOTICE_CHARS = 2_000
"""How much output a process notice brings to the model."""


def briefing(paths: Paths, workspace: Path, skill_folders: Sequence[str], toolsets: Iterable[str]) -> tuple[str, ...]:
    """Return the extra parts of the system prompt. Blocks on the disk.

    Read once per session, so that the prompt stays the same and the provider's cache of it holds.
    """
    offered = set(toolsets)
    parts = []
    if "memory" in offered:
        parts.append(memory_prompt(MemoryStore(paths.memories)))
    if "skills" in offered:
        parts.append(
            skills_prompt(SkillLibrary.standard(paths.skills, workspace, [Path(one) for one in skill_folders]))
        )
    return tuple(part for part in parts if part)


def lend_variables(entries: Iterable[ToolEntry], environ: Mapping[str, str]) -> None:
    """Put the keys that tools name in ``requires_env`` where their authors look for them: into this process.

    They come from .env, whose names every backend keeps from its commands.
    """
    for name in {name for entry in entries for name in entry.requires_env}:
        if environ.get(name) and not os.environ.get(name):
            os.environ[name] = environ[name]


def process_news(notice: ProcessNotice) -> str:
    """Return the message to the model about a background process."""
    info = notice.info
    what = f"Background process {info.id} (`{info.command[:200]}`)"
    if notice.kind is NoticeKind.FINISHED:
        head = f"{what} ended with exit code {info.exit_code}."
    else:
        head = f"{what} wrote a line that was watched for."
    text = notice.text.strip()[-NOTICE_CHARS:]
    return f"[{head}{' Its output:' if text else ''}]" + (f"\n{text}" if text else "")
