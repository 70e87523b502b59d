"""The toolset ``file``: read_file, write_file, patch, search_files. What they do is in the modules named like them."""

from hermes_tui.tools.file_patch import patch
from hermes_tui.tools.file_read import DEFAULT_LINES, MAX_LINE_CHARS, MAX_LINES, read_file
from hermes_tui.tools.file_search import DEFAULT_HITS, MAX_CONTEXT, MAX_HITS, search_files
from hermes_tui.tools.file_write import write_file
from hermes_tui.tools.handlers import with_context
from hermes_tui.tools.registry import registry

_MAX_RESULT_CHARS = 100_000
_NO_CONTEXT = "the file tools need a session: call them with a context"

READ_FILE = {
    "name": "read_file",
    "description": (
        "Read lines of a text file. The content comes as 'number|text'; the numbers are not part of the file. Long "
        f"files come in windows: go on with next_offset. Lines above {MAX_LINE_CHARS:,} characters are cut. Reading "
        "the same unchanged lines again only says that they are unchanged. Missing files come with similar names."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Absolute, relative to the current folder, or below ~"},
            "offset": {"type": "integer", "description": "First line, from 1", "default": 1, "minimum": 1},
            "limit": {
                "type": "integer",
                "description": "Number of lines",
                "default": DEFAULT_LINES,
                "minimum": 1,
                "maximum": MAX_LINES,
            },
        },
        "required": ["path"],
    },
}

WRITE_FILE = {
    "name": "write_file",
    "description": (
        "Write a whole file, new or over an old one; folders are made as needed. For small changes edit the file "
        "instead. Give the plain text, without line numbers. An existing file keeps its mode, line ends and byte order "
        "mark. The write is refused if the file changed since you last read it: read it again first. The result tells "
        "a syntax error that the write brought (JSON, YAML, TOML, Python)."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Absolute, relative to the current folder, or below ~"},
            "content": {"type": "string", "description": "All the file shall hold"},
        },
        "required": ["path", "content"],
    },
}

PATCH = {
    "name": "patch",
    "description": (
        "Change files. mode=replace: replaces old_string by new_string in the file at path. Quote old_string as it "
        "stands in the file, with enough lines around it to be unique, or set replace_all. Small differences in white "
        "space are forgiven; check the diff in the result then. mode=patch: applies a patch over one or several files, "
        "all or nothing:\n"
        "*** Begin Patch\n"
        "*** Update File: path\n"
        "@@ a line before the place, such as a function's head (optional)\n"
        " unchanged line\n"
        "-removed line\n"
        "+added line\n"
        "*** Add File: path\n"
        "+line\n"
        "*** Delete File: path\n"
        "*** End Patch\n"
        "After '*** Update File:' may stand '*** Move to: path'. An edit is refused if the file changed since you last "
        "read it."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "enum": ["replace", "patch"], "default": "replace"},
            "path": {"type": "string", "description": "mode=replace: the file"},
            "old_string": {"type": "string", "description": "mode=replace: the text to be replaced"},
            "new_string": {"type": "string", "description": "mode=replace: the text that takes its place"},
            "replace_all": {"type": "boolean", "description": "mode=replace: change every place", "default": False},
            "patch": {"type": "string", "description": "mode=patch: the patch, from Begin to End"},
        },
        "required": ["mode"],
    },
}

SEARCH_FILES = {
    "name": "search_files",
    "description": (
        "Search files, much faster than by shell commands. target=content: lines that match a regular expression, with "
        "path and line number. target=files: files by name, by a glob (*.py, src/**/test_*.ts) or a part of the name. "
        "Ignored files (.gitignore) and binary files are left out. Go on with next_offset."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "description": "Regular expression; for target=files a glob or part of a name",
            },
            "target": {"type": "string", "enum": ["content", "files"], "default": "content"},
            "path": {"type": "string", "description": "Folder or file to search", "default": "."},
            "file_glob": {"type": "string", "description": "Only files that fit, such as *.py or !*.min.js"},
            "limit": {
                "type": "integer",
                "description": "Most results",
                "default": DEFAULT_HITS,
                "minimum": 1,
                "maximum": MAX_HITS,
            },
            "offset": {"type": "integer", "description": "Results to skip", "default": 0, "minimum": 0},
            "output_mode": {
                "type": "string",
                "enum": ["content", "files_only", "count"],
                "description": "Lines, only the files' paths, or matching lines per file",
                "default": "content",
            },
            "context": {
                "type": "integer",
                "description": "Lines to show around each match",
                "default": 0,
                "minimum": 0,
                "maximum": MAX_CONTEXT,
            },
        },
        "required": ["pattern"],
    },
}

for _schema, _function, _emoji in (
    (READ_FILE, read_file, "📖"),
    (WRITE_FILE, write_file, "📝"),
    (PATCH, patch, "🔧"),
    (SEARCH_FILES, search_files, "🔎"),
):
    registry.register(
        name=str(_schema["name"]),
        toolset="file",
        schema=_schema,
        handler=with_context(_function, otherwise=_NO_CONTEXT),
        emoji=_emoji,
        max_result_size_chars=_MAX_RESULT_CHARS,
    )
