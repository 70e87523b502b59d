"""Reading Python: calls that start processes, change files or send, found in the syntax tree."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from hermes_tui.python_source import parse_python
from hermes_tui.safety.languages.python_values import (
    DANGEROUS_MODULES,
    DELETE_CALLS,
    DELTREE_CALLS,
    EXEC_CALLS,
    MOVE_CALLS,
    PROCESSES,
    SHELL_CALLS,
    Values,
)
from hermes_tui.safety.shell.values import UNKNOWN, is_literal
from hermes_tui.safety.verdict import Scope, Verb

if TYPE_CHECKING:
    from hermes_tui.safety.shell.machine import Machine

MAX_NODES = 4000

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
            tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        machine.unresolved("Python code that could not be read")
        return
    try:
        _Reader(machine).follow(tree)
    except RecursionError:
        machine.unresolved("Python code is nested too deeply")


class _Reader(Values):
    """Walks one module and tells the machine what its calls would do."""

    def follow(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        if len(nodes) > MAX_NODES:
            self.machine.unresolved("Python code is too long to follow")
            return
        for node in nodes:
            self.bind(node)
        for node in nodes:
            if isinstance(node, ast.Call):
                self._call(node)
            elif (
                isinstance(node, ast.While)
                and _endless(node)
                and any(
                    self.dotted(call.func) in ("os.fork", "subprocess.Popen", "os.spawnl")
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
            elif isinstance(node, ast.Subscript) and self.dotted(node.value) in (
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
            and self.dotted(source.func) == "range"
            and all(
                isinstance(arg, ast.Constant) and isinstance(arg.value, int) and arg.value <= 64 for arg in source.args
            )
        )
        return not small and any(
            isinstance(each, ast.Call) and self.dotted(each.func) == "os.fork" for each in ast.walk(node)
        )

    # -- calls --------------------------------------------------------------------------------------------------------

    def _unknown(self, why: str) -> None:
        self.machine.add(Verb.EXEC_UNKNOWN, f"Runs Python code that {why}", scope=Scope.UNKNOWN)

    def _argument(self, node: ast.Call, index: int, *keywords: str) -> ast.AST | None:
        if index < len(node.args):
            return node.args[index]
        return next((keyword.value for keyword in node.keywords if keyword.arg in keywords), None)

    def _call(self, node: ast.Call) -> None:  # noqa: C901 - one branch per family of calls
        machine = self.machine
        function = self.dotted(node.func)
        name = function.rpartition(".")[2]
        if function in ("exec", "eval", "compile", "builtins.exec", "builtins.eval", "execfile", "builtins.compile"):
            code = self.text(self._argument(node, 0, "source"))
            if code is None or not is_literal(code):
                self._unknown("is made while it runs")
            else:
                read(machine, "python", code)
        elif function in ("__import__", "importlib.import_module"):
            module = self.text(self._argument(node, 0, "name"))
            if module is None or not is_literal(module):
                self._unknown("loads a module by a computed name")
        elif (
            function == "?getattr"
            or function.startswith("?getattr")
            or (
                function == "getattr"
                and len(node.args) > 1
                and self.dotted(node.args[0]) in DANGEROUS_MODULES
                and self.text(node.args[1]) is None
            )
        ):
            self._unknown("calls a function by a computed name")
        elif function in SHELL_CALLS:
            self._shell(self._argument(node, 0, "cmd", "command", "argv"))
        elif function in PROCESSES or name in ("Popen", "check_call", "check_output", "getoutput"):
            self._process(node)
        elif function in EXEC_CALLS:
            self._exec(node)
        elif function in DELETE_CALLS:
            self._delete(self._argument(node, 0, "path"))
        elif function in DELTREE_CALLS:
            self._delete(self._argument(node, 0, "path"), recursive=True)
        elif function in MOVE_CALLS:
            source, target = self.text(self._argument(node, 0, "src")), self.text(self._argument(node, 1, "dst"))
            goal = target if target is not None else UNKNOWN
            machine.move(
                source if source is not None else UNKNOWN, goal, into=machine.is_folder(goal) and name == "move"
            )
        elif function in _COPY:
            source = self.text(self._argument(node, 0, "src"))
            if source is not None:
                machine.read(source, recursive=name == "copytree")
            target = self.text(self._argument(node, 1, "dst"))
            machine.write(target if target is not None else UNKNOWN)
        elif function in _WRITE:
            machine.write(self.text(self._argument(node, 0, "path")) or UNKNOWN)
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
        receiver = self.text(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if name in _PATH_DELETE:
            machine.delete(receiver if receiver is not None else UNKNOWN, recursive=name == "rmtree")
        elif name in _PATH_WRITE or (name == "touch" and receiver is not None):
            machine.write(receiver if receiver is not None else UNKNOWN, append=name == "touch")
        elif (
            name in ("rename", "replace")
            and receiver is not None
            and len(node.args) == 1
            and "ath" in self.dotted(node.func.value if isinstance(node.func, ast.Attribute) else node)
        ):
            machine.move(receiver, self.text(node.args[0]) or UNKNOWN, into=False)
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
        elif name in _SQL_CALLS and node.args and (text := self.text(node.args[0])) is not None:
            from hermes_tui.safety.languages.sql import read as read_sql

            if is_literal(text):
                read_sql(machine, "sql", text)
        elif name in ("extractall", "extract", "unpack_archive") and len(node.args) + len(node.keywords):
            target = self.text(self._argument(node, 1 if name != "extractall" else 0, "path", "extract_dir"))
            if target is not None:
                machine.write(target, into=machine.locate(target).scope not in (Scope.WORKSPACE, Scope.TEMP))
        elif name in ("connect", "connect_ex") and node.args and isinstance(node.args[0], ast.Tuple):
            from hermes_tui.safety.programs.roles import LOCAL_HOST

            host = self.text(node.args[0].elts[0]) if node.args[0].elts else None
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
            self.machine.call([self.text(item) or UNKNOWN for item in node.elts])
            return
        text = self.text(node)
        if text is None:
            self._unknown("starts a program that is not known beforehand")
        else:
            self.machine.run_shell(text)

    def _process(self, node: ast.Call) -> None:
        first = self._argument(node, 0, "args")
        if isinstance(first, ast.List | ast.Tuple):
            argv = [self.text(item) if self.text(item) is not None else UNKNOWN for item in first.elts]
            words = [word for word in argv if word is not None]
            if words:
                outer = self.machine.folder()
                folder = self.text(self._argument(node, 99, "cwd"))
                if folder is not None:
                    self.machine.state.variables["PWD"] = self.machine.geography.absolute(folder, outer)
                self.machine.call(words)
                self.machine.state.variables["PWD"] = outer
            return
        text = self.text(first)
        if text is None and isinstance(first, ast.Call) and self.dotted(first.func) == "shlex.split" and first.args:
            text = self.text(first.args[0])
        if (
            isinstance(first, ast.Call)
            and text is None
            and isinstance(first.func, ast.Attribute)
            and first.func.attr == "split"
        ):
            text = self.text(first.func.value)
        if text is None:
            self._unknown("starts a program that is not known beforehand")
        else:
            self.machine.run_shell(text)

    def _exec(self, node: ast.Call) -> None:
        words: list[str] = []
        for arg in node.args:
            if isinstance(arg, ast.List | ast.Tuple):
                words += [self.text(item) or UNKNOWN for item in arg.elts]
            elif (text := self.text(arg)) is not None:
                words.append(text)
        function = self.dotted(node.func)
        argv = words[:1] + words[2:] if words else []
        if not argv:
            self._unknown(f"starts a program that is not known beforehand ({function})")
        else:
            self.machine.call(argv)

    def _delete(self, node: ast.AST | None, *, recursive: bool = False) -> None:
        text = self.text(node)
        self.machine.delete(text if text is not None else UNKNOWN, recursive=recursive)

    def _mode(self, node: ast.Call) -> None:
        path = self.text(self._argument(node, 0, "path"))
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
            path = self.text(self._argument(node, 0, "path"))
        else:
            mode_node = self._argument(node, 0 if method else 1, "mode")
            mode = self.text(mode_node) if mode_node is not None else "r"
            writes, append = mode is None or any(sign in mode for sign in "wx+"), mode is not None and "a" in mode
            if mode_node is None:
                writes = False
            path = (
                self.text(node.func.value)
                if method and isinstance(node.func, ast.Attribute)
                else self.text(self._argument(node, 0, "file"))
            )
        if writes or append:
            self.machine.write(path if path is not None else UNKNOWN, append=append and not writes)
        elif path is not None:
            self.machine.read(path)

    def _send(self, node: ast.Call, function: str) -> None:
        from hermes_tui.safety.programs.roles import is_local_url

        index = 1 if function.endswith(".request") else 0
        url = self.text(self._argument(node, index, "url", "host"))
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

        url = self.text(self._argument(node, 0, "url"))
        data = self._argument(node, 1, "data", "json", "files")
        if url is not None and METADATA_HOST.match(host_of(url)):
            self.machine.add(Verb.SECRET, "Asks the cloud's metadata service for credentials", url, Scope.REMOTE)
        elif (data is not None and self.dotted(node.func).rpartition(".")[2] == "urlopen") or (
            url is not None and not is_literal(url) and not is_local_url(url)
        ):
            self.machine.add(Verb.NET_SEND, "Sends data in a request", url or "", Scope.REMOTE)


def _endless(node: ast.While) -> bool:
    return isinstance(node.test, ast.Constant) and bool(node.test.value)
