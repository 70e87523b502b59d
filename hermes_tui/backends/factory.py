"""Backends by name: which there are, which can be used here and why not, and one made ready to run commands."""

import importlib.util
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Final

from hermes_tui.backends.docker_endpoint import context_name, find_sockets
from hermes_tui.protocol.environment import BackendInfo, Environment, EnvironmentFailure
from hermes_tui.settings import TerminalSettings

LABELS: Final = {
    "local": "Local",
    "docker": "Docker",
    "ssh": "SSH",
    "singularity": "Singularity",
    "modal": "Modal",
    "daytona": "Daytona",
}
"""The six, in the order they are listed."""


def create_environment(
    name: str,
    settings: TerminalSettings,
    *,
    workspace: str,
    spill_dir: str,
    secrets: Collection[str] = (),
    confirm: Callable[[str], bool] | None = None,
) -> Environment:
    """Return a new environment of the backend ``name``, beginning in ``settings.cwd`` or else in ``workspace``.

    Whole outputs go to ``spill_dir``; ``secrets`` names variables that no command may see. ``confirm`` puts a yes-or-no
    question to the person (an unknown ssh host); without it the answer is no. Raises EnvironmentFailure where the
    backend is unknown or cannot be used, with what to do about it.
    """
    if name not in LABELS:
        near = get_close_matches(name, LABELS, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise EnvironmentFailure(f"There is no backend {name!r}{hint}. The backends are {', '.join(LABELS)}.")
    reason = unusable_reason(name, settings)
    if reason:
        raise EnvironmentFailure(f"The {LABELS[name]} backend cannot be used: {reason}")
    if name == "local":
        from hermes_tui.backends.local import LocalEnvironment

        return LocalEnvironment(
            settings.cwd or workspace,
            settings.timeout,
            env_passthrough=settings.env_passthrough,
            secrets=secrets,
            spill_dir=spill_dir,
        )
    module = import_module(f"hermes_tui.backends.{name}")
    more = {"confirm": confirm} if name == "ssh" and confirm is not None else {}
    made: Environment = module.create(settings, workspace=workspace, spill_dir=spill_dir, secrets=secrets, **more)
    return made


def backend_rows(settings: TerminalSettings, environ: Mapping[str, str] | None = None) -> list[BackendInfo]:
    """Return a row for each of the six backends. Looks at this machine only; nothing is connected to or started."""
    rows = []
    for name, label in LABELS.items():
        reason = unusable_reason(name, settings, environ)
        rows.append(BackendInfo(name, label, not reason, reason, "" if reason else _detail(name, settings)))
    return rows


def unusable_reason(name: str, settings: TerminalSettings, environ: Mapping[str, str] | None = None) -> str:
    """Return why the backend cannot be used and what to do, or '' if nothing stands against it."""
    reason = _CHECKS[name](settings, os.environ if environ is None else environ)
    if not reason and name != "local" and importlib.util.find_spec(f"hermes_tui.backends.{name}") is None:
        return "not available in this version"
    return reason


def _check_local(settings: TerminalSettings, environ: Mapping[str, str]) -> str:
    found = shutil.which("bash", path=environ.get("PATH")) or shutil.which("bash", path=os.defpath)
    return "" if found else "bash was not found; install it (Debian: apt install bash)"


def _check_docker(settings: TerminalSettings, environ: Mapping[str, str]) -> str:
    if importlib.util.find_spec("docker") is None:
        return "the Python package docker is missing; run `make run` once more to install it"
    if environ.get("DOCKER_HOST") or context_name(environ) or find_sockets(environ):
        return ""
    return "no Docker or Podman found; start its service or set DOCKER_HOST"


def _check_ssh(settings: TerminalSettings, environ: Mapping[str, str]) -> str:
    if importlib.util.find_spec("paramiko") is None:
        return "the Python package paramiko is missing; run `make run` once more to install it"
    return "" if settings.ssh_host else "no host is set; set terminal.ssh_host or TERMINAL_SSH_HOST"


def _check_singularity(settings: TerminalSettings, environ: Mapping[str, str]) -> str:
    path = environ.get("PATH")
    if shutil.which("apptainer", path=path) or shutil.which("singularity", path=path):
        return ""
    return "neither apptainer nor singularity was found; install one of them"


def _check_modal(settings: TerminalSettings, environ: Mapping[str, str]) -> str:
    if settings.modal_mode == "managed":
        return ""
    if importlib.util.find_spec("modal") is None:
        return "the Python package modal is missing; install it with `pip install modal`"
    if environ.get("MODAL_TOKEN_ID") and environ.get("MODAL_TOKEN_SECRET"):
        return ""
    config = Path(environ.get("MODAL_CONFIG_PATH") or f"{environ.get('HOME', '')}/.modal.toml")
    return "" if config.is_file() else "no account is set up; run `modal token new` or set MODAL_TOKEN_ID and _SECRET"


def _check_daytona(settings: TerminalSettings, environ: Mapping[str, str]) -> str:
    if importlib.util.find_spec("daytona") is None:
        return "the Python package daytona is missing; install it with `pip install daytona`"
    return "" if environ.get("DAYTONA_API_KEY") else "no key is set; set DAYTONA_API_KEY"


_CHECKS: Final[dict[str, Callable[[TerminalSettings, Mapping[str, str]], str]]] = {
    "local": _check_local,
    "docker": _check_docker,
    "ssh": _check_ssh,
    "singularity": _check_singularity,
    "modal": _check_modal,
    "daytona": _check_daytona,
}


def _detail(name: str, settings: TerminalSettings) -> str:
    match name:
        case "docker":
            return settings.docker_image
        case "ssh":
            user = f"{settings.ssh_user}@" if settings.ssh_user else ""
            return f"{user}{settings.ssh_host}:{settings.ssh_port}"
        case "singularity":
            return settings.singularity_image
        case "modal":
            return f"{settings.modal_image} ({settings.modal_mode})"
        case "daytona":
            return settings.daytona_image
        case _:
            return os.uname().nodename
