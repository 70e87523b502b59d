"""Which paths are not to be written or read just so: hermes-tui's own, credentials, the system.

Paths here are absolute, with links resolved. A reason continues a sentence that starts with the path.
"""

import re
from pathlib import PurePosixPath

_OWN_SETTINGS = {
    "config.yaml": "holds the settings of hermes-tui",
    "tui.yaml": "is what hermes-tui remembers",
    "approvals.yaml": "holds the approval rules of hermes-tui",
    "cron": "holds the schedules of hermes-tui",
    "mcp-seen.json": "is what hermes-tui knows of MCP servers",
    "checkpoints": "holds the checkpoints of hermes-tui",
    "logs": "holds the log of hermes-tui",
    "prompt-history.jsonl": "holds the prompts of the person",
    "hermes-tui.db": "holds the sessions of hermes-tui",
}
_OWN_SECRETS = {
    ".env": "holds the keys of hermes-tui",
    "auth.json": "holds the logins of hermes-tui",
    "mcp-tokens": "holds the logins of MCP servers",
    "mcp.json": "names programs that hermes-tui starts, and may hold their keys",
    "state.db": "holds the sessions of another program",
}
_OWN_CODE = {
    "plugins": "is code that runs inside hermes-tui",
    "tools": "is code that runs inside hermes-tui",
    "hooks": "is code that runs inside hermes-tui",
    "skills": "is read into later sessions",
    "memories": "is read into every session",
}
_CREDENTIALS = (
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".config/gh",
    ".config/gcloud",
    ".config/op",
    ".password-store",
    ".local/share/keyrings",
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".config/git/credentials",
    ".cargo/credentials.toml",
)
_STARTUP = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".local/bin",
    ".gitconfig",
    ".config/git",
    ".xprofile",
    ".xsession",
    ".pam_environment",
)
_SYSTEM = (
    "/etc",
    "/boot",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr",
    "/sys",
    "/proc",
    "/dev",
    "/run",
    "/var/run",
    "/var/lib",
    "/var/log",
    "/var/spool/cron",
    "/private/etc",
    "/System",
    "/Library",
)
_RUN_IN_PROJECT = re.compile(r"/(\.git/(hooks(/|$)|config$)|\.hermes/(plugins|tools|hooks)(/|$)|\.mcp\.json$)")
_SECRET_NAME = re.compile(r"(\.env(\..+)?|\.envrc|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(pem|key|p12|pfx|kdbx))")
_PUBLIC_NAME = re.compile(r"\.env\.(example|sample|template|dist)|.*\.pub")


def own_secret(path: str, hermes_home: str) -> str | None:
    """Return why a file of hermes-tui is never read by a tool, or None where it may be."""
    return _named_below(path, hermes_home, _OWN_SECRETS)


def own_settings(path: str, hermes_home: str) -> str | None:
    """Return why a file is refused to every writing tool (settings and secrets of hermes-tui), or None."""
    if path == hermes_home:
        return "is the folder of hermes-tui"
    return _named_below(path, hermes_home, {**_OWN_SETTINGS, **_OWN_SECRETS})


def protected_path(path: str, home: str, hermes_home: str) -> str | None:
    """Return why writing ``path`` needs the person's approval, or None where it does not."""
    own = own_settings(path, hermes_home) or _named_below(path, hermes_home, _OWN_CODE)
    if own:
        return own
    for name in _CREDENTIALS:
        if _inside(path, f"{home}/{name}"):
            return "holds credentials"
    for name in _STARTUP:
        if _inside(path, f"{home}/{name}"):
            return "is run or read at every login"
    if _RUN_IN_PROJECT.search(path):
        return "is run by other programs later"
    if any(_inside(path, folder) for folder in _SYSTEM):
        return "belongs to the system"
    return _secret_name(path)


def private_path(path: str, home: str, hermes_home: str) -> str | None:
    """Return why reading ``path`` needs the person's approval, or None where it does not."""
    own = own_secret(path, hermes_home)
    if own:
        return own
    for name in _CREDENTIALS:
        if _inside(path, f"{home}/{name}") and not _PUBLIC_NAME.fullmatch(PurePosixPath(path).name):
            return "holds credentials"
    if path in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers"):
        return "holds credentials"
    return _secret_name(path)


def device_path(path: str) -> str | None:
    """Return why ``path`` is no place for files (devices and the kernel's views), or None."""
    if any(_inside(path, folder) for folder in ("/dev", "/proc", "/sys")) and not _inside(path, "/dev/shm"):
        return "is a device or a view of the kernel"
    return None


def _secret_name(path: str) -> str | None:
    name = PurePosixPath(path).name
    if _SECRET_NAME.fullmatch(name) and not _PUBLIC_NAME.fullmatch(name):
        return "is a file of secrets by its name"
    return None


def _named_below(path: str, folder: str, names: dict[str, str]) -> str | None:
    """Return the reason of the first part of ``path`` below ``folder``; ``x.db`` covers ``x.db-wal`` too."""
    if not _inside(path, folder) or path == folder:
        return None
    first = path[len(folder.rstrip("/")) + 1 :].split("/", 1)[0]
    if first in names:
        return names[first]
    return next((why for name, why in names.items() if name.endswith(".db") and first.startswith(f"{name}-")), None)


def _inside(path: str, folder: str) -> bool:
    folder = folder.rstrip("/")
    return path == folder or path.startswith(f"{folder}/")
