"""Whom to connect to (``~/.ssh/config``) and whether it is who it says it is (known hosts)."""

import base64
import getpass
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hermes_tui.protocol.environment import EnvironmentFailure

if TYPE_CHECKING:
    from paramiko import PKey, SSHClient

Confirm = Callable[[str], bool]
"""Puts a yes-or-no question to the person; False where nobody is there. May block."""

DEFAULT_PORT: Final = 22


@dataclass(frozen=True, slots=True)
class Target:
    """A host with everything that ``~/.ssh/config`` adds to it."""

    host: str
    port: int
    user: str
    keys: tuple[str, ...] = ()
    jumps: tuple[str, ...] = ()
    """Hosts to go through, the first first, each as ``[user@]host[:port]``."""
    proxy_command: str = ""
    known_hosts: tuple[Path, ...] = ()

    @property
    def label(self) -> str:
        return f"{self.user}@{self.host}" + (f":{self.port}" if self.port != DEFAULT_PORT else "")


def find_target(name: str, *, user: str = "", port: int = DEFAULT_PORT, key: str = "") -> Target:
    """Return the target that ``name`` means. What is given here wins over the configuration.

    Raises EnvironmentFailure where the configuration cannot be read.
    """
    import paramiko

    home = Path.home()
    path = home / ".ssh" / "config"
    try:
        config = paramiko.SSHConfig.from_path(str(path)) if path.is_file() else paramiko.SSHConfig()
        found = config.lookup(name)
    except (OSError, ValueError, paramiko.SSHException) as error:
        raise EnvironmentFailure(f"{path} could not be read: {error}") from error
    if key and not Path(key).expanduser().is_file():
        raise EnvironmentFailure(f"There is no key file {key}; terminal.ssh_key names it.")
    keys = [key] if key else list(found.get("identityfile", ()))
    jump = str(found.get("proxyjump", ""))
    files = str(found.get("userknownhostsfile", "")).split() or [str(home / ".ssh" / "known_hosts")]
    return Target(
        host=str(found.get("hostname", name)),
        port=port if port != DEFAULT_PORT else int(found.get("port", DEFAULT_PORT)),
        user=user or str(found.get("user", "")) or getpass.getuser(),
        keys=tuple(str(Path(item).expanduser()) for item in keys if key or Path(item).expanduser().is_file()),
        jumps=() if jump.lower() in ("", "none") else tuple(hop.strip() for hop in jump.split(",")),
        proxy_command=str(found.get("proxycommand", "")),
        known_hosts=tuple(Path(item).expanduser() for item in files),
    )


def parse_hop(text: str) -> Target:
    """Return the target of one hop of a ProxyJump."""
    user, _, rest = text.rpartition("@")
    host, colon, port = rest.rpartition(":")
    return find_target(host, user=user, port=int(port)) if colon and port.isdigit() else find_target(rest, user=user)


def trust_known_hosts(client: "SSHClient", target: Target, own: Path, confirm: Confirm) -> None:
    """Let ``client`` accept the keys in the person's files and in ``own``, and ask about any other host."""
    import paramiko

    class AskPolicy(paramiko.MissingHostKeyPolicy):
        def missing_host_key(self, client: "SSHClient", hostname: str, key: "PKey") -> None:
            question = (
                f"The host {hostname} is not known yet. Its {key.get_name()} key is {fingerprint(key)}. "
                "Connect and remember this key?"
            )
            if not confirm(question):
                raise paramiko.SSHException(
                    f"{hostname} is not a known host ({fingerprint(key)}) and nobody agreed to trust it. Connect once "
                    f"with `ssh {target.label}` and compare the fingerprint"
                )
            remember(own, hostname, key)

    for path in target.known_hosts:
        if path.is_file():
            client.load_system_host_keys(str(path))
    if own.is_file():
        client.load_system_host_keys(str(own))
    client.set_missing_host_key_policy(AskPolicy())


def fingerprint(key: "PKey") -> str:
    """Return the key's fingerprint as ssh shows it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")


def remember(path: Path, hostname: str, key: "PKey") -> None:
    """Add a line to our own file of known hosts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{hostname} {key.get_name()} {key.get_base64()}\n")
    path.chmod(0o600)
