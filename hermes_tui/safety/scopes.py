"""Where a path lies: workspace, home, a secret, the system, a device, the root itself.

The lists follow the Filesystem Hierarchy Standard 3.0, hier(7) of macOS and the manuals of the programs whose files
they name.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from hermes_tui.safety.facts import FileFacts
from hermes_tui.safety.shell.state import FileNode, State
from hermes_tui.safety.shell.values import BRACKET, QUESTION, STAR, has_glob, is_literal, is_unknown, matches
from hermes_tui.safety.verdict import Scope

ROOT_TREES = frozenset(
    [
        "/",
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/home",
        "/lib",
        "/lib32",
        "/lib64",
        "/libx32",
        "/opt",
        "/proc",
        "/root",
        "/run",
        "/sbin",
        "/srv",
        "/sys",
        "/usr",
        "/var",
        "/System",
        "/Library",
        "/Applications",
        "/Users",
        "/Volumes",
        "/private",
        "/private/etc",
        "/private/var",
        "/nix",
        "/nix/store",
        "/usr/bin",
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/sbin",
        "/usr/share",
        "/usr/local",
        "/usr/include",
        "/usr/libexec",
        "/var/lib",
        "/var/lib/dpkg",
        "/boot/efi",
        "/boot/grub",
        "/lib/modules",
        "/usr/lib/modules",
        "/etc/systemd",
        "/etc/pam.d",
        "/C:",
        "/c",
        "/mnt/c",
        "/mnt/c/Windows",
    ]
)
"""Folders whose loss takes the machine, or everybody's files, with it."""

_SAFE_DEVICES = re.compile(
    r"/dev/(?:null|zero|full|u?random|tty|stdin|stdout|stderr|ptmx|console|fd(?:/\d+)?|pts(?:/\d+)?|shm(?:/.*)?|tty\d*|log)"
)
_NETWORK = re.compile(r"/dev/(?:tcp|udp)(?:/.*)?")
_PROC_ALIAS = re.compile(r"/proc/(?:self|thread-self|\d+|[\ufdd0-\ufdd6]+)/(root|cwd)(?=/|$)")
_TEMP = (
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/private/var/tmp",
    "/private/var/folders",
    "/var/folders",
    "/dev/shm",
    "/run/user",
)
_OTHER_HOME = re.compile(r"/(?:home|Users)/[^/]+")
_BLANK_DIR = frozenset(("", "/"))

