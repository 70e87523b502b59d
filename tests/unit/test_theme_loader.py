"""Themes: the shipped ones can be read and seen; a broken file is told and changes nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.color import Color

from hermes_tui.widgets import theme_loader
from hermes_tui.widgets.theme_loader import BACKENDS, ThemeError, load_library, load_theme, parse_theme

SHIPPED = load_library([theme_loader.builtin_folder()])

TEXT_COLORS = (
    *("foreground", "text-muted", "primary", "accent", "success", "warning", "error"),
    *(f"backend-{name}" for name in BACKENDS),
)
GROUNDS = ("background", "surface", "panel")


def _luminance(color: Color) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, WCAG 2.2."""
    light, dark = sorted((_luminance(Color.parse(one)), _luminance(Color.parse(other))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_all_shipped_themes_pass() -> None:
    assert SHIPPED.problems == []
    assert {"hermes-dark", "hermes-light", "high-contrast", "mono"} <= set(SHIPPED.themes)


@pytest.mark.parametrize("name", [name for name, theme in SHIPPED.themes.items() if not theme.ansi])
def test_text_has_contrast_on_every_ground(name: str) -> None:
    variables = SHIPPED.themes[name].to_color_system().generate() | SHIPPED.themes[name].variables
    weak = {
        (text, ground): round(contrast(variables[text], variables[ground]), 2)
        for text in TEXT_COLORS
        for ground in GROUNDS
        if contrast(variables[text], variables[ground]) < 4.5
    }
    assert weak == {}
    cursor = contrast(variables["block-cursor-foreground"], variables["block-cursor-background"])
    assert cursor >= 4.5


def minimal() -> dict[str, object]:
    colors = {key: "#808080" for key in theme_loader._REQUIRED}
    return {"name": "mine", "colors": colors}


def test_a_minimal_theme_is_enough() -> None:
    theme, title = parse_theme(minimal(), "mine.yaml")
    assert (theme.name, title) == ("mine", "mine")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"colours": {}}, "did you mean colors?"),
        ({"colors": {"primary": "#fff"}}, "colors lacks accent"),
        ({"colors": minimal()["colors"] | {"primary": "bluish"}}, "colors.primary: 'bluish' is no colour"),  # type: ignore[operator]
        ({"colors": minimal()["colors"] | {"primary": 123456}}, "in quotes"),  # type: ignore[operator]
        ({"backends": {"dockr": "#fff"}}, "did you mean backends.docker?"),
        ({"dark": "yes"}, "dark must be true or false"),
        ({"variables": {"link-style": "blinking"}}, "no text style"),
        ({"variables": {"border": "5px"}}, "no colour"),
    ],
)
def test_a_bad_theme_says_where_and_what(change: dict[str, object], told: str) -> None:
    with pytest.raises(ThemeError, match=r"^mine\.yaml: ") as caught:
        parse_theme(minimal() | change, "mine.yaml")
    assert told in str(caught.value)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a: [", b"- 1\n- 2\n", b"", b"colors: 7\n"])
def test_a_broken_file_is_reported_and_the_others_stay(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.yaml").write_bytes(content)
    library = load_library([theme_loader.builtin_folder(), tmp_path])
    assert set(library.themes) == set(SHIPPED.themes)
    assert len(library.problems) == 1
    assert "bad.yaml" in library.problems[0]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ThemeError, match="cannot be read"):
        load_theme(tmp_path / "gone.yaml")


def test_a_later_folder_wins(tmp_path: Path) -> None:
    source = (theme_loader.builtin_folder() / "mono.yaml").read_text().replace("#121212", "#000001")
    (tmp_path / "mono.yaml").write_text(source)
    library = load_library([theme_loader.builtin_folder(), tmp_path])
    assert library.themes["mono"].background == "#000001"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(_json, st.sampled_from(["colors", "backends", "variables", "dark", "name", "title"]))
def test_any_yaml_either_passes_or_raises_theme_error(value: object, key: str) -> None:
    try:
        parse_theme(minimal() | {key: value}, "any.yaml")
    except ThemeError:
        pass
