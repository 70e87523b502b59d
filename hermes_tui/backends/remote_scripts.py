"""The shell text that runs at the other side of a remote backend: the runner of a call, and the one that ends it.

The files are staged once per environment beside ``enter`` and ``leave`` (see ``shell.py``). They use what any
image has: bash from 3.2 on, ``env``, ``rm`` and a ``grep`` with ``-z``.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from hermes_tui.backends import shell

BEGIN: Final = b"\0hermes-begin "
"""Comes before the output, with the runner's process id and a newline; what a login shell printed stands before it."""
END: Final = b"\0hermes-end\0"
"""Comes after all that the command wrote while its shell lived."""
EXIT: Final = b"\0hermes-exit "
"""On the side channel after the session's state, with the exit code and a newline."""

RUN: Final = f"""\
if [[ $1 == - || $1 == @* ]]; then
  [[ $1 == - ]] && exec 6<&0 || exec 6<"${{1#@}}"
  IFS= read -u 6 -rd '' count
  args=()
  while ((count-- > 0)); do
    IFS= read -u 6 -rd '' arg
    args+=("$arg")
  done
  exec 6<&-
  set -- "${{args[@]}}"
fi
state=$1 mode=$2 script=$3
shift 3
[[ $BASH == /* ]] || BASH=$(type -P bash)
options=(-c)
[[ $mode != *pty* ]] || set -- TERM=xterm-256color "$@"
case $mode in
  *restored*) set -- -i "$@" ;;
  *login*) options=(-l -c) ;;
esac
case $mode in
  *pty*) exec env "$@" "$BASH" "${{options[@]}}" "$script" bash ;;
esac
printf '\\0{BEGIN[1:].decode()}%d\\n' $$
exec 7>&2 2>/dev/null
env "$@" "$BASH" "${{options[@]}}" "$script" bash 2>&1 7>&-
code=$?
printf '\\0{END[1:-1].decode()}\\0'
{{
  [[ -z $state ]] || while IFS= read -rd '' part; do printf '%s\\0' "$part"; done <"$state"
  printf '\\0{EXIT[1:].decode()}%d\\n' $code
}} >&7
exec </dev/null >/dev/null 7>&-
[[ -z $state ]] || rm -f -- "$state"
exit $code
"""
"""Arguments: file for the session's state (''), mode words, script, then ``NAME=VALUE`` for the environment. With the
one argument ``-`` all of these come at the head of the input instead (``@PATH``: in that file), each ended by a NUL,
their number first.

The mode ``restored`` empties the environment, ``login`` reads the profile, ``pty`` leaves out all marks."""

END_TREE: Final = f"""\
tag=$1 leader=$2 signal=$3
look() {{
  local file line pid grew=1
  local -a fields rows=()
  found=' ' living=()
  for file in $(grep -lzF -- '{shell.CALL_TAG}='"$tag" /proc/[0-9]*/environ 2>/dev/null); do
    file=${{file#/proc/}}
    found+="${{file%/*}} "
  done
  for file in /proc/[0-9]*/stat; do
    IFS= read -r line <"$file" || continue
    pid=${{line%% *}}
    fields=(${{line##*) }})
    [[ ${{fields[0]}} == [ZX] ]] && continue
    [[ ${{fields[3]}} != "$leader" ]] || found+="$pid "
    rows+=("$pid ${{fields[1]}}")
  done 2>/dev/null
  while [[ $grew ]]; do
    grew=
    for line in "${{rows[@]}}"; do
      [[ $found == *" ${{line#* }} "* && $found != *" ${{line% *}} "* ]] || continue
      found+="${{line% *}} " grew=1
    done
  done
  for line in "${{rows[@]}}"; do
    [[ $found != *" ${{line% *}} "* ]] || living+=("${{line% *}}")
  done
}}
[[ -e /proc/self/stat ]] || look() {{ ! kill -0 -- "-$leader" || living=("-$leader"); }} 2>/dev/null
living=()
look
if [[ $signal && $living ]]; then
  kill -"$signal" -- "${{living[@]}}" 2>/dev/null
  for _ in 1 2 3 4 5 6; do
    living=()
    look
    [[ $living ]] || break
    [[ $signal != KILL ]] || kill -KILL -- "${{living[@]}}" 2>/dev/null
  done
fi
printf '%d' "${{#living[@]}}"
"""
"""Arguments: the call's tag or the head of it, process id of the runner (0: unknown), signal ('' only counts).

Ends what carries the tag in its environment, is in the runner's session, or descends from one of these, waits for a
moment and prints how many are left. Without ``/proc`` only the process group is known."""


def stage_script(parents: str, old: str, snapshot: bytes | None) -> str:
    """Return text for bash that makes a private folder with all files and prints its path.

    ``parents`` is shell text: words for the folders to try, best first. The folder ``old`` is removed.
    """
    files = {"enter": shell.ENTER, "leave": shell.LEAVE, "run": RUN, "end": END_TREE}
    lines = [
        "umask 077",
        f"for parent in {parents}; do",
        '  [[ -d $parent && -w $parent ]] && folder=$(mktemp -d "$parent/hermes-tui-XXXXXXXX") && break',
        "done",
        "[[ $folder ]] || exit 1",
        *(f'printf %s {shlex.quote(text)} >"$folder/{name}" || exit 1' for name, text in files.items()),
    ]
    if snapshot is not None:
        text = snapshot.decode(errors="surrogateescape")
        lines.append(f'printf %s {shlex.quote(text)} >"$folder/snapshot" || exit 1')
    if old:
        lines.append(f"rm -rf -- {shlex.quote(old)}")
    lines.append('printf "%s\\n%s" "$folder" "$HOME"')
    return "\n".join(lines) + "\n"


def helper_text(script: str) -> str:
    """Return ``script`` with marks around its output, so that nobody has to wait for the end of the stream.

    The end of a stream can come seconds late: Docker holds back the ends of all execs of a container while a child of
    one that ended keeps its output open.
    """
    return f"printf '\\0{BEGIN[1:].decode()}0\\n'\n(\n{script}\n)\nprintf '\\0{END[1:-1].decode()}\\0%d\\n' $?\n"


def helper_answer(output: bytearray) -> tuple[int, bytes] | None:
    """Return exit code and output of a finished ``helper_text``, None where it has not ended."""
    end = output.rfind(END, max(0, len(output) - len(END) - 5))
    if end < 0 or not output.endswith(b"\n"):
        return None
    start = output.find(b"\n", output.find(BEGIN)) + 1
    return int(output[end + len(END) :]), bytes(output[start:end])


def run_arguments(state: str, mode: str, script: str, env: Mapping[str, str]) -> list[str]:
    """Return the arguments of ``RUN``."""
    return [state, mode, script, *(f"{name}={value}" for name, value in env.items())]


def run_header(arguments: Sequence[str]) -> bytes:
    """Return the same as the head of the input, for places where arguments pass through an unknown shell."""
    return b"".join(field.encode(errors="surrogateescape") + b"\0" for field in [str(len(arguments)), *arguments])
