"""``docs/configuration.md`` from the settings: their names, defaults, ranges, docstrings and variables.

``python -m hermes_tui.config.document`` prints it.
"""

import ast
import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import msgspec

from hermes_tui import settings as settings_module
from hermes_tui.config.decode import entry_of, expected, fields_of
from hermes_tui.config.names import SAME_MEANING, VARIABLES
from hermes_tui.settings import Section, Settings

_INTRODUCTION = """\
# Configuration

Written from `hermes_tui/settings.py` by `python -m hermes_tui.config.document > docs/configuration.md`.

Settings come from four places, each winning over the one before it:

1. the defaults below,
2. `config.yaml` in `~/.hermes` (or in `$HERMES_HOME`); it is yours, the program never writes it,
3. variables: of the environment, or else of `.env` in the same folder,
4. options of the command line.

What the program itself remembers (theme, sidebars, last backend) is in `tui.yaml` beside it.

```yaml
# config.yaml
model:
  name: gpt-5.6-sol
terminal:
  backend: docker
  timeout: 300
approvals:
  timeout: 0
providers:
  box:
    base_url: http://box.local:8000/v1
    models: [qwen3-coder]
```

A key or value that cannot be used is told with its line and left out; everything else holds and the program starts.
`hermes-tui doctor` shows what was told. Numbers may be quoted, and `yes`, `no`, `on`, `off` are as good as `true` and
`false`. `null` means: as if it were not written.

**Keys and passwords** belong into `.env` (mode 0600), one `NAME=value` a line; `export`, quotes, comments and values
over several lines in quotes are understood, `$` is not expanded. They never enter the environment of a command that the
agent runs.

Lists in variables are divided by commas or written as JSON (`["a", "b"]`), mappings as `A=1,B=2` or as JSON.
"""

_HERMES = """\
## Coming from Hermes

A `config.yaml` of Hermes Agent keeps working. These of its keys mean the same and are read; `custom_providers`,
`providers` with `key_env`, `api` or `default_model`, and `model: NAME` are understood too. Its other keys are left
alone and told once.
"""


def configuration_page() -> str:
    """Return the page as Markdown."""
    parts = [_INTRODUCTION]
    for name, declared in fields_of(Settings).items():
        parts.append(_section(name, declared))
    rows = "".join(f"| `{theirs}` | `{ours}` |\n" for theirs, ours in SAME_MEANING.items())
    parts.append(f"{_HERMES}\n| key of Hermes | setting |\n| --- | --- |\n{rows}")
    return "\n".join(parts)


def _section(name: str, declared: Any) -> str:
    entry = entry_of(declared)
    cls = entry or declared
    title = f"{name}.NAME" if entry else name
    rows = "".join(_rows(cls, name if not entry else f"{name}.NAME"))
    return (
        f"## {title}\n\n{_plain(inspect.getdoc(cls))}\n\n| setting | default | meaning |\n| --- | --- | --- |\n{rows}"
    )


def _rows(cls: type[Section], path: str) -> Iterator[str]:
    meanings = docstrings_of(cls)
    for field in msgspec.structs.fields(cls):
        here = f"{path}.{field.name}"
        short = here.split(".", 2)[2] if ".NAME." in here else here.split(".", 1)[1]
        if isinstance(field.type, type) and issubclass(field.type, Section):
            yield from _rows(field.type, here)
            continue
        variables = [f"`{variable}`" for variable, setting in VARIABLES.items() if setting == here]
        takes = expected(field.type)
        note = f" Takes {takes}." if takes not in ("text", "true or false") else ""
        note += f" Variable: {', '.join(variables)}." if variables else ""
        yield f"| `{short}` | {_default(field)} | {_plain(meanings.get(field.name))}{note} |\n"


def _plain(docstring: str | None) -> str:
    return (docstring or "").replace("``", "`")


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "needed"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    if value is None or value in ("", (), {}):
        return ""
    return f"`{msgspec.json.encode(value).decode()}`" if not isinstance(value, str) else f"`{value}`"


def docstrings_of(cls: type[Section]) -> dict[str, str]:
    """Return field name -> the docstring below the field, in one line. Python keeps them only in the source."""
    tree = ast.parse(inspect.getsource(settings_module))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == cls.__name__)
    found = {}
    for field, after in itertools.pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            found[field.target.id] = " ".join(str(after.value.value).split())
    return found


if __name__ == "__main__":
    print(configuration_page(), end="")