_SECRET_HOME = re.compile(
    r"\.(?:ssh|gnupg|aws|azure|kube|docker|password-store|pki|config/(?:gh|glab-cli|gcloud|doctl|hub|op|sops|rclone|"
    r"git/credentials|helm|containers|Bitwarden.*|1Password|google-chrome|chromium|BraveSoftware)|mozilla|"
    r"local/share/(?:keyrings|kwalletd|gnupg)|"
    r"git-credentials|netrc|npmrc|pypirc|pgpass|my\.cnf|mylogin\.cnf|vault-token|terraform\.d|terraformrc|boto|s3cfg|"
    r"gem/credentials|cargo/credentials(?:\.toml)?|m2/settings.*|gradle/gradle\.properties|composer/auth\.json|"
    r"yarnrc(?:\.yml)?|authinfo(?:\.gpg)?|msmtprc|fetchmailrc|ICEauthority|Xauthority|lastpass|electrum|bitcoin|ethereum|"
    r"huggingface/token|cache/huggingface/token|kaggle|databrickscfg|snowsql|fly|heroku|netlify|vercel|"
    r"(?:bash|zsh|python|psql|mysql|sqlite|node_repl|rediscli|dbshell)_history)(?:/.*|$)|"
    r"Library/(?:Keychains|Cookies|Application Support/(?:Google|Firefox|com\.apple\.TCC))(?:/.*|$)"
)
_PUBLIC_IN_SECRET = re.compile(
    r"\.ssh/(?:.*\.pub|known_hosts(?:\.old)?)|\.docker/(?:contexts|cli-plugins)(?:/.*)?|\.aws/config\.example"
)
_STARTUP_HOME = re.compile(
    r"\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|"
    r"tcshrc|login|inputrc|xinitrc|xprofile|xsession(?:rc)?|pam_environment|gitconfig|vimrc|gvimrc|exrc|nanorc|emacs|"
    r"tmux\.conf|screenrc|gdbinit|lldbinit|pythonrc|irbrc|pryrc|Rprofile|curlrc|wgetrc|editorconfig|condarc|"
    r"vim|emacs\.d|zsh|oh-my-zsh|gdbinit\.d)(?:/.*|$)|"
    r"\.config/(?:autostart|systemd|fish|git|environment\.d|nvim|zsh|pip|plasma-workspace|sway|i3|hypr|cron|"
    r"direnv|tmux|starship\.toml|Code/User)(?:/.*|$)|"
    r"\.local/share/systemd(?:/.*|$)|\.local/bin(?:/.*|$)|bin(?:/.*|$)|Library/Launch(?:Agents|Daemons)(?:/.*|$)|\.cargo/bin(?:/.*|$)"
)
_SECRET_SYSTEM = re.compile(
    r"/etc/(?:shadow-?|gshadow-?|sudoers(?:\.d(?:/.*)?)?|ssl/private(?:/.*)?|ssh/ssh_host_.*_key|krb5\.keytab|ppp/.*secrets|"
    r"security/opasswd|NetworkManager/system-connections(?:/.*)?|wireguard(?:/.*)?|kubernetes(?:/.*)?|docker/key\.json|"
    r"master\.passwd|rancher(?:/.*)?|vault(?:\.d)?(?:/.*)?)|"
    r"/proc/(?:self|thread-self|\d+|[\ufdd0-\ufdd6]+)/(?:environ|mem|maps|auxv|cmdline-secret)|/proc/k(?:core|mem)|/dev/(?:mem|kmem)|"
    r"/var/lib/(?:docker|kubelet|mysql|postgresql|redis)(?:/.*)|/var/run/secrets(?:/.*)?|/run/secrets(?:/.*)?|"
    r"/var/spool/cron(?:/.*)?|/root/\..*|/(?:home|Users)/[^/]+/\.(?:ssh|gnupg|aws|kube|docker|netrc|git-credentials)(?:/.*)?|"
    r"/Library/Keychains(?:/.*)?"
)
_CONTROL = re.compile(
    r"(?:.*/)?(?:\.git|\.hg|\.svn|\.jj|\.husky)(?:/.*|$)|\.github/(?:workflows|actions)(?:/.*|$)|\.gitlab-ci\.ya?ml|\.circleci(?:/.*|$)|"
    r"\.envrc|\.mcp\.json|\.hermes(?:/.*|$)|\.vscode/(?:tasks|settings|launch)\.json|\.idea(?:/.*|$)|\.devcontainer(?:/.*|$)|"
    r"(?:.*/)?\.(?:cursor|claude|codex|gemini)(?:/.*|$)|azure-pipelines\.ya?ml|Jenkinsfile|\.travis\.yml|\.buildkite(?:/.*|$)"
)
_SECRET_NAME = re.compile(
    r"(?:.*/)?(?:\.env(?:\.(?!example|sample|template|dist|test)[\w.-]+)?|\.?secrets?(?:\.\w+)?|credentials(?:\.\w+)?|.*\.(?:pem|p12|pfx|jks|keystore|kdbx|"
    r"ppk|asc)|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|service[-_]account.*\.json|.*[-_.](?:key|token|secret)s?(?:\.\w+)?|"
    r"(?:token|password|passwd|passwords|apikey|private)s?(?:\.(?:txt|json|ya?ml|key))?|htpasswd|\.htpasswd|wp-config\.php|terraform\.tfstate.*|"
    r".*\.tfvars|kubeconfig|\.vault[-_]pass.*)",
    re.IGNORECASE,
)


def is_secret_name(path: str) -> bool:
    """Return whether a file of this name usually holds credentials, wherever it lies."""
    return _SECRET_NAME.fullmatch(path) is not None


@dataclass(frozen=True, slots=True)
class Located:
    """A path worked out: where it is and what is known of it."""

    path: str
    """Absolute; may hold marks for what is not known."""
    scope: Scope
    node: FileNode | None = None
    """What the command itself made of it."""
    whole: bool = False
    """True where the folder itself, or all that is in it, is meant."""

    @property
    def literal(self) -> bool:
        return is_literal(self.path)


