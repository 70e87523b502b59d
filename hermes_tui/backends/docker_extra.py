"""``terminal.docker_extra_args``: the arguments of ``docker run`` that mean something here, as fields of the API."""

import argparse
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from hermes_tui.protocol.environment import EnvironmentFailure

_REPEATED: Final = {
    "--device": "devices",
    "--cap-add": "cap_add",
    "--dns": "dns",
    "--add-host": "extra_hosts",
    "--group-add": "group_add",
    "--ulimit": "ulimits",
}
_ONCE: Final = {"--shm-size": "shm_size", "--runtime": "runtime", "--ipc": "ipc_mode", "--gpus": "gpus"}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise EnvironmentFailure(
            f"terminal.docker_extra_args: {message}. Known are {', '.join([*_REPEATED, *_ONCE, '--read-only'])}."
        )


def host_options(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the arguments as keywords of the SDK's ``create_host_config``. Raises EnvironmentFailure."""
    parser = _Parser(prog="docker run", add_help=False, allow_abbrev=False)
    for flag, name in _REPEATED.items():
        parser.add_argument(flag, dest=name, action="append")
    for flag, name in _ONCE.items():
        parser.add_argument(flag, dest=name)
    parser.add_argument("--read-only", dest="read_only", action="store_true", default=None)
    options = {name: value for name, value in vars(parser.parse_args(list(arguments))).items() if value is not None}
    if ulimits := options.pop("ulimits", None):
        options["ulimits"] = [_ulimit(parser, text) for text in ulimits]
    if gpus := options.pop("gpus", None):
        count = -1 if gpus == "all" else int(gpus) if gpus.isdigit() else parser.error(f"--gpus {gpus}")
        options["device_requests"] = [{"Count": count, "Capabilities": [["gpu"]]}]
    return options


def _ulimit(parser: _Parser, text: str) -> dict[str, Any]:
    name, _, limits = text.partition("=")
    soft, _, hard = limits.partition(":")
    try:
        return {"Name": name, "Soft": int(soft), "Hard": int(hard or soft)}
    except ValueError:
        parser.error(f"--ulimit {text}")
