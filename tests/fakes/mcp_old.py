"""An MCP server of the older protocol in plain Python, which starts in no time: ``python mcp_old.py [MODE]``.

Modes: ``silent`` answers nothing; ``garbage`` writes no JSON; ``dies`` ends at once; ``crowd`` tells five times at its
start that its tools changed. Tools: ``echo``, ``die``, ``hang``, ``grow``, ``ask``, ``think``.
"""

import json
import os
import sys
import time
from typing import Any

TOOLS: dict[str, str] = {name: f"The tool {name}." for name in ("echo", "die", "hang", "grow", "ask", "think")}
_numbers = iter(range(1000, 10_000))


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def read() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    found: dict[str, Any] = json.loads(line)
    return found


def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Ask the client something; what it sends meanwhile is passed over."""
    number = next(_numbers)
    send(id=number, method=method, params=params)
    while True:
        message = read()
        if message.get("id") == number:
            return message


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def call(name: str, args: dict[str, Any]) -> dict[str, Any]:
    match name:
        case "echo":
            return text(f"echo {args.get('text', '')} from {os.getpid()}")
        case "die":
            print("I die now", file=sys.stderr, flush=True)
            os._exit(1)
        case "hang":
            time.sleep(600)
        case "grow":
            TOOLS["fresh"] = "It came late."
            send(method="notifications/tools/list_changed")
            return text("grown")
        case "ask":
            schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            answer = request("elicitation/create", {"message": "Who are you?", "requestedSchema": schema})
            return text(json.dumps(answer["result"]))
        case "think":
            message = {"role": "user", "content": {"type": "text", "text": "Say x"}}
            answer = request("sampling/createMessage", {"messages": [message], "maxTokens": 50})
            return text(json.dumps(answer.get("result") or answer["error"]))
    return {"isError": True, **text(f"no tool {name}")}


def serve(mode: str) -> None:
    while True:
        message = read()
        method, number = message.get("method"), message.get("id")
        if mode == "silent" or number is None:
            continue
        if method == "initialize":
            capabilities = {"tools": {"listChanged": True}}
            info = {"name": "old", "version": "0.1"}
            version = "2025-06-18"
            send(id=number, result={"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
            if mode == "crowd":
                for _ in range(5):
                    send(method="notifications/tools/list_changed")
        elif method == "ping":
            send(id=number, result={})
        elif method == "tools/list":
            schema = {"type": "object", "properties": {"text": {"type": "string"}}}
            print(f"listed {len(TOOLS)}", file=sys.stderr, flush=True)
            tools = [{"name": name, "description": words, "inputSchema": schema} for name, words in TOOLS.items()]
            send(id=number, result={"tools": tools})
        elif method == "tools/call":
            params = message["params"]
            send(id=number, result=call(params["name"], params.get("arguments") or {}))
        else:
            send(id=number, error={"code": -32601, "message": "Method not found"})


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else ""
    if chosen == "dies":
        print("no licence for tok-123456", file=sys.stderr, flush=True)
        sys.exit(3)
    if chosen == "garbage":
        print("this is not JSON", flush=True)
    serve(chosen)
