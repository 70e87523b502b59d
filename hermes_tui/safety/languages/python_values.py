"""What names and expressions of Python stand for: dotted names of functions, and text as far as it is known."""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import posixpath
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.values import UNKNOWN, is_literal

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

SHELL_CALLS = frozenset(
    (
        "os.system",
        "os.popen",
        "subprocess.getoutput",
        "subprocess.getstatusoutput",
        "commands.getoutput",
        "asyncio.create_subprocess_shell",
        "get_ipython.system",
        "sh.bash",
    )
)
PROCESSES = frozenset(
    (
        "subprocess.run",
        "subprocess.call",
        "subprocess.Popen",
        "subprocess.check_call",
        "subprocess.check_output",
        "asyncio.create_subprocess_exec",
        "pexpect.spawn",
        "pexpect.run",
    )
)
EXEC_CALLS = frozenset(
    f"os.{name}"
    for name in (
        "execl",
        "execle",
        "execlp",
        "execlpe",
        "execv",
        "execve",
        "execvp",
        "execvpe",
        "spawnl",
        "spawnle",
        "spawnlp",
        "spawnv",
        "spawnve",
        "spawnvp",
        "posix_spawn",
        "posix_spawnp",
        "startfile",
    )
)
DELETE_CALLS = frozenset(("os.remove", "os.unlink", "os.rmdir", "send2trash.send2trash"))
DELTREE_CALLS = frozenset(("shutil.rmtree", "os.removedirs", "distutils.dir_util.remove_tree"))
MOVE_CALLS = frozenset(("os.rename", "os.replace", "os.renames", "shutil.move"))
DANGEROUS_MODULES = frozenset(
    ("os", "subprocess", "shutil", "pty", "ctypes", "socket", "importlib", "builtins", "pathlib", "sys")
)