class Geography:
    """Scopes of paths on one machine."""

    def __init__(self, *, home: str, workspace: str, own_home: str, facts: FileFacts) -> None:
        self.facts = facts
        self.home = posixpath.normpath(home) if home else "/nonexistent"
        self.workspace = posixpath.normpath(workspace) if workspace else "/nonexistent"
        self.own = tuple(
            {own_home or self.home + "/.hermes", self.home + "/.hermes", self.home + "/.config/hermes-tui"}
        )
        homes = {self.home, "/root"}
        above: set[str] = set()
        for folder in homes:
            while folder not in _BLANK_DIR:
                above.add(folder)
                folder = posixpath.dirname(folder)
        self.roots = ROOT_TREES | above - set(_TEMP)
        self.around_home = self.home == self.workspace or self.home.startswith(self.workspace + "/")
        """Whether the workspace holds the home folder: its credentials and startup files are no project files then."""
        if self.workspace in self.roots and self.workspace != self.home:
            self.workspace = "/nonexistent"  # the root or a system tree is nobody's project
        self._cache: dict[str, str] = {}

    # -- resolving ----------------------------------------------------------------------------------------------------

    def absolute(self, text: str, folder: str) -> str:
        """Return ``text`` as an absolute path without ``.`` and ``..``; unknown parts stay."""
        if not text.startswith("/"):
            if is_unknown(text[:1]):
                return text
            text = folder + "/" + text
        path = posixpath.normpath(text)
        if path.startswith("//"):
            path = path[1:]
        return path

    def proc_alias(self, path: str, folder: str) -> str:
        while path.startswith("/proc/") and (match := _PROC_ALIAS.match(path)):
            path = self.absolute(("" if match[1] == "root" else folder) + path[match.end() :] or "/", folder)
        return path

    def real(self, path: str, state: State, *, follow: bool) -> str:
        """Return ``path`` with links resolved, those that the command itself made first."""
        for _ in range(8):
            for made, node in state.files.items():
                if node.kind == "link" and ((path == made and follow) or path.startswith(made + "/")):
                    path = self.absolute(node.target + path[len(made) :], posixpath.dirname(made))
                    break
            else:
                break
        head, tail = path, ""
        if not is_literal(path):
            parts = path.split("/")
            cut = next((index for index, part in enumerate(parts) if not is_literal(part)), len(parts))
            head, tail = "/".join(parts[:cut]) or "/", "/" + "/".join(parts[cut:])
        elif not follow:
            head, tail = posixpath.dirname(path), "/" + posixpath.basename(path)
        found = self._cache.get(head)
        if found is None:
            found = self._cache[head] = self.facts.realpath(head)
        return (found.rstrip("/") + tail) or "/"

    # -- scopes -------------------------------------------------------------------------------------------------------

    def scope(self, path: str) -> Scope:  # noqa: C901 - the order of the questions is the rule
        """Return the scope of an absolute path; patterns count as the gravest thing that they can match."""
        if not path.startswith("/"):
            return Scope.UNKNOWN
        if path in self.roots:
            return Scope.ROOT
        if _OTHER_HOME.fullmatch(path) and not has_glob(path):
            return Scope.ROOT
        if has_glob(path) or is_unknown(path):
            grave = self._pattern_scope(path)
            if grave is not None:
                return grave
        if path.startswith("/dev/"):
            if _NETWORK.fullmatch(path):
                return Scope.REMOTE
            if path.startswith("/dev/shm/"):
                return Scope.TEMP
            return Scope.NONE if _SAFE_DEVICES.fullmatch(path) else Scope.DEVICE
        if any(path == own or path.startswith(own + "/") for own in self.own):
            return Scope.OWN
        if self.around_home and path.startswith(self.home + "/"):
            private = self._home_scope(path[len(self.home) + 1 :])
            if private is not Scope.HOME:
                return private
        if path == self.workspace:
            return Scope.WORKSPACE
        if path.startswith(self.workspace + "/"):
            return Scope.CONTROL if _CONTROL.fullmatch(path[len(self.workspace) + 1 :]) else Scope.WORKSPACE
        if path.startswith(self.home + "/"):
            return self._home_scope(path[len(self.home) + 1 :])
        if _SECRET_SYSTEM.fullmatch(path):
            return Scope.SECRET
        if path.startswith("/proc/sysrq") or path in ("/proc/kcore", "/proc/kmem"):
            return Scope.DEVICE
        for temp in _TEMP:
            if path == temp or path.startswith(temp + "/"):
                return Scope.TEMP
        return Scope.SYSTEM

    def _home_scope(self, inside: str) -> Scope:
        if _SECRET_HOME.fullmatch(inside) and not _PUBLIC_IN_SECRET.fullmatch(inside):
            return Scope.SECRET
        return Scope.STARTUP if _STARTUP_HOME.fullmatch(inside) else Scope.HOME

    def _pattern_scope(self, path: str) -> Scope | None:
        """Return ROOT or DEVICE where the pattern can match such a thing, None where it stays below its folder."""
        folder, name = posixpath.split(path)
        if name and not name.strip(STAR) and is_literal(folder):
            return (
                Scope.ROOT if folder in self.roots and folder != "/dev" else Scope.DEVICE if folder == "/dev" else None
            )
        if path.startswith("/dev/") and has_glob(path):
            safe = any(matches(f"/dev/{each}", path) for each in ("null", "tty", "zero"))
            return (
                None
                if safe and not any(matches(each, path) for each in ("/dev/sda", "/dev/nvme0n1", "/dev/vda"))
                else Scope.DEVICE
            )
        if is_unknown(path):
            return None
        first = path.split("/", 2)[1]
        if any(mark in first for mark in (STAR, QUESTION, BRACKET)) or has_glob(folder) or folder in self.roots:
            levels = path.count("/")
            if any(root.count("/") == levels and matches(root, path) for root in self.roots):
                return Scope.ROOT
            if (
                levels == 2
                and any(matches(folder_name, folder) for folder_name in ("/home", "/Users"))
                and has_glob(name)
            ):
                return Scope.ROOT
            if name == STAR and any(root.count("/") == levels - 1 and matches(root, folder) for root in self.roots):
                return Scope.ROOT
        return None
