"""The Textual floor: a TextArea, and above it Textual's own Markdown widget, or a view of plain lines.

Run: ``python -m bench.floors.textual_floor {markdown,lines} BASE_URL``. Enter sends what was typed to the model and
shows the stream. It has nothing else, so no full program on Textual can start or echo faster.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from rich.segment import Segment
from textual import events
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Markdown, TextArea

_FRAME_S = 1 / 30


class Editor(TextArea):
    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()
            prompt, self.text = self.text, ""
            self.app.run_worker(self.app.answer(prompt), exclusive=True)  # type: ignore[attr-defined]  # FloorApp
            return
        await super()._on_key(event)


class Lines(ScrollView):
    """Plain text, wrapped at the width, no Markdown."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = [""]

    def add(self, text: str) -> None:
        width = max(1, self.size.width)
        for number, part in enumerate(text.split("\n")):
            if number:
                self._lines.append("")
            line = self._lines.pop() + part
            self._lines += [line[start : start + width] for start in range(0, max(1, len(line)), width)]
        self.virtual_size = Size(width, len(self._lines))
        self.scroll_end(animate=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        text = self._lines[index] if index < len(self._lines) else ""
        return Strip([Segment(text)]).adjust_cell_length(self.size.width)


class FloorApp(App[None]):
    CSS = "Lines { height: 1fr; } VerticalScroll { height: 1fr; } Editor { height: 6; }"

    def __init__(self, view: str, url: str) -> None:
        super().__init__()
        self._view = view
        self._url = url
        self._turns = 0

    def compose(self) -> ComposeResult:
        yield Lines() if self._view == "lines" else VerticalScroll(id="answers", can_focus=False)
        yield Editor()

    def on_mount(self) -> None:
        editor = self.query_one(Editor)
        editor.cursor_blink = False
        editor.focus()

    async def answer(self, prompt: str) -> None:
        if self._view == "lines":
            await self._plain(prompt)
            return
        holder, markdown = self.query_one("#answers", VerticalScroll), Markdown()
        await holder.mount(markdown)
        holder.anchor()
        stream = Markdown.get_stream(markdown)
        async for text in deltas(self._url, prompt):
            await stream.write(text)
        await stream.stop()

    async def _plain(self, prompt: str) -> None:
        lines, waiting = self.query_one(Lines), ""

        async def flush() -> None:
            nonlocal waiting
            while True:
                await asyncio.sleep(_FRAME_S)
                text, waiting = waiting, ""
                if text:
                    lines.add(text)

        flushing = asyncio.create_task(flush())
        async for text in deltas(self._url, prompt):
            waiting += text
        flushing.cancel()
        lines.add(waiting + "\n")


async def deltas(url: str, prompt: str) -> AsyncIterator[str]:
    """Yield the texts of a streamed answer, read with the least that will do."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 24)
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": prompt}]}).encode()
    head = f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    rest = b""
    try:
        await reader.readuntil(b"\r\n\r\n")
        while length := int(await reader.readline(), 16):
            *lines, rest = (rest + (await reader.readexactly(length + 2))[:-2]).split(b"\n")
            for line in lines:
                if line.startswith(b"data: {"):
                    choices = json.loads(line[6:])["choices"]
                    if choices and (text := choices[0]["delta"].get("content")):
                        yield text
    finally:
        writer.close()


if __name__ == "__main__":
    FloorApp(sys.argv[1], sys.argv[2]).run()
