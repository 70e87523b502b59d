"""The transcript's colours: roles as component classes, from theme variables only, and the palette read from them."""

from rich.color import Color
from rich.style import Style
from textual.color import Color as ThemeColor
from textual.widget import Widget

from hermes_tui.widgets.lines import Palette, PlainPalette

_RULES: dict[str, str] = {
    "muted": "color: $text-muted;",
    "faint": "color: $text-muted;",
    "rule": "color: $foreground 30%;",
    "cursor": "color: $accent; text-style: bold;",
    "new-below": "background: $accent; color: $background; text-style: bold;",
    "hit": "background: $warning 40%;",
    "hit-current": "background: $warning; color: $background;",
    "user": "background: $surface;",
    "user-bar": "color: $primary; background: $surface;",
    "user-text": "color: $foreground;",
    "reasoning": "color: $text-muted; text-style: italic;",
    "warning": "color: $text-warning;",
    "error": "color: $text-error; text-style: bold;",
    "error-text": "color: $text-error;",
    "success": "color: $text-success;",
    "running": "color: $text-accent;",
    "needs-you": "color: $text-warning; text-style: bold;",
    "refused": "color: $text-warning;",
    "tool": "background: $surface;",
    "tool-name": "text-style: bold;",
    "tool-summary": "color: $foreground 85%;",
    "argument": "color: $text-muted;",
    "argument-value": "color: $foreground;",
    "output": "color: $foreground 85%;",
    "band-local": "color: $primary;",
    "band-docker": "color: $accent;",
    "band-ssh": "color: $warning;",
    "band-singularity": "color: $secondary;",
    "band-modal": "color: $success;",
    "band-daytona": "color: $error;",
    "band-other": "color: $primary;",
    "heading-1": "color: $text-primary; text-style: bold underline;",
    "heading-2": "color: $text-primary; text-style: bold;",
    "heading-3": "text-style: bold italic;",
    "strong": "text-style: bold;",
    "emphasis": "text-style: italic;",
    "strike": "text-style: strike;",
    "link": "color: $text-primary; text-style: underline;",
    "quote": "color: $text-muted; text-style: italic;",
    "bullet": "color: $text-accent;",
    "table-header": "text-style: bold;",
    "code": "color: $text-accent; background: $surface;",
    "code-block": "background: $surface;",
    "code-language": "color: $text-muted;",
    "code-keyword": "color: $text-primary; text-style: bold;",
    "code-type": "color: $text-warning;",
    "code-function": "color: $text-primary;",
    "code-builtin": "color: $text-secondary;",
    "code-string": "color: $text-success;",
    "code-number": "color: $text-accent;",
    "code-comment": "color: $text-muted; text-style: italic;",
    "diff-file": "text-style: bold;",
    "diff-number": "color: $text-muted;",
    "diff-context-text": "color: $foreground 80%;",
    "diff-added": "background: $success 15%;",
    "diff-added-text": "color: $text-success;",
    "diff-added-mark": "background: $success 30%; text-style: bold;",
    "diff-removed": "background: $error 15%;",
    "diff-removed-text": "color: $text-error;",
    "diff-removed-mark": "background: $error 30%; text-style: bold;",
}

_PREFIX = "transcript--"
COMPONENT_CLASSES = {_PREFIX + role for role in _RULES}


def component_css(widget: str) -> str:
    """Return the CSS of all roles for a widget class."""
    return "\n".join(f"{widget} > .{_PREFIX}{role} {{ {rules} }}" for role, rules in _RULES.items())


def read_palette(widget: Widget) -> Palette:
    """Return the styles of all roles as they are now. A role sets only what its rules name, so that styles combine."""
    palette = PlainPalette()
    for role in _RULES:
        styles = widget.get_component_styles(_PREFIX + role)
        full = widget.get_component_rich_style(_PREFIX + role)
        color: Color | None = full.color if styles.has_rule("color") else None
        bgcolor = full.bgcolor if styles.has_rule("background") else None
        palette[role] = Style(color=color, bgcolor=bgcolor) + styles.text_style
    # Our themes name a colour for each backend; others do not know the variables, so no CSS can.
    for name, value in widget.app.theme_variables.items():
        if name.startswith("backend-"):
            palette[f"band-{name.removeprefix('backend-')}"] = Style(color=ThemeColor.parse(value).rich_color)
    return palette
