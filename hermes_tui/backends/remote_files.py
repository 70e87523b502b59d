"""Files of a remote backend through short bash scripts there, for places that offer nothing better."""

import os
import shlex
import stat as stat_module
from abc import ABC, abstractmethod
from typing import Final

from hermes_tui.backends.remote import HELPER_TIMEOUT_S
from hermes_tui.protocol.environment import EnvironmentFailure, FileStat

# Exit codes of the scripts below, beside 0 and whatever a program returns.
_CODES: Final[dict[int, type[OSError]]] = {
    71: FileNotFoundError,
    72: IsADirectoryError,
    73: NotADirectoryError,
    74: PermissionError,
    75: FileExistsError,
}
_ERRNO: Final = {71: 2, 72: 21, 73: 20, 74: 13, 75: 17}

_CHECK_PARENT: Final = """\
parent=${path%/*}; [[ $parent ]] || parent=/
[[ -e $parent ]] || exit 71
[[ -d $parent ]] || exit 73
"""
_RESOLVE: Final = """\
rest=
while [[ ! -e $path && ! -L $path && $path == */* && $path != / ]]; do
  rest=/${path##*/}$rest path=${path%/*}; [[ $path ]] || path=/
done
real=$(readlink -f -- "$path"; printf x); real=${real%x}; real=${real%$'\\n'}
[[ $real ]] || real=$path
[[ $real != / || ! $rest ]] || real=
path=$real$rest
"""
_STAT_FORMAT: Final = "%f %s %Y"


class ScriptFiles(ABC):
    """The file half of an environment. Paths may be relative to its folder or begin with ``~``."""

    @property
    @abstractmethod
    def cwd(self) -> str: ...

    @property
    @abstractmethod
    def home(self) -> str: ...

    @abstractmethod
    def _helper(self, script: str, data: bytes = b"", *, timeout: float = HELPER_TIMEOUT_S) -> tuple[int, bytes]: ...

    @abstractmethod
    def _files_ready(self) -> None:
        """Make sure that the place is up and its folder known."""

    def read_bytes(self, path: str, *, limit: int | None = None) -> bytes:
        take = "cat" if limit is None else f"head -c {int(limit)}"
        return self._do(
            path,
            f'[[ -e $path ]] || exit 71; [[ ! -d $path ]] || exit 72; [[ -r $path ]] || exit 74\n{take} <"$path"',
            timeout=300,
        )

    def write_bytes(self, path: str, data: bytes) -> None:
        """Write atomically. A link is followed, an existing file keeps its mode and owner."""
        self._do(
            path,
            f"{_RESOLVE}[[ ! -d $path ]] || exit 72\n{_CHECK_PARENT}"
            '[[ ! -e $path || -f $path ]] || { cat >"$path"; exit; }\n'
            "[[ -w $parent ]] || exit 74\n"
            'fresh=$(mktemp "$parent/.hermes-tui-XXXXXXXX") || exit\n'
            f'head -c {len(data)} >"$fresh" && [[ $(wc -c <"$fresh") -eq {len(data)} ]] ||'
            ' { rm -f "$fresh"; exit 5; }\n'
            "if [[ -e $path ]]; then\n"
            '  facts=$(stat -c "%u:%g %a" "$path")\n'
            '  chown "${facts% *}" "$fresh" 2>/dev/null; chmod "${facts#* }" "$fresh"\n'
            'else chmod "$(printf %o $((0666 & ~0$(umask))))" "$fresh"; fi\n'
            'mv -f -- "$fresh" "$path" || { rm -f "$fresh"; exit 5; }',
            data,
            timeout=300,
        )

    def stat(self, path: str) -> FileStat | None:
        try:
            answer = self._do(path, f'[[ -e $path ]] || exit 71\nstat -L -c "{_STAT_FORMAT}" -- "$path"')
        except (FileNotFoundError, NotADirectoryError):
            return None
        return _parse(self._absolute(path), answer.decode())

    def list_dir(self, path: str) -> list[FileStat]:
        answer = self._do(
            path,
            "[[ -e $path ]] || exit 71; [[ -d $path ]] || exit 73; [[ -r $path ]] || exit 74\n"
            'cd -- "$path" || exit 74; shopt -s dotglob nullglob; files=(*)\n'
            'for file in "${files[@]}"; do\n'
            f'  facts=$(stat -L -c "{_STAT_FORMAT}" -- "$file" 2>/dev/null ||'
            f' stat -c "{_STAT_FORMAT}" -- "$file") || continue\n'
            '  printf "%s\\0%s\\0" "$facts" "$file"\ndone',
        )
        fields = answer.decode(errors="surrogateescape").split("\0")
        folder = self._absolute(path).rstrip("/")
        rows = [_parse(f"{folder}/{name}", facts) for facts, name in zip(fields[::2], fields[1::2], strict=False)]
        return sorted(rows, key=lambda row: row.path)

    def make_dirs(self, path: str) -> None:
        self._do(path, '[[ ! -e $path || -d $path ]] || exit 75\nmkdir -p -- "$path" || exit 74')

    def remove(self, path: str) -> None:
        self._do(
            path,
            "[[ -e $path || -L $path ]] || exit 71; [[ ! -d $path || -L $path ]] || exit 72\n"
            'rm -f -- "$path" || exit 74',
        )

    def rename(self, source: str, target: str) -> None:
        target = shlex.quote(self._absolute(target))
        self._do(
            source,
            f"[[ -e $path || -L $path ]] || exit 71; target={target}; [[ -d ${{target%/*}}/ ]] || exit 71\n"
            '[[ ! -d $target || -d $path ]] || exit 72\nmv -f -- "$path" "$target" || exit 74',
        )

    def realpath(self, path: str) -> str:
        answer = self._do(path, f'{_RESOLVE}printf %s "$path"').decode(errors="surrogateescape")
        return os.path.normpath(answer)

    def _do(self, path: str, script: str, data: bytes = b"", *, timeout: float = HELPER_TIMEOUT_S) -> bytes:
        if "\0" in path:
            raise ValueError("embedded null byte")
        self._files_ready()
        absolute = self._absolute(path)
        code, answer = self._helper(f"path={shlex.quote(absolute)}\n{script}", data, timeout=timeout)
        if code in _CODES:
            raise _CODES[code](_ERRNO[code], os.strerror(_ERRNO[code]), absolute)
        if code != 0:
            raise OSError(5, f"exit code {code} at the other side (disk full?)", absolute)
        return answer

    def _absolute(self, path: str) -> str:
        if path == "~" or path.startswith("~/"):
            return self.home + path[1:]
        return path if path.startswith("/") else f"{self.cwd.rstrip('/')}/{path}"


def _parse(path: str, facts: str) -> FileStat:
    try:
        mode_text, size, mtime = facts.split()
        mode = int(mode_text, 16)
        return FileStat(path, stat_module.S_ISDIR(mode), int(size), float(mtime), stat_module.S_IMODE(mode))
    except ValueError as error:
        raise EnvironmentFailure(f"The machine answered {facts!r} when asked about {path}.") from error
