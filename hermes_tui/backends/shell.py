"""The shell text around a command: what is restored before it, and how what it changed is learned after it.

Every call is a fresh ``bash -c``. Two small files, staged once per environment, do the rest: ``enter`` goes to the
folder and restores variables, functions, aliases and options; ``leave`` writes them down again. ``leave`` runs at the
end and, by an EXIT trap, when the command exits by itself. Both use builtins only (no process is started) and run
under any bash from 3.2 on. Nothing of it is ever written to the command's output.

What lasts from call to call: exported and plain variables, arrays, functions, aliases, ``shopt`` options, umask and
the folder. What does not: ``set`` options (``set -e`` would end the session at the first failure) and traps.
"""

import shlex
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CALL_TAG: Final = "HERMES_TUI_CALL"
"""Environment variable by which the processes of a call are found again, wherever they hid."""

INLINE_LIMIT: Final = 100_000
"""Bytes of a command that go into the argument list; Linux takes 128 KiB per argument."""

CLOSED_CWD_CODE: Final = 126
"""Exit code where the folder asked for cannot be entered."""

# Variables that belong to the shell itself: restoring them would fail, or freeze what must move (RANDOM, SECONDS).
_OWN_VARIABLES: Final = " ".join(
    (
        " _ BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_COMPAT",
        "BASH_EXECUTION_STRING BASH_LINENO BASH_LOADABLES_PATH BASH_MONOSECONDS BASH_REMATCH BASH_SOURCE",
        "BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO BASH_VERSION COMP_CWORD COMP_KEY COMP_LINE COMP_POINT COMP_TYPE",
        "COMP_WORDBREAKS COMP_WORDS DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO OPTARG",
        f"OPTERR OPTIND PIPESTATUS PPID PWD RANDOM REPLY SECONDS SHELLOPTS SHLVL SRANDOM UID {CALL_TAG} ",
    )
)

# Every variable's name by initial: slower than ``compgen``, but part of every bash.
_ALL_NAMES: Final = " ".join(f'"${{!{initial}@}}"' for initial in string.ascii_letters + "_")

ENTER: Final = """\
__hermes_state=$1 __hermes_dir=$3 __hermes_prefix=$5 __hermes_only=' '
if [[ $4 ]]; then
  \\builtin cd -- "$3" 2>/dev/null || {
    \\builtin printf 'hermes-tui: cannot enter the folder %s\\n' "$3"
    \\builtin exit 126
  }
else
  until \\builtin cd -- "$__hermes_dir" 2>/dev/null; do
    __hermes_dir=${__hermes_dir%/*}
    [[ $__hermes_dir ]] || __hermes_dir=/
  done
  [[ $__hermes_dir == "$3" ]] ||
    \\builtin printf 'hermes-tui: the folder %s is gone or closed; running in %s\\n' "$3" "$__hermes_dir"
fi
__hermes_snapshot=$2
\\builtin shift 5
__hermes_given=()
for __hermes_name; do
  __hermes_given+=("$__hermes_name=${!__hermes_name}")
  \\builtin unset "$__hermes_name"
done
[[ -z $__hermes_state ]] || : >"$__hermes_state"  # before the session's own umask may forbid reading it
[[ -z $__hermes_snapshot ]] || . "$__hermes_snapshot" 2>/dev/null
[[ -n $__hermes_snapshot ]] || \\builtin shopt -s expand_aliases
if [[ $__hermes_state ]]; then
  \\builtin trap '{ . "${__hermes_state%/*}/leave"; } >/dev/null 2>&1' EXIT
  for __hermes_name; do
    __hermes_only+="$__hermes_name "
    \\builtin declare -p "$__hermes_name" 2>/dev/null
  done >>"$__hermes_state"
fi
for __hermes_name in "${__hermes_given[@]}"; do \\builtin export "$__hermes_name"; done
[[ -z $__hermes_prefix ]] || PATH=$__hermes_prefix:$PATH
"""
"""Arguments: file for the new state ('' keeps none), snapshot file (''), folder, '1' where the folder was asked for,
folder to put before PATH (''), names of variables that hold for this call only."""

LEAVE: Final = f"""\
if [[ ! ${{__hermes_left-}} ]]; then
  \\builtin trap - DEBUG ERR RETURN
  \\builtin set +euxvfC
  __hermes_left=1
  [[ ! $__hermes_prefix ]] || PATH=${{PATH//"$__hermes_prefix:"/}}
  if [[ $__hermes_only == ' ' ]] && \\builtin compgen -v >"$__hermes_state"; then
    IFS=$'\\n' \\builtin read -rd '' -a __hermes_names <"$__hermes_state"
    : >"$__hermes_state"
  else
    __hermes_names=({_ALL_NAMES})
  fi
  __hermes_case=-u
  ! \\builtin shopt -q nocasematch || __hermes_case=-s
  \\builtin shopt -u nocasematch
  __hermes_kept=()
  for __hermes_name in "${{__hermes_names[@]}}"; do
    [[ '{_OWN_VARIABLES}' == *" $__hermes_name "* || $__hermes_name == __hermes_* ||
       $__hermes_only == *" $__hermes_name "* ]] || __hermes_kept+=("$__hermes_name")
  done
  \\builtin shopt $__hermes_case nocasematch
  {{
    \\builtin declare -p "${{__hermes_kept[@]}}"
    \\builtin shopt -p
    \\builtin umask -p
    \\builtin printf 'shopt -u expand_aliases\\n'
    \\builtin declare -f
    ! \\builtin shopt -q expand_aliases || \\builtin printf 'shopt -s expand_aliases\\n'
    \\builtin alias -p
    \\builtin printf '\\0'
    \\builtin pwd -P || \\builtin printf '%s\\n' "$PWD"
    \\builtin printf '\\0'
  }} >>"$__hermes_state"
fi
"""


def command_line(
    directory: str,
    command: str,
    *,
    state: str,
    snapshot: str,
    cwd: str,
    explicit_cwd: bool,
    path_prefix: str = "",
    only_now: Sequence[str] = (),
) -> str:
    """Return the text for ``bash -c``.

    ``directory`` holds ``enter`` and ``leave``; ``command`` is shell text, on one line with what precedes it so that
    bash counts its lines from 1. ``only_now`` names variables of the process environment that hold for this call only.
    """
    arguments = [state, snapshot, cwd, "1" if explicit_cwd else "", path_prefix, *only_now]
    enter = shlex.join([".", f"{directory}/enter", *arguments])
    leave = f". {shlex.quote(directory + '/leave')}" if state else ":"
    return (
        f"{enter}; \\builtin eval -- {command}; "
        f"{{ __hermes_code=$?; \\builtin trap - DEBUG; {leave}; }} >/dev/null 2>&1; \\builtin exit $__hermes_code"
    )


def inline(command: str) -> str:
    """Return ``command`` as one shell word."""
    return shlex.quote(command)


def from_file(path: str) -> str:
    """Return a shell word that expands to the text in ``path``, for commands too long for an argument."""
    return f'"$(<{shlex.quote(path)})"'


@dataclass(frozen=True, slots=True)
class State:
    """What ``leave`` wrote: shell text that restores the session, and the folder."""

    snapshot: bytes
    cwd: str


def parse_state(data: bytes) -> State | None:
    """Return the state, or None where it is incomplete (shell killed, replaced by ``exec``, disk full)."""
    snapshot, first, rest = data.partition(b"\0")
    cwd, second, _ = rest.partition(b"\0")
    path = cwd.removesuffix(b"\n")
    if not first or not second or not path.startswith(b"/"):
        return None
    return State(snapshot, path.decode(errors="surrogateescape"))