class Values:
    """Names and texts of one module, filled by ``bind`` for each node before its calls are looked at."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.names: dict[str, str] = {}
        """Local name -> dotted name of what was imported or given another name."""
        self.values: dict[str, str] = {}
        """Variables that hold known text."""
        self.paths: dict[str, str] = {}

    def bind(self, node: ast.AST) -> None:
        """Take up what a statement binds: imports, assignments, loop variables."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                if alias.name == "*" and node.module in DANGEROUS_MODULES:
                    for name in SHELL_CALLS | DELETE_CALLS | DELTREE_CALLS | PROCESSES | EXEC_CALLS | MOVE_CALLS:
                        module, _, function = name.rpartition(".")
                        if module == node.module:
                            self.names[function] = name
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            target = node.targets[0].id
            if (value := self.text(node.value)) is not None:
                self.values[target] = value
            elif dotted := self.dotted(node.value):
                self.names[target] = dotted
        elif (
            isinstance(node, ast.For)
            and isinstance(node.target, ast.Name)
            and (value := self.text(node.iter)) is not None
        ):
            self.values[node.target.id] = value

    # -- values -------------------------------------------------------------------------------------------------------

    def dotted(self, node: ast.AST) -> str:
        """Return the dotted name that an expression stands for, empty where it is none."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else f"?.{node.attr}"
        if isinstance(node, ast.Call):
            function = self.dotted(node.func)
            if function in ("__import__", "importlib.import_module") and node.args:
                return self.text(node.args[0]) or "?"
            if function == "getattr" and len(node.args) > 1:
                name = self.text(node.args[1])
                return f"{self.dotted(node.args[0])}.{name}" if name is not None and is_literal(name) else "?getattr"
            return f"{function}()" if function else ""
        return ""

    def text(self, node: ast.AST | None, depth: int = 0) -> str | None:
        """Return the text of an expression, with marks for what is not known; None where it is no text at all."""
        if node is None or depth > 12:
            return None
        if isinstance(node, ast.Constant):
            value = node.value
            return (
                value
                if isinstance(value, str)
                else value.decode(errors="replace")
                if isinstance(value, bytes)
                else None
            )
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
            left, right = self.text(node.left, depth + 1), self.text(node.right, depth + 1)
            if left is None and right is None:
                return None
            if isinstance(node.op, ast.Div):
                return posixpath.join(left or UNKNOWN, right or UNKNOWN)
            return (left if left is not None else UNKNOWN) + (right if right is not None else UNKNOWN)
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Mult)
            and isinstance(node.right, ast.Constant)
            and isinstance(node.right.value, int)
        ):
            left = self.text(node.left, depth + 1)
            return left * min(node.right.value, 1000) if left is not None else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            left = self.text(node.left, depth + 1)
            return None if left is None else UNKNOWN if not is_literal(left) else left.replace("%s", UNKNOWN)
        if isinstance(node, ast.JoinedStr):
            return "".join(self.text(value, depth + 1) or UNKNOWN for value in node.values)
        if isinstance(node, ast.FormattedValue):
            return self.text(node.value, depth + 1) or UNKNOWN
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            value = self.text(node.value, depth + 1)
            step = node.slice.step
            backwards = (
                isinstance(step, ast.UnaryOp)
                and isinstance(step.op, ast.USub)
                and isinstance(step.operand, ast.Constant)
                and step.operand.value == 1
            )
            return (
                None
                if value is None
                else value[::-1]
                if backwards and node.slice.lower is None and node.slice.upper is None
                else UNKNOWN
            )
        if isinstance(node, ast.Call):
            return self._text_of_call(node, depth + 1)
        return None

    def _text_of_call(self, node: ast.Call, depth: int) -> str | None:  # noqa: C901 - one branch per function
        function = self.dotted(node.func)
        name = function.rpartition(".")[2]
        first = self.text(node.args[0], depth) if node.args else None
        if function in (
            "pathlib.Path",
            "Path",
            "pathlib.PurePath",
            "pathlib.PosixPath",
            "str",
            "os.fspath",
            "os.path.abspath",
            "os.path.realpath",
            "bytes",
            "os.path.normpath",
        ):
            if not node.args:
                return "."
            if len(node.args) > 1 and "ath" in function:
                return posixpath.join(*(self.text(arg, depth) or UNKNOWN for arg in node.args))
            return first if first is not None else UNKNOWN
        if function == "os.path.join":
            return posixpath.join(*(self.text(arg, depth) or UNKNOWN for arg in node.args)) if node.args else None
        if function == "os.path.expanduser" or name == "expanduser":
            text = first if node.args else self.receiver(node, depth)
            return self._home(text)
        if function in ("pathlib.Path.home", "Path.home"):
            return self.machine.home
        if function in ("pathlib.Path.cwd", "Path.cwd", "os.getcwd"):
            return self.machine.folder()
        if function in ("os.getenv", "os.environ.get"):
            return self.machine.home if first == "HOME" else UNKNOWN
        if function in (
            "base64.b64decode",
            "base64.standard_b64decode",
            "base64.decodebytes",
            "base64.urlsafe_b64decode",
            "base64.b32decode",
            "base64.b16decode",
            "binascii.unhexlify",
            "bytes.fromhex",
            "bytearray.fromhex",
            "codecs.decode",
            "urllib.parse.unquote",
            "zlib.decompress",
        ):
            return self._decoded(function, node, first, depth)
        if (
            function == "chr"
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, int)
        ):
            return chr(node.args[0].value) if 0 <= node.args[0].value < 0x110000 else None
        if name in (
            "decode",
            "encode",
            "strip",
            "lower",
            "upper",
            "replace",
            "format",
            "resolve",
            "absolute",
            "rstrip",
            "lstrip",
            "as_posix",
            "title",
        ):
            text = self.receiver(node, depth)
            if text is None:
                return None
            if name in ("lower", "upper"):
                return text.lower() if name == "lower" else text.upper()
            if name == "replace" and len(node.args) == 2:
                old, new = first, self.text(node.args[1], depth)
                return text.replace(old, new) if old is not None and new is not None else UNKNOWN
            return text.strip() if name == "strip" and not node.args else UNKNOWN if name == "format" else text
        if name == "join" and node.args and isinstance(node.args[0], ast.List | ast.Tuple):
            separator = self.receiver(node, depth)
            pieces = [self.text(item, depth) for item in node.args[0].elts]
            return (
                None
                if separator is None
                else separator.join(piece if piece is not None else UNKNOWN for piece in pieces)
            )
        if name == "join" and node.args:
            return UNKNOWN if self.receiver(node, depth) is not None else None
        if name in ("glob", "rglob", "iterdir", "listdir", "scandir", "walk"):
            base = self.receiver(node, depth) if "os." not in function and function != "glob.glob" else first
            return posixpath.join(base or ".", UNKNOWN)
        if name in ("joinpath", "with_name", "with_suffix"):
            base = self.receiver(node, depth)
            return (
                None
                if base is None
                else posixpath.join(base, *(self.text(arg, depth) or UNKNOWN for arg in node.args))
                if name == "joinpath"
                else posixpath.join(posixpath.dirname(base), UNKNOWN)
            )
        return None

    def receiver(self, node: ast.Call, depth: int) -> str | None:
        return self.text(node.func.value, depth) if isinstance(node.func, ast.Attribute) else None

    def _home(self, text: str | None) -> str:
        if text is None:
            return UNKNOWN
        return self.machine.home + text[1:] if text == "~" or text.startswith("~/") else text

    def _decoded(self, function: str, node: ast.Call, text: str | None, depth: int) -> str:
        if text is None or not is_literal(text):
            return UNKNOWN
        try:
            if "b32" in function:
                return base64.b32decode(text).decode(errors="replace")
            if "hex" in function or "b16" in function:
                return bytes.fromhex(text).decode(errors="replace")
            if function == "codecs.decode":
                encoding = self.text(node.args[1], depth) if len(node.args) > 1 else None
                if encoding in ("rot13", "rot_13"):
                    return codecs.decode(text, "rot13")
                return bytes.fromhex(text).decode(errors="replace") if encoding == "hex" else UNKNOWN
            if "64" in function or "bytes" in function:
                return base64.b64decode(text, altchars=b"-_" if "urlsafe" in function else None).decode(
                    errors="replace"
                )
        except (binascii.Error, ValueError):
            return UNKNOWN
        return UNKNOWN
