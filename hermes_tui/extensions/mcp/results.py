"""What an MCP server answers -> what the model gets."""

import base64
import binascii
import hashlib
import json
import mimetypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_tui.extensions.mcp.scrub import plain
from hermes_tui.tools.registry import tool_error, tool_images, tool_result

if TYPE_CHECKING:
    from mcp import types

MAX_BINARY_BYTES = 50_000_000
"""Largest file that a server may hand over."""


def call_result(result: "types.CallToolResult", folder: Path | None, scrub: Callable[[str], str]) -> Any:
    """Return the result of a tool call: JSON text, or with images where there are any.

    Sound and files are written into ``folder``, and the model is told their paths. Blocks on the disk for those.
    """
    texts, images, files = read_blocks(result.content, folder)
    text = "\n".join(texts)
    if result.is_error:
        return tool_error(scrub(text) or "the server gave no reason")
    data: dict[str, Any] = {}
    structured = result.structured_content
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        structured = structured["result"]  # how servers wrap what is no object
    if structured is not None:
        data["result"] = structured
        if text and text != structured and _loaded(text) != structured:
            data["text"] = text
    else:
        data["result"] = text
    if files:
        data["files"] = files
    return tool_images(data, images) if images else tool_result(data)


def read_blocks(blocks: Sequence[Any], folder: Path | None) -> tuple[list[str], list[str], list[dict[str, Any]]]:
    """Return the texts, the images as ``data:`` URLs, and the files of content blocks."""
    texts: list[str] = []
    images: list[str] = []
    files: list[dict[str, Any]] = []
    for block in blocks:
        match block.type:
            case "text":
                texts.append(block.text)
            case "image":
                images.append(f"data:{block.mime_type};base64,{block.data}")
            case "audio":
                files.append(_kept(block.data, block.mime_type, "", folder))
            case "resource":
                resource_into(block.resource, texts, files, folder)
            case "resource_link":
                files.append({"uri": str(block.uri), "name": block.name, "description": block.description or ""})
            case other:
                texts.append(f"[content of an unknown kind: {other}]")
    return texts, images, files


def resource_into(resource: Any, texts: list[str], files: list[dict[str, Any]], folder: Path | None) -> None:
    """Add the text of a resource, or the file it is."""
    if hasattr(resource, "text"):
        texts.append(resource.text)
    else:
        files.append(_kept(resource.blob, resource.mime_type or "", str(resource.uri), folder))


def prompt_result(result: "types.GetPromptResult", folder: Path | None) -> Any:
    """Return the messages of a prompt."""
    images: list[str] = []
    messages = []
    for message in result.messages:
        texts, pictures, files = read_blocks([message.content], folder)
        images += pictures
        messages.append({"role": message.role, "text": "\n".join(texts), **({"files": files} if files else {})})
    data = {"description": plain(result.description or ""), "messages": messages}
    return tool_images(data, images) if images else tool_result(data)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _kept(data: str, mime_type: str, uri: str, folder: Path | None) -> dict[str, Any]:
    """Write the bytes into ``folder`` under a name made of their digest; return what the model is told."""
    facts: dict[str, Any] = {"type": mime_type, **({"uri": uri} if uri else {})}
    if len(data) > MAX_BINARY_BYTES * 4 // 3:
        return {**facts, "error": f"left out: larger than {MAX_BINARY_BYTES:,} bytes"}
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return {**facts, "error": "left out: it is not valid base64"}
    facts["size"] = len(raw)
    if folder is None:
        return {**facts, "error": "left out: there is no folder for it"}
    ending = mimetypes.guess_extension(mime_type) or ".bin"
    path = folder / f"mcp-{hashlib.sha256(raw).hexdigest()[:16]}{ending}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(raw)
    except OSError as error:
        return {**facts, "error": f"could not be written to {path}: {error.strerror}"}
    return {**facts, "path": str(path)}
