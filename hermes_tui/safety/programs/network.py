"""Programs that speak to the network: what they send, what they bring, and to whom."""

from __future__ import annotations

import posixpath
import re

from hermes_tui.safety.programs.engine import Call, handler
from hermes_tui.safety.programs.roles import LOCAL_HOST, fetch, host_of, is_local_url, send
from hermes_tui.safety.shell.values import FETCHED, OUTPUT, SECRET, is_literal, shown
from hermes_tui.safety.verdict import Scope, Verb

_METHODS = re.compile(r"GET|HEAD|OPTIONS|TRACE|PROPFIND|POST|PUT|PATCH|DELETE|MOVE|COPY", re.IGNORECASE)
_READS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH"))
_DESTROYS = re.compile(
    r"(?:[_/-](?:delete|drop|destroy|flush|purge|shutdown|truncate|reset|wipe|remove)\w*|_delete_by_query|_forcemerge)",
    re.IGNORECASE,
)
_MARKS = (SECRET, OUTPUT)


def request(call: Call, urls: list[str], method: str, sends: list[str], headers: list[str]) -> None:
    """Record what an HTTP request would do; reading is quiet, so is all but destroying on this very machine."""
    method = method.upper()
    for url in urls:
        host = shown(host_of(url).partition("/")[0]) or "a host"
        local = is_local_url(url)
        if method == "DELETE" or (method not in _READS and _DESTROYS.search(url)):
            call.add(Verb.CLOUD_DELETE, f"Asks {host} to delete {shown(url)}", shown(url), Scope.REMOTE)
        elif not local and (sends or method not in _READS):
            what = shown(sends[0]) if sends else f"a {method} request"
            call.add(Verb.NET_SEND, f"Sends {what} to {host}", shown(url), Scope.REMOTE)
        elif not local and any(mark in header for header in headers for mark in _MARKS):
            call.add(
                Verb.NET_SEND, f"Sends a credential or command output to {host} in a header", shown(url), Scope.REMOTE
            )
        else:
            fetch(call, url)


def _save(call: Call, path: str, url: str = "") -> None:
    """A download lands in a file; running it later in the same command is running foreign code."""
    located = call.machine.write(path)
    if located.literal and not is_local_url(url):
        call.machine.remember(located.path, fetched=True, fresh=located.node.fresh if located.node else True)


@handler("curl")
def _curl(call: Call) -> str:  # noqa: C901 - one branch per option
    """curl(1)."""
    machine = call.machine
    urls = call.operands + [value for name, value in call.options if name == "--url"]
    sends, headers, outputs = [], [], []
    remote_names = 0
    for name, value in call.options:
        if name in (
            "-d",
            "--data",
            "--data-raw",
            "--data-binary",
            "--data-ascii",
            "--data-urlencode",
            "--json",
            "-F",
            "--form",
            "--form-string",
            "--url-query",
        ):
            sends.append(value)
            for file in (
                re.findall(r"(?:^|=|;)[@<]([^;]+)", value) if name not in ("--data-raw", "--form-string") else []
            ):
                if file != "-":
                    machine.read(file)
        elif name in ("-T", "--upload-file"):
            sends.append(value)
            machine.read(value)
        elif name in (
            "-H",
            "--header",
            "-A",
            "--user-agent",
            "-e",
            "--referer",
            "-b",
            "--cookie",
            "-u",
            "--user",
            "--oauth2-bearer",
            "--proxy-header",
        ):
            headers.append(value)
        elif name in ("-o", "--output"):
            outputs.append(value)
        elif name in ("-O", "--remote-name", "-J", "--remote-header-name", "--remote-name-all"):
            remote_names += name != "-J"
        elif name in (
            "-c",
            "--cookie-jar",
            "-D",
            "--dump-header",
            "--trace",
            "--trace-ascii",
            "--stderr",
            "--libcurl",
            "--etag-save",
            "--hsts",
            "--alt-svc",
        ):
            if value not in ("-", "%"):
                machine.write(value)
        elif name in ("-K", "--config"):
            if value == "-" or machine.locate(value).scope not in (Scope.WORKSPACE, Scope.HOME, Scope.STARTUP):
                machine.unresolved("curl reads its options from elsewhere")
        elif name in ("-Q", "--quote", "--postquote") and re.match(
            r"[-+*]?\s*(?:DELE|RMD|rm|rmdir|rename|RNFR)", value, re.IGNORECASE
        ):
            call.add(Verb.CLOUD_DELETE, f"Deletes on the server: {shown(value)}", shown(value), Scope.REMOTE)
        elif name in ("--engine", "--egd-file", "--proxy", "-x", "--preproxy") and any(
            mark in value for mark in _MARKS
        ):
            sends.append(value)
    method = call.value("-X", "--request") or (
        "PUT"
        if call.has("-T", "--upload-file")
        else "HEAD"
        if call.has("-I", "--head")
        else "POST"
        if sends and not call.has("-G", "--get")
        else "GET"
    )
    request(call, urls, method, sends, headers)
    folder = call.value("--output-dir")
    if remote_names:
        outputs += [posixpath.basename(url.split("?")[0].rstrip("/")) or "index.html" for url in urls]
    for output in outputs:
        if output not in ("-", "/dev/stdout"):
            _save(call, posixpath.join(folder, output) if folder else output, urls[0] if urls else "")
    if not urls or all(is_local_url(url) for url in urls):
        return OUTPUT
    return FETCHED if len(outputs) < len(urls) or "-" in outputs else ""


