"""Reading Python: calls that start processes, change files or send, found in the syntax tree."""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import posixpath
import warnings
from typing import TYPE_CHECKING

from hermes_tui.safety.shell.values import UNKNOWN, is_literal
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

MAX_NODES = 4000

_SHELL = frozenset(
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
_PROCESS = frozenset(
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
_EXEC = frozenset(
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
_DELETE = frozenset(("os.remove", "os.unlink", "os.rmdir", "send2trash.send2trash"))
_DELTREE = frozenset(("shutil.rmtree", "os.removedirs", "distutils.dir_util.remove_tree"))
_MOVE = frozenset(("os.rename", "os.replace", "os.renames", "shutil.move"))
_COPY = frozenset(("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "os.link", "os.symlink"))
_WRITE = frozenset(("os.truncate", "os.mknod", "shutil.make_archive", "numpy.save", "pickle.dump_to"))
_MODE = frozenset(("os.chmod", "os.chown", "os.lchown", "shutil.chown"))
_UNKNOWN_CODE = frozenset(
    (
        "marshal.loads",
        "pickle.loads",
        "pickle.load",
        "dill.loads",
        "cloudpickle.loads",
        "yaml.unsafe_load",
        "runpy.run_path",
        "runpy.run_module",
        "importlib.reload",
        "imp.load_source",
        "ctypes.CDLL",
        "ctypes.cdll.LoadLibrary",
        "code.interact",
        "pty.spawn",
        "types.FunctionType",
        "types.CodeType",
        "torch.load",
        "joblib.load",
    )
)
_SEND = frozenset(
    [
        f"{lib}.{verb}"
        for lib in ("requests", "httpx", "aiohttp", "session", "client")
        for verb in ("post", "put", "patch", "delete", "request")
    ]
    + [
        "smtplib.SMTP",
        "smtplib.SMTP_SSL",
        "ftplib.FTP",
        "socket.socket",
        "socket.create_connection",
        "paramiko.SSHClient",
        "telnetlib.Telnet",
        "http.client.HTTPConnection",
        "http.client.HTTPSConnection",
        "urllib3.request",
    ]
)
_FETCH = frozenset(
    (
        "requests.get",
        "httpx.get",
        "urllib.request.urlopen",
        "urlopen",
        "urllib.request.urlretrieve",
        "requests.head",
        "urllib2.urlopen",
    )
)
_PATH_DELETE = frozenset(("unlink", "rmdir", "rmtree"))
_PATH_WRITE = frozenset(("write_text", "write_bytes"))
_DB_DROP = frozenset(
    (
        "drop_all",
        "drop_database",
        "dropDatabase",
        "drop_collection",
        "drop_table",
        "delete_many",
        "flushall",
        "flushdb",
        "drop_index",
        "delete_bucket",
        "delete_table",
        "terminate_instances",
        "delete_object",
        "delete_objects",
        "truncate_table",
    )
)
_SQL_CALLS = frozenset(("execute", "executescript", "executemany", "raw", "exec_driver_sql", "text"))
_ALIASES = {"sp": "subprocess"}
_DANGEROUS_MODULES = frozenset(
    ("os", "subprocess", "shutil", "pty", "ctypes", "socket", "importlib", "builtins", "pathlib", "sys")
)


def read(machine: Machine, language: str, text: str) -> None:
    """Follow Python source. What does not parse is run by nobody, yet IPython's ``!`` lines are."""
    if "!" in text and any(line.lstrip().startswith(("!", "%")) for line in text.split("\n")):
        lines = text.split("\n")
        for line in lines:
            if line.lstrip().startswith("!"):
                machine.run_shell(line.lstrip()[1:].lstrip("!"))
            elif line.lstrip().startswith(("%sx ", "%system ", "%%bash", "%%sh")):
                machine.run_shell(line.partition(" ")[2])
        text = "\n".join("pass" if line.lstrip().startswith(("!", "%")) else line for line in lines)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        machine.unresolved("Python code that could not be read")
        return
    try:
        _Reader(machine).follow(tree)
    except RecursionError:
        machine.unresolved("Python code is nested too deeply")


class _Reader:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.names: dict[str, str] = {}
        """Local name -> dotted name of what was imported or given another name."""
        self.values: dict[str, str] = {}
        """Variables that hold known text."""
        self.paths: dict[str, str] = {}

    def follow(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        if len(nodes) > MAX_NODES:
            self.machine.unresolved("Python code is too long to follow")
            return
        for node in nodes:
            self._bind(node)
        for node in nodes:
            if isinstance(node, ast.Call):
                self._call(node)
            elif (
                isinstance(node, ast.While)
                and _endless(node)
                and any(
                    self._dotted(call.func) in ("os.fork", "subprocess.Popen", "os.spawnl")
                    for call in ast.walk(node)
                    if isinstance(call, ast.Call)
                )
            ):
                self.machine.add(Verb.DOS, "Starts processes without end")
            elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.For) and self._forks(node):
                self.machine.add(Verb.DOS, "Starts copies of itself without end")
            elif isinstance(node, ast.Attribute) and node.attr in (
                "__subclasses__",
                "__globals__",
                "__builtins__",
                "__code__",
            ):
                self._unknown("reaches into Python's own insides")
            elif isinstance(node, ast.Subscript) and self._dotted(node.value) in (
                "globals()",
                "sys.modules",
                "__builtins__",
                "builtins.__dict__",
                "__builtins__.__dict__",
            ):
                self._unknown("picks a function by name")

    def _forks(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.For) -> bool:
        """Return whether a loop forks; one over a written-out list or a small range is honest."""
        source = node.iter if isinstance(node, ast.For) else node.generators[0].iter
        small = isinstance(source, ast.List | ast.Tuple) or (
            isinstance(source, ast.Call)
            and self._dotted(source.func) == "range"
            and all(
                isinstance(arg, ast.Constant) and isinstance(arg.value, int) and arg.value <= 64 for arg in source.args
            )
        )
        return not small and any(
            isinstance(each, ast.Call) and self._dotted(each.func) == "os.fork" for each in ast.walk(node)
        )

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                if alias.name == "*" and node.module in _DANGEROUS_MODULES:
                    for name in _SHELL | _DELETE | _DELTREE | _PROCESS | _EXEC | _MOVE:
                        module, _, function = name.rpartition(".")
                        if module == node.module:
                            self.names[function] = name
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            target = node.targets[0].id
            if (value := self._text(node.value)) is not None:
                self.values[target] = value
            elif dotted := self._dotted(node.value):
                self.names[target] = dotted
        elif (
            isinstance(node, ast.For)
            and isinstance(node.target, ast.Name)
            and (value := self._text(node.iter)) is not None
        ):
            self.values[node.target.id] = value

    # -- values -------------------------------------------------------------------------------------------------------

    def _dotted(self, node: ast.AST) -> str:
        """Return the dotted name that an expression stands for, empty where it is none."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            base = self._dotted(node.value)
            return f"{base}.{node.attr}" if base else f"?.{node.attr}"
        if isinstance(node, ast.Call):
            function = self._dotted(node.func)
            if function in ("__import__", "importlib.import_module") and node.args:
                return self._text(node.args[0]) or "?"
            if function == "getattr" and len(node.args) > 1:
                name = self._text(node.args[1])
                return f"{self._dotted(node.args[0])}.{name}" if name is not None and is_literal(name) else "?getattr"
            return f"{function}()" if function else ""
        return ""

    def _text(self, node: ast.AST | None, depth: int = 0) -> str | None:
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
            left, right = self._text(node.left, depth + 1), self._text(node.right, depth + 1)
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
            left = self._text(node.left, depth + 1)
            return left * min(node.right.value, 1000) if left is not None else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            left = self._text(node.left, depth + 1)
            return None if left is None else UNKNOWN if not is_literal(left) else left.replace("%s", UNKNOWN)
        if isinstance(node, ast.JoinedStr):
            return "".join(self._text(value, depth + 1) or UNKNOWN for value in node.values)
        if isinstance(node, ast.FormattedValue):
            return self._text(node.value, depth + 1) or UNKNOWN
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            value = self._text(node.value, depth + 1)
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
        function = self._dotted(node.func)
        name = function.rpartition(".")[2]
        first = self._text(node.args[0], depth) if node.args else None
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
                return posixpath.join(*(self._text(arg, depth) or UNKNOWN for arg in node.args))
            return first if first is not None else UNKNOWN
        if function == "os.path.join":
            return posixpath.join(*(self._text(arg, depth) or UNKNOWN for arg in node.args)) if node.args else None
        if function == "os.path.expanduser" or name == "expanduser":
            text = first if node.args else self._receiver(node, depth)
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
            text = self._receiver(node, depth)
            if text is None:
                return None
            if name in ("lower", "upper"):
                return text.lower() if name == "lower" else text.upper()
            if name == "replace" and len(node.args) == 2:
                old, new = first, self._text(node.args[1], depth)
                return text.replace(old, new) if old is not None and new is not None else UNKNOWN
            return text.strip() if name == "strip" and not node.args else UNKNOWN if name == "format" else text
        if name == "join" and node.args and isinstance(node.args[0], ast.List | ast.Tuple):
            separator = self._receiver(node, depth)
            pieces = [self._text(item, depth) for item in node.args[0].elts]
            return (
                None
                if separator is None
                else separator.join(piece if piece is not None else UNKNOWN for piece in pieces)
            )
        if name == "join" and node.args:
            return UNKNOWN if self._receiver(node, depth) is not None else None
        if name in ("glob", "rglob", "iterdir", "listdir", "scandir", "walk"):
            base = self._receiver(node, depth) if "os." not in function and function != "glob.glob" else first
            return posixpath.join(base or ".", UNKNOWN)
        if name in ("joinpath", "with_name", "with_suffix"):
            base = self._receiver(node, depth)
            return (
                None
                if base is None
                else posixpath.join(base, *(self._text(arg, depth) or UNKNOWN for arg in node.args))
                if name == "joinpath"
                else posixpath.join(posixpath.dirname(base), UNKNOWN)
            )
        return None

    def _receiver(self, node: ast.Call, depth: int) -> str | None:
        return self._text(node.func.value, depth) if isinstance(node.func, ast.Attribute) else None

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
                encoding = self._text(node.args[1], depth) if len(node.args) > 1 else None
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

    # -- calls --------------------------------------------------------------------------------------------------------

    def _unknown(self, why: str) -> None:
        self.machine.add(Verb.EXEC_UNKNOWN, f"Runs Python code that {why}", scope=Scope.UNKNOWN)

    def _argument(self, node: ast.Call, index: int, *keywords: str) -> ast.AST | None:
        if index < len(node.args):
            return node.args[index]
        return next((keyword.value for keyword in node.keywords if keyword.arg in keywords), None)

    def _call(self, node: ast.Call) -> None:  # noqa: C901 - one branch per family of calls
        machine = self.machine
        function = self._dotted(node.func)
        name = function.rpartition(".")[2]
        if function in ("exec", "eval", "compile", "builtins.exec", "builtins.eval", "execfile", "builtins.compile"):
            code = self._text(self._argument(node, 0, "source"))
            if code is None or not is_literal(code):
                self._unknown("is made while it runs")
            else:
                read(machine, "python", code)
        elif function in ("__import__", "importlib.import_module"):
            module = self._text(self._argument(node, 0, "name"))
            if module is None or not is_literal(module):
                self._unknown("loads a module by a computed name")
        elif (
            function == "?getattr"
            or function.startswith("?getattr")
            or (
                function == "getattr"
                and len(node.args) > 1
                and self._dotted(node.args[0]) in _DANGEROUS_MODULES
                and self._text(node.args[1]) is None
            )
        ):
            self._unknown("calls a function by a computed name")
        elif function in _SHELL:
            self._shell(self._argument(node, 0, "cmd", "command", "argv"))
        elif function in _PROCESS or name in ("Popen", "check_call", "check_output", "getoutput"):
            self._process(node)
        elif function in _EXEC:
            self._exec(node)
        elif function in _DELETE:
            self._delete(self._argument(node, 0, "path"))
        elif function in _DELTREE:
            self._delete(self._argument(node, 0, "path"), recursive=True)
        elif function in _MOVE:
            source, target = self._text(self._argument(node, 0, "src")), self._text(self._argument(node, 1, "dst"))
            goal = target if target is not None else UNKNOWN
            machine.move(
                source if source is not None else UNKNOWN, goal, into=machine.is_folder(goal) and name == "move"
            )
        elif function in _COPY:
            source = self._text(self._argument(node, 0, "src"))
            if source is not None:
                machine.read(source, recursive=name == "copytree")
            target = self._text(self._argument(node, 1, "dst"))
            machine.write(target if target is not None else UNKNOWN)
        elif function in _WRITE:
            machine.write(self._text(self._argument(node, 0, "path")) or UNKNOWN)
        elif function in _MODE:
            self._mode(node)
        elif function in ("open", "io.open", "codecs.open", "builtins.open", "os.open") or (
            name == "open" and function.startswith(("pathlib", "Path", "?"))
        ):
            self._open(node, function)
        elif function in _UNKNOWN_CODE:
            self._unknown(f"comes from elsewhere ({function})")
        elif function in _SEND:
            self._send(node, function)
        elif function in _FETCH or name == "urlopen":
            self._fetch(node)
        elif function == "os.kill":
            pid = node.args[0] if node.args else None
            everything = isinstance(pid, ast.UnaryOp)
            machine.add(Verb.DOS if everything else Verb.KILL, "Ends every process" if everything else "Ends a process")
        elif isinstance(node.func, ast.Attribute):
            self._method(node, name, function)

    def _method(self, node: ast.Call, name: str, function: str) -> None:
        machine = self.machine
        receiver = self._text(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if name in _PATH_DELETE:
            machine.delete(receiver if receiver is not None else UNKNOWN, recursive=name == "rmtree")
        elif name in _PATH_WRITE or (name == "touch" and receiver is not None):
            machine.write(receiver if receiver is not None else UNKNOWN, append=name == "touch")
        elif (
            name in ("rename", "replace")
            and receiver is not None
            and len(node.args) == 1
            and "ath" in self._dotted(node.func.value if isinstance(node.func, ast.Attribute) else node)
        ):
            machine.move(receiver, self._text(node.args[0]) or UNKNOWN, into=False)
        elif name == "chmod" and receiver is not None:
            machine.permissions(receiver, says="Changes the rights of", recursive=False)
        elif name in _DB_DROP or (
            name == "drop"
            and "pandas" not in function
            and "df" not in function
            and not node.keywords
            and "()" in function
        ):
            machine.add(Verb.DB_DROP, f"Deletes data: {name}()", function)
        elif name in _SQL_CALLS and node.args and (text := self._text(node.args[0])) is not None:
            from hermes_tui.safety.languages.sql import read as read_sql

            if is_literal(text):
                read_sql(machine, "sql", text)
        elif name in ("extractall", "extract", "unpack_archive") and len(node.args) + len(node.keywords):
            target = self._text(self._argument(node, 1 if name != "extractall" else 0, "path", "extract_dir"))
            if target is not None:
                machine.write(target, into=machine.locate(target).scope not in (Scope.WORKSPACE, Scope.TEMP))
        elif name in ("connect", "connect_ex") and node.args and isinstance(node.args[0], ast.Tuple):
            from hermes_tui.safety.programs.roles import LOCAL_HOST

            host = self._text(node.args[0].elts[0]) if node.args[0].elts else None
            if host is None or not LOCAL_HOST.match(host):
                machine.add(Verb.NET_SEND, f"Opens a connection to {host or 'a host'}", host or function, Scope.REMOTE)
        elif name in (
            "sendall",
            "sendmail",
            "send_message",
            "storbinary",
            "exec_command",
            "upload_file",
            "put_object",
            "upload_fileobj",
        ):
            machine.add(Verb.NET_SEND, f"Sends data ({name})", function, Scope.REMOTE)

    def _shell(self, node: ast.AST | None) -> None:
        if isinstance(node, ast.List | ast.Tuple):
            self.machine.call([self._text(item) or UNKNOWN for item in node.elts])
            return
        text = self._text(node)
        if text is None:
            self._unknown("starts a program that is not known beforehand")
        else:
            self.machine.run_shell(text)

    def _process(self, node: ast.Call) -> None:
        first = self._argument(node, 0, "args")
        if isinstance(first, ast.List | ast.Tuple):
            argv = [self._text(item) if self._text(item) is not None else UNKNOWN for item in first.elts]
            words = [word for word in argv if word is not None]
            if words:
                outer = self.machine.folder()
                folder = self._text(self._argument(node, 99, "cwd"))
                if folder is not None:
                    self.machine.state.variables["PWD"] = self.machine.geography.absolute(folder, outer)
                self.machine.call(words)
                self.machine.state.variables["PWD"] = outer
            return
        text = self._text(first)
        if text is None and isinstance(first, ast.Call) and self._dotted(first.func) == "shlex.split" and first.args:
            text = self._text(first.args[0])
        if (
            isinstance(first, ast.Call)
            and text is None
            and isinstance(first.func, ast.Attribute)
            and first.func.attr == "split"
        ):
            text = self._text(first.func.value)
        if text is None:
            self._unknown("starts a program that is not known beforehand")
        else:
            self.machine.run_shell(text)

    def _exec(self, node: ast.Call) -> None:
        words: list[str] = []
        for arg in node.args:
            if isinstance(arg, ast.List | ast.Tuple):
                words += [self._text(item) or UNKNOWN for item in arg.elts]
            elif (text := self._text(arg)) is not None:
                words.append(text)
        function = self._dotted(node.func)
        argv = words[:1] + words[2:] if words else []
        if not argv:
            self._unknown(f"starts a program that is not known beforehand ({function})")
        else:
            self.machine.call(argv)

    def _delete(self, node: ast.AST | None, *, recursive: bool = False) -> None:
        text = self._text(node)
        self.machine.delete(text if text is not None else UNKNOWN, recursive=recursive)

    def _mode(self, node: ast.Call) -> None:
        path = self._text(self._argument(node, 0, "path"))
        mode = self._argument(node, 1, "mode")
        if isinstance(mode, ast.Constant) and isinstance(mode.value, int):
            self.machine.call(["chmod", f"{mode.value:o}", path if path is not None else UNKNOWN])
        else:
            self.machine.permissions(
                path if path is not None else UNKNOWN, says="Changes the rights of", recursive=False
            )

    def _open(self, node: ast.Call, function: str) -> None:
        method = isinstance(node.func, ast.Attribute) and function not in (
            "io.open",
            "codecs.open",
            "os.open",
            "builtins.open",
        )
        if function == "os.open":
            flags = ast.dump(node)
            writes, append = "O_WRONLY" in flags or "O_RDWR" in flags or "O_TRUNC" in flags, "O_APPEND" in flags
            path = self._text(self._argument(node, 0, "path"))
        else:
            mode_node = self._argument(node, 0 if method else 1, "mode")
            mode = self._text(mode_node) if mode_node is not None else "r"
            writes, append = mode is None or any(sign in mode for sign in "wx+"), mode is not None and "a" in mode
            if mode_node is None:
                writes = False
            path = (
                self._text(node.func.value)
                if method and isinstance(node.func, ast.Attribute)
                else self._text(self._argument(node, 0, "file"))
            )
        if writes or append:
            self.machine.write(path if path is not None else UNKNOWN, append=append and not writes)
        elif path is not None:
            self.machine.read(path)

    def _send(self, node: ast.Call, function: str) -> None:
        from hermes_tui.safety.programs.roles import is_local_url

        index = 1 if function.endswith(".request") else 0
        url = self._text(self._argument(node, index, "url", "host"))
        if function.endswith(".delete"):
            self.machine.add(Verb.CLOUD_DELETE, f"Asks {url or 'a host'} to delete", url or "", Scope.REMOTE)
        elif (
            function in ("socket.socket", "requests.request", "httpx.request")
            and url is None
            and not function.startswith("socket")
        ):
            self.machine.add(Verb.NET_SEND, "Sends a request", function, Scope.REMOTE)
        elif url is None or not is_literal(url) or not is_local_url(url):
            if function in ("socket.socket",):
                return  # what it connects to is seen at connect
            self.machine.add(Verb.NET_SEND, f"Sends data to {url or 'a host'}", url or function, Scope.REMOTE)

    def _fetch(self, node: ast.Call) -> None:
        from hermes_tui.safety.programs.roles import METADATA_HOST, host_of, is_local_url

        url = self._text(self._argument(node, 0, "url"))
        data = self._argument(node, 1, "data", "json", "files")
        if url is not None and METADATA_HOST.match(host_of(url)):
            self.machine.add(Verb.SECRET, "Asks the cloud's metadata service for credentials", url, Scope.REMOTE)
        elif (data is not None and self._dotted(node.func).rpartition(".")[2] == "urlopen") or (
            url is not None and not is_literal(url) and not is_local_url(url)
        ):
            self.machine.add(Verb.NET_SEND, "Sends data in a request", url or "", Scope.REMOTE)


def _endless(node: ast.While) -> bool:
    return isinstance(node.test, ast.Constant) and bool(node.test.value)
