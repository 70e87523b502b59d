"""The layers laid over each other: defaults < config.yaml < .env and environment < command line."""

from collections.abc import Mapping, Sequence

import msgspec

from hermes_tui.config.decode import Decoder, Leaves, build
from hermes_tui.config.env_file import EnvFile, Secrets, read_env_file
from hermes_tui.config.items import Item, Layer, Problem, Source, place
from hermes_tui.config.names import VARIABLES, adapt
from hermes_tui.config.yaml_file import read_yaml
from hermes_tui.paths import Paths
from hermes_tui.settings import Settings


class Loaded(msgspec.Struct, frozen=True):
    """The settings, and what is worth knowing about where they came from."""

    settings: Settings
    problems: tuple[Problem, ...]
    sources: Mapping[str, Source]
    """Dotted name -> place, of every setting that is not a default."""
    secrets: Secrets
    """What .env holds. Never put into the environment of a child process."""
    environ: Secrets
    """The process's environment with .env beneath it: where keys are looked up."""


def load_settings(
    paths: Paths, environ: Mapping[str, str], overrides: Mapping[str, str | Sequence[str]] | None = None
) -> Loaded:
    """Read all layers. ``overrides`` maps dotted names to the texts of the command line.

    Never raises for what a person wrote: every problem is in the result, and the rest holds.
    """
    document, problems = read_yaml(paths.config)
    env_file, env_problems = read_env_file(paths.env)
    problems += env_problems
    layers: list[Item] = []
    if document is not None and isinstance(document.value, dict):
        layers.append(Item(adapt(document.value), document.source))
    layers += [_from_variables(environ, env_file, paths.env.name), _from_overrides(overrides or {})]
    leaves: Leaves = {}
    for layer in layers:
        decoder = Decoder()
        decoder.read(layer)
        leaves.update(decoder.leaves)
        problems += decoder.problems
    settings, missing = build(leaves)
    return Loaded(
        settings=settings,
        problems=(*problems, *missing),
        sources={".".join(path): leaf.source for path, leaf in leaves.items()},
        secrets=env_file.values,
        environ=Secrets({**env_file.values, **environ}),
    )


def check_overrides(overrides: Mapping[str, str | Sequence[str]]) -> tuple[Problem, ...]:
    """Return what is wrong with the values of the command line, without reading anything else."""
    decoder = Decoder()
    decoder.read(_from_overrides(overrides))
    return tuple(decoder.problems)


def _from_variables(environ: Mapping[str, str], env_file: EnvFile, file_name: str) -> Item:
    """Return the settings that variables hold; where a variable is in both, the environment's wins."""
    root: dict[str, Item] = {}
    for name, setting in reversed(VARIABLES.items()):
        if environ.get(name):
            item = Item(environ[name], Source(Layer.ENVIRONMENT, name))
        elif env_file.values.get(name):
            item = Item(env_file.values[name], Source(Layer.ENV_FILE, f"{name} in {file_name}", env_file.lines[name]))
        else:
            continue
        place(root, tuple(setting.split(".")), item)
    return Item(root, Source(Layer.ENVIRONMENT, "environment"))


def _from_overrides(overrides: Mapping[str, str | Sequence[str]]) -> Item:
    source = Source(Layer.COMMAND_LINE, "command line")
    root: dict[str, Item] = {}
    for setting, value in overrides.items():
        item = Item(value if isinstance(value, str) else [Item(text, source) for text in value], source)
        place(root, tuple(setting.split(".")), item)
    return Item(root, source)