@handler("wget")
def _wget(call: Call) -> str:  # noqa: C901 - one branch per option
    """wget(1): without ``-O`` the file is named by the address."""
    machine = call.machine
    urls = list(call.operands)
    sends, headers = [], []
    for name, value in call.options:
        if name in ("--post-data", "--body-data"):
            sends.append(value)
        elif name in ("--post-file", "--body-file"):
            machine.read(value)
            sends.append(value)
        elif name in ("--header", "--user", "--password", "--http-password", "-U", "--user-agent", "--referer"):
            headers.append(value)
        elif name in ("-o", "--output-file", "-a", "--append-output", "--save-cookies", "--warc-file"):
            machine.write(value, append=name in ("-a", "--append-output"))
        elif name == "--use-askpass":
            machine.run_shell(value)
        elif name in ("-e", "--execute") and re.match(
            r"\s*(?:output_document|use_askpass|post_file|body_file|dir_prefix|logfile)", value
        ):
            machine.unresolved(f"wget is given the setting {shown(value)}")
        elif name in ("-i", "--input-file") and value != "-":
            machine.read(value)
    request(call, urls, call.value("--method") or ("POST" if sends else "GET"), sends, headers)
    if call.has("--spider"):
        return OUTPUT
    output = call.value("-O", "--output-document")
    if output in ("-", "/dev/stdout"):
        return FETCHED if not urls or not all(is_local_url(url) for url in urls) else OUTPUT
    folder = call.value("-P", "--directory-prefix")
    if output:
        _save(call, output, urls[0] if urls else "")
    elif call.has("-r", "--recursive", "-m", "--mirror") or not urls:
        if folder:
            machine.write(folder, into=True)
    else:
        for url in urls:
            name = posixpath.basename(url.split("?")[0].rstrip("/")) or "index.html"
            path = posixpath.join(folder, name) if folder else name
            located = machine.locate(path)
            if located.scope in (Scope.WORKSPACE, Scope.TEMP):  # wget keeps an old file and numbers the new one
                if located.literal:
                    machine.remember(located.path, fetched=not is_local_url(url))
            else:
                _save(call, path, url)
    return ""


@handler("httpie")
def _httpie(call: Call) -> str:
    """HTTPie and xh: an optional method, the address, then items that are sent."""
    operands = list(call.operands)
    method = ""
    if operands and _METHODS.fullmatch(operands[0]):
        method = operands.pop(0)
    if not operands:
        return OUTPUT
    url, items = operands[0], operands[1:]
    sends = [item for item in items if re.search(r"(?<!=)(?::?=@?|@)(?!=)", item) and "==" not in item]
    for item in items:
        file = re.search(r"(?:^|=|:=)@(.+)", item) or re.match(r"[\w.-]*@(.+)", item)
        if file:
            call.machine.read(file[1])
    if call.stdin is not None and call.stdin.text:
        sends.append("its input")
    request(call, [url], method or ("POST" if sends else "GET"), sends, [item for item in items if ":" in item])
    output = call.value("-o", "--output")
    if output:
        _save(call, output, url)
    return OUTPUT if is_local_url(url) else FETCHED


@handler("netcat")
def _netcat(call: Call) -> str:
    """nc(1), ncat(1): a connection; with ``-e`` or ``-c`` a program on its other end."""
    machine = call.machine
    program = call.value("-e", "--exec", "-c", "--sh-exec", "--lua-exec")
    if program:
        call.add(Verb.REMOTE_EXEC, f"Gives {shown(program)} to whoever connects", shown(program), Scope.REMOTE)
        machine.run_shell(program)
        return FETCHED
    if call.has("-z"):
        return OUTPUT
    host = call.operands[0] if call.operands else ""
    if call.has("-l", "--listen"):
        call.add(Verb.NET_SEND, "Waits for connections from the network", shown(" ".join(call.operands)), Scope.REMOTE)
    elif not LOCAL_HOST.match(host) and host and not call.has("-U", "--unixsock"):
        send(call, "its input" if call.stdin else "what is typed", to=shown(host))
    return OUTPUT if LOCAL_HOST.match(host) else FETCHED


