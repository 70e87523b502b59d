"""Themes from YAML files: read, checked colour by colour, turned into Textual themes.

Textual registers any theme and dies later on a bad colour, so everything is checked here first. A file that does not
pass is told by name and reason, and changes nothing. The format is that of ``themes/*.yaml``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import yaml
from textual.app import App
from textual.color import Color, ColorParseError
from textual.theme import Theme

BACKENDS = ("local", "docker", "ssh", "singularity", "modal", "daytona")

_REQUIRED = (
    "primary",
    "accent",
    "foreground",
    "muted",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
)
_OPTIONAL = ("secondary",)
_TOP_KEYS = ("name", "title", "dark", "ansi", "colors", "backends", "variables")

_FALLBACK_BACKENDS = {
    "local": "#7fd1a0",
    "docker": "#6cb6f5",
    "ssh": "#f2a65a",
    "singularity": "#bda0f5",
    "modal": "#ee8fcb",
    "daytona": "#5fd0c5",
}

_STYLE_WORDS = frozenset({"bold", "italic", "underline", "reverse", "strike", "dim", "none", "not", "b", "i", "u"})


class ThemeError(Exception):
    """A theme file cannot be used. The text names the file, the place in it, and what to write instead."""


@dataclass(slots=True)
class ThemeLibrary:
    """The themes found, by name, and a sentence for each file that could not be used."""

    themes: dict[str, Theme] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def builtin_folder() -> Path:
    """Return the folder of the shipped themes, in a checkout or in the wheel."""
    package = Path(__file__).parent.parent
    installed = package / "_themes"
    return installed if installed.is_dir() else package.parent / "themes"


def variable_defaults() -> dict[str, str]:
    """Return values for the CSS variables that are ours, for themes that do not set them (``$backend-local`` ...)."""
    return {f"backend-{name}": color for name, color in _FALLBACK_BACKENDS.items()}


def load_library(folders: Iterable[Path]) -> ThemeLibrary:
    """Read every ``*.yaml`` in ``folders``; a theme in a later folder replaces an earlier one of the same name."""
    library = ThemeLibrary()
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            try:
                theme, title = load_theme(path)
            except ThemeError as error:
                library.problems.append(str(error))
                continue
            library.themes[theme.name] = theme
            library.titles[theme.name] = title
    return library


def install(app: App[object], library: ThemeLibrary) -> None:
    """Register the library's themes with ``app``. The current theme stays."""
    for theme in library.themes.values():
        app.register_theme(theme)


