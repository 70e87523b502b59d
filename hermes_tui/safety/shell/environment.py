"""Variables that start programs or load code: setting one is as good as running what it names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.values import SECRET, is_literal, is_unknown, shown
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

_CODE = frozenset(
    [
        "PAGER",
        "MANPAGER",
        "GIT_PAGER",
        "EDITOR",
        "VISUAL",
        "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_ASKPASS",
        "SSH_ASKPASS",
        "SUDO_ASKPASS",
        "GIT_PROXY_COMMAND",
        "BROWSER",
        "LESSOPEN",
        "LESSCLOSE",
        "PROMPT_COMMAND",
        "PS0",
        "PS1",
        "PS4",
        "FCEDIT",
        "SYSTEMD_PAGER",
        "SYSTEMD_EDITOR",
        "SUDO_EDITOR",
        "AWS_PAGER",
        "GH_PAGER",
        "GH_EDITOR",
        "GLAB_PAGER",
        "DELTA_PAGER",
        "BAT_PAGER",
        "PSQL_PAGER",
        "PSQL_EDITOR",
        "KUBE_EDITOR",
        "HGEDITOR",
        "SVN_EDITOR",
        "SVN_SSH",
        "CVS_RSH",
        "RSYNC_RSH",
        "RSYNC_CONNECT_PROG",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "MANOPT",
        "ROFFOPT",
        "CC",
        "CXX",
        "LD",
        "AR",
        "CPP",
        "FC",
        "npm_config_script_shell",
        "npm_config_git",
        "npm_config_editor",
        "npm_config_node_gyp",
        "HGMERGE",
        "MERGE",
        "DIFF_PROGRAM",
        "VAGRANT_EDITOR",
        "KUBECTL_EXTERNAL_DIFF",
        "TEXEDIT",
        "WATCH_COMMAND",
        "FZF_DEFAULT_COMMAND",
        "NNN_OPENER",
        "XDG_OPEN",
        "PYTHONBREAKPOINT_CMD",
        "DOTNET_STARTUP_CMD",
        "GIT_MERGE_TOOL",
        "ESHELL",
        "COLORDIFF",
        "TERMINAL",
        "HISTCMD",
    ]
)
_LOADED = frozenset(
    [
        "PATH",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "PYTHONHOME",
        "PERL5LIB",
        "PERLLIB",
        "RUBYLIB",
        "NODE_PATH",
        "CLASSPATH",
        "LUA_PATH",
        "LUA_CPATH",
        "R_LIBS",
        "R_LIBS_USER",
        "GCONV_PATH",
        "DYLD_LIBRARY_PATH",
        "DYLD_FRAMEWORK_PATH",
        "PHPRC",
        "PHP_INI_SCAN_DIR",
        "GEM_PATH",
        "GEM_HOME",
        "GIT_EXEC_PATH",
        "GIT_TEMPLATE_DIR",
        "TERMINFO",
        "ZDOTDIR",
        "XDG_CONFIG_HOME",
        "XDG_CONFIG_DIRS",
        "XDG_DATA_DIRS",
        "PKG_CONFIG_PATH",
        "DOTNET_STARTUP_HOOKS",
        "GIT_CONFIG",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "RIPGREP_CONFIG_PATH",
        "WGETRC",
        "CURL_HOME",
        "INPUTRC",
        "PIP_CONFIG_FILE",
        "NPM_CONFIG_USERCONFIG",
        "npm_config_userconfig",
        "CARGO_HOME",
        "SCREENRC",
        "VIMINIT",
        "MYVIMRC",
        "OPENSSL_CONF",
        "OPENSSL_ENGINES",
        "ANSIBLE_CONFIG",
        "KUBECONFIG_PLUGIN",
        "JUPYTER_CONFIG_DIR",
        "IPYTHONDIR",
        "PYTHONUSERBASE",
        "GTK_MODULES",
        "QT_PLUGIN_PATH",
        "MAVEN_CONFIG",
        "GRADLE_USER_HOME",
        "COMPOSER_HOME",
        "EMACSLOADPATH",
    ]
)
_ALWAYS = frozenset(
    [
        "LD_PRELOAD",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
        "PYTHONSTARTUP",
        "PYTHONINSPECT",
        "PYTHONBREAKPOINT",
        "PERL5DB",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "BASH_FUNC",
        "LD_ORIGIN_PATH",
        "GTK_PATH",
        "NIX_LD",
    ]
)
_OPTIONS = {
    "NODE_OPTIONS": re.compile(
        r"(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader|--inspect\S*|-e|--eval)\b"
    ),
    "PERL5OPT": re.compile(r"-[MmIdwTtUW]*[MmId]|^[MmId]"),
    "RUBYOPT": re.compile(r"-r|-I|-e"),
    "MAKEFLAGS": re.compile(r"--eval|(?:^|\s)-?\w*[fC]\b|SHELL="),
    "GNUMAKEFLAGS": re.compile(r"--eval|SHELL="),
    "GOFLAGS": re.compile(r"-(?:toolexec|exec|overlay|modfile)"),
    "JAVA_TOOL_OPTIONS": re.compile(r"-javaagent|-agent|-Xbootclasspath|-XX:On"),
    "_JAVA_OPTIONS": re.compile(r"-javaagent|-agent|-Xbootclasspath|-XX:On"),
    "JDK_JAVA_OPTIONS": re.compile(r"-javaagent|-agent|-Xbootclasspath|-XX:On|@"),
    "MAVEN_OPTS": re.compile(r"-javaagent|-agent"),
    "TAR_OPTIONS": re.compile(r"--(?:to-command|checkpoint-action|use-compress-program|rsh-command|info-script)|-[IF]"),
    "RUSTFLAGS": re.compile(r"linker|-Zcodegen-backend"),
    "LESS": re.compile(r"\+|-[oOk]|--log-file|--lesskey"),
    "GREP_OPTIONS": re.compile(r"."),
    "ZIPOPT": re.compile(r"-(?:TT|m)"),
    "RSYNC_OPTIONS": re.compile(r"-e|--rsh"),
    "SSH_OPTIONS": re.compile(r"ProxyCommand|LocalCommand"),
    "ERL_FLAGS": re.compile(r"-eval|-run|-s\b"),
    "PIP_INDEX_URL": re.compile(r"^(?!https://(?:pypi\.org|test\.pypi\.org)/)"),
    "PIP_EXTRA_INDEX_URL": re.compile(r"."),
    "UV_INDEX_URL": re.compile(r"^(?!https://pypi\.org/)"),
    "UV_EXTRA_INDEX_URL": re.compile(r"."),
    "npm_config_registry": re.compile(r"^(?!https://registry\.npmjs\.org)"),
    "NPM_CONFIG_REGISTRY": re.compile(r"^(?!https://registry\.npmjs\.org)"),
    "GOPROXY": re.compile(r"^(?!https://proxy\.golang\.org|direct|off)"),
    "NODE_TLS_REJECT_UNAUTHORIZED": re.compile(r"^0"),
}
"""What in an option variable loads code, runs programs, or fetches them from elsewhere (the programs' manuals)."""

_HOSTS = {
    "DOCKER_HOST": re.compile(r"unix://|npipe://|$"),
    "CONTAINER_HOST": re.compile(r"unix://|$"),
    "BUILDKIT_HOST": re.compile(r"unix://|$"),
}
_SYSTEM_FOLDER = re.compile(
    r"/(?:usr/(?:local/)?|opt/[\w.-]+/|nix/[\w./-]+/|snap/)?s?bin|/usr(?:/local)?/(?:lib|share)(?:/.*)?|/lib(?:64)?(?:/.*)?|/opt/[\w./-]+|/etc(?:/.*)?"
)
_PROJECT = (Scope.WORKSPACE, Scope.CONTROL, Scope.NONE)


def judge_variable(machine: Machine, name: str, value: str) -> None:
    """Add the effect of giving a variable this value, if it has one."""
    if name in _CODE:
        if value and value != SECRET:
            machine.run_shell(value)
        return
    if name in _LOADED:
        _folders(machine, name, value)
        return
    if name in _ALWAYS or name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "BASH_FUNC_", "DYLD_INSERT")):
        if value:
            machine.add(Verb.EXEC_UNKNOWN, f"Sets {name}, which makes programs load {shown(value)}", shown(value))
        return
    pattern = _OPTIONS.get(name)
    if pattern is not None:
        if pattern.search(value):
            machine.add(
                Verb.EXEC_UNKNOWN, f"Sets {name}, which makes programs load or fetch code: {shown(value)}", shown(value)
            )
        return
    local = _HOSTS.get(name)
    if local is not None and not local.match(value):
        machine.add(Verb.REMOTE_EXEC, f"Works on another host: {name}={shown(value)}", shown(value), Scope.REMOTE)


def _folders(machine: Machine, name: str, value: str) -> None:
    """Code is loaded from the folders of the value: the project's and the system's are no news, others are."""
    for entry in value.split(":"):
        if not entry or entry == SECRET or (is_unknown(entry) and not entry.startswith("/")):
            continue
        located = machine.locate(entry)
        if located.scope in _PROJECT or (located.scope is Scope.SYSTEM and _SYSTEM_FOLDER.fullmatch(entry)):
            continue
        if (
            located.scope in (Scope.HOME, Scope.STARTUP, Scope.ROOT)
            and is_literal(entry)
            and name in ("PATH", "XDG_CONFIG_HOME", "CARGO_HOME", "GEM_HOME")
        ):
            continue
        machine.add(
            Verb.EXEC_UNKNOWN, f"Makes programs load code from {shown(entry)} ({name})", shown(entry), located.scope
        )