@handler("socat")
def _socat(call: Call) -> str:
    """socat(1): two addresses, joined."""
    machine = call.machine
    out = OUTPUT
    for address in call.operands:
        kind, _, rest = address.partition(":")
        kind = kind.upper()
        if kind in ("EXEC", "SYSTEM", "SHELL"):
            call.add(Verb.REMOTE_EXEC, f"Gives {shown(rest)} to the other end", shown(rest), Scope.REMOTE)
            machine.run_shell(re.split(r",(?=\w+(?:=|,|$))", rest)[0])
        elif "LISTEN" in kind or kind.endswith("-L") or kind in ("TCP-L", "TCP4-L", "UDP-RECV"):
            if "bind=127." not in rest and "bind=localhost" not in rest:
                call.add(Verb.NET_SEND, "Waits for connections from the network", shown(rest), Scope.REMOTE)
        elif kind.startswith(("TCP", "UDP", "SCTP", "OPENSSL", "SSL", "SOCKS", "PROXY")):
            if not LOCAL_HOST.match(rest):
                send(call, "data", to=shown(rest.split(",")[0]))
                out = FETCHED
        elif kind in ("OPEN", "CREATE", "CREAT", "FILE", "GOPEN"):
            machine.write(rest.split(",")[0])
    return out


@handler("transfer")
def _transfer(call: Call) -> str:
    """ftp(1), sftp(1), lftp(1), telnet(1): a session with another host, by script or by hand."""
    for name, value in call.options:
        if (name in ("-S", "-D") and call.spec.name == "sftp") or (name in ("-e", "-c") and call.spec.name == "lftp"):
            if value.startswith("!") or call.spec.name == "sftp":
                call.machine.run_shell(value.lstrip("!"))
        elif name in ("-b", "-f"):
            call.machine.read(value)
    host = call.operands[0] if call.operands else ""
    if host and not is_local_url(host):
        send(call, "files or commands", to=shown(host))
    if call.stdin is not None:
        for line in call.stdin.text.split("\n"):
            words = line.split()
            if words[:1] in (["put"], ["mput"], ["send"]) and len(words) > 1:
                call.machine.read(words[1])
            elif line.lstrip().startswith("!"):
                call.machine.run_shell(line.lstrip()[1:])
    return FETCHED


@handler("lookup")
def _lookup(call: Call) -> str:
    """ping, dig, host, nslookup: a question to a name server carries whatever its name is made of."""
    for word in [*call.operands, *(value for _, value in call.options)]:
        if any(mark in word for mark in _MARKS):
            call.add(Verb.NET_SEND, f"Sends data out in a name or packet: {shown(word)}", shown(word), Scope.REMOTE)
    if call.has("-f") and call.spec.name == "ping":
        call.add(Verb.SYSTEM, "Floods a host with packets", shown(" ".join(call.operands)), Scope.REMOTE)
    return FETCHED


@handler("openssl")
def _openssl(call: Call) -> str:
    """openssl(1): ``s_client`` speaks to a host, the rest works on files."""
    machine = call.machine
    command = call.operands[0] if call.operands else ""
    for name, value in call.options:
        if name in ("-out", "-keyout", "-writerand", "-sess_out", "-CAserial") and value not in ("-",):
            machine.write(value)
        elif name in ("-in", "-inkey", "-key", "-cert", "-CAfile", "-CA", "-CAkey", "-kfile"):
            located = machine.locate(value)
            if located.scope is Scope.SECRET:
                machine.read(value)
        elif name in ("-engine", "-provider", "-provider-path") and ("/" in value or not is_literal(value)):
            call.add(Verb.EXEC_UNKNOWN, f"Loads the library {shown(value)}", shown(value))
    if command == "s_client":
        host = call.value("-connect", "-host") or (call.operands[1] if len(call.operands) > 1 else "")
        if call.stdin is not None and call.stdin.text.strip() not in ("", "Q") and not LOCAL_HOST.match(host):
            send(call, "its input", to=shown(host))
        return FETCHED
    if command in ("enc", "base64") and call.has("-d") and call.stdin is not None and call.has("-base64", "-a", "-A"):
        from hermes_tui.safety.programs.pure import PURE

        return PURE["base64"](machine, ["-d"], call.stdin) or OUTPUT
    return OUTPUT