def load_theme(path: Path) -> tuple[Theme, str]:
    """Read one file. Returns the theme and its title for the person. Raises ThemeError."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ThemeError(f"{path}: cannot be read ({error.strerror}); the theme before it stays") from error
    except UnicodeDecodeError as error:
        raise ThemeError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise ThemeError(f"{path}{line}: is not valid YAML ({getattr(error, 'problem', None) or error})") from error
    return parse_theme(data, str(path), default_name=path.stem)


def parse_theme(data: object, where: str, *, default_name: str = "") -> tuple[Theme, str]:
    """Check the decoded YAML of one theme. ``where`` begins every message. Raises ThemeError."""
    top = _mapping(data, where, "a theme")
    _known(top, _TOP_KEYS, where, "")
    name = str(top.get("name") or default_name).strip()
    if not name:
        raise ThemeError(f"{where}: a theme needs a name")
    colors = _mapping(top.get("colors", {}), where, "colors")
    _known(colors, (*_REQUIRED, *_OPTIONAL), where, "colors.")
    missing = [key for key in _REQUIRED if key not in colors]
    if missing:
        raise ThemeError(f"{where}: colors lacks {', '.join(missing)}")
    checked = {key: _color(value, where, f"colors.{key}") for key, value in colors.items()}
    backends = _mapping(top.get("backends", {}), where, "backends")
    _known(backends, BACKENDS, where, "backends.")
    bands = {f"backend-{key}": _color(value, where, f"backends.{key}") for key, value in backends.items()}
    own = _mapping(top.get("variables", {}), where, "variables")
    muted = checked.pop("muted")
    theme = Theme(
        name=name,
        primary=checked["primary"],
        secondary=checked.get("secondary"),
        accent=checked["accent"],
        foreground=checked["foreground"],
        background=checked["background"],
        surface=checked["surface"],
        panel=checked["panel"],
        success=checked["success"],
        warning=checked["warning"],
        error=checked["error"],
        dark=_switch(top.get("dark", True), where, "dark"),
        ansi=_switch(top.get("ansi", False), where, "ansi"),
        variables=_derived(checked, muted) | bands | {key: _variable(value, where, key) for key, value in own.items()},
    )
    _try(theme, where)
    return theme, str(top.get("title") or name)


def _derived(colors: Mapping[str, str], muted: str) -> dict[str, str]:
    """Say by name what Textual would otherwise mix from the base colours, with contrast nobody checked."""
    return {
        "text": colors["foreground"],
        "text-muted": muted,
        "text-disabled": muted,
        "foreground-muted": muted,
        "foreground-disabled": muted,
        "text-primary": colors["primary"],
        "text-accent": colors["accent"],
        "text-success": colors["success"],
        "text-warning": colors["warning"],
        "text-error": colors["error"],
        "border": colors["primary"],
        "border-blurred": colors["panel"],
        "block-cursor-foreground": colors["background"],
        "block-cursor-background": colors["primary"],
        "block-cursor-text-style": "none",
        "block-cursor-blurred-foreground": colors["foreground"],
        "block-cursor-blurred-background": colors["panel"],
        "block-hover-background": colors["panel"],
        "scrollbar": colors["panel"],
        "scrollbar-hover": muted,
        "scrollbar-active": colors["primary"],
        "scrollbar-background": colors["background"],
        "scrollbar-background-hover": colors["background"],
        "scrollbar-background-active": colors["background"],
        "scrollbar-corner-color": colors["background"],
        "footer-background": colors["background"],
        "footer-key-foreground": colors["accent"],
    }


def _mapping(value: object, where: str, what: str) -> dict[str, object]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ThemeError(f"{where}: {what} must be a list of `key: value` lines")
    return value


def _known(given: Mapping[str, object], known: Iterable[str], where: str, prefix: str) -> None:
    names = list(known)
    for key in given:
        if key not in names:
            near = get_close_matches(key, names, n=1)
            hint = f"; did you mean {prefix}{near[0]}?" if near else f"; known are {', '.join(names)}"
            raise ThemeError(f"{where}: unknown key {prefix}{key}{hint}")


def _color(value: object, where: str, key: str) -> str:
    if not isinstance(value, str):
        raise ThemeError(f'{where}: {key} must be a colour in quotes, such as "#8ab4f8", not {value!r}')
    try:
        Color.parse(value)
    except ColorParseError as error:
        raise ThemeError(f'{where}: {key}: {value!r} is no colour; write "#rrggbb" or a colour name') from error
    return value


def _variable(value: object, where: str, key: str) -> str:
    text = str(value)
    if "-style" in key:
        if not set(text.split()) <= _STYLE_WORDS:
            raise ThemeError(f"{where}: variables.{key}: {text!r} is no text style; write bold, underline, none ...")
        return text
    return _color(value, where, f"variables.{key}")


def _switch(value: object, where: str, key: str) -> bool:
    if not isinstance(value, bool):
        raise ThemeError(f"{where}: {key} must be true or false, not {value!r}")
    return value


def _try(theme: Theme, where: str) -> None:
    """Let Textual derive all shades once, so that what it cannot mix is found here and not in the middle of work."""
    try:
        theme.to_color_system().generate()
    except (ColorParseError, ValueError, TypeError) as error:
        raise ThemeError(f"{where}: the colours do not work together ({error})") from error
