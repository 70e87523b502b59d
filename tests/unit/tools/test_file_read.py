"""read_file: windows, cuts, repeats, refusals."""

import os
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.backends.local import LocalEnvironment
from hermes_tui.protocol.context import AgentState, ToolContext
from hermes_tui.tools import file_read
from hermes_tui.tools.file_read import forget_reads, read_file
from hermes_tui.tools.handlers import ToolFailure
from tests.unit.tools.support import make_context


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture
def context(folder: Path) -> ToolContext:
    return make_context(folder)


def read(context: ToolContext, path: str, **args: Any) -> dict[str, Any]:
    return read_file({"path": path, **args}, context)


def test_lines_are_numbered_and_counted(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("one\n\nthree")
    assert read(context, "a.txt") == {
        "path": "a.txt",
        "content": "1|one\n2|\n3|three",
        "total_lines": 3,
        "file_size": 10,
        "truncated": False,
    }


def test_a_window_tells_where_to_go_on(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    result = read(context, "a.txt", offset=3, limit=2)
    assert result["content"] == "3|line 3\n4|line 4"
    assert (result["truncated"], result["next_offset"], result["total_lines"]) == (True, 5, 10)


def test_the_window_at_the_end_is_not_truncated(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("1\n2\n3\n")
    result = read(context, "a.txt", offset=2, limit=2)
    assert (result["content"], result["truncated"]) == ("2|2\n3|3", False)


def test_an_offset_past_the_end_names_the_number_of_lines(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("1\n")
    with pytest.raises(ToolFailure, match="has 1 lines"):
        read(context, "a.txt", offset=5)


def test_an_empty_file_says_so(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").touch()
    result = read(context, "a.txt")
    assert (result["content"], result["notes"]) == ("", ["The file is empty"])


def test_long_lines_are_cut_and_told(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("x" * 2_005 + "\nshort\n")
    result = read(context, "a.txt")
    assert result["content"].split("\n")[0] == "1|" + "x" * 2_000 + "…[5 more characters]"
    assert "1 lines longer than 2,000" in result["notes"][0]


def test_the_result_stays_below_its_cap_in_whole_lines(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text(("y" * 999 + "\n") * 300)
    result = read(context, "a.txt")
    lines = result["content"].split("\n")
    assert len(result["content"]) < 100_000
    assert all(len(line.partition("|")[2]) == 999 for line in lines)
    assert (result["truncated"], result["next_offset"]) == (True, len(lines) + 1)


def test_invalid_utf8_is_shown_and_told(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_bytes(b"caf\xe9\n")
    result = read(context, "a.txt")
    assert result["content"] == "1|caf�"
    assert "not valid UTF-8" in result["notes"][0]


def test_crlf_and_utf16_are_read_as_lines(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_bytes("\ufeffone\r\ntwo\r\n".encode("utf-16-le"))
    result = read(context, "a.txt")
    assert result["content"] == "1|one\n2|two"
    assert [note.split(";")[0] for note in result["notes"]] == ["The file is UTF-16-LE", "Lines end with CRLF"]


def test_a_repeated_read_says_unchanged_once(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("one\n")
    read(context, "a.txt")
    assert read(context, "a.txt")["unchanged"] is True
    assert read(context, "a.txt")["content"] == "1|one"


def test_another_region_or_a_changed_file_is_read(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("one\ntwo\n")
    read(context, "a.txt")
    assert read(context, "a.txt", offset=2)["content"] == "2|two"
    (folder / "a.txt").write_text("ONE\ntwo\n")
    assert read(context, "a.txt")["content"] == "1|ONE\n2|two"


def test_forgotten_reads_are_repeated(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("one\n")
    read(context, "a.txt")
    forget_reads(context.state)
    assert read(context, "a.txt")["content"] == "1|one"


def test_a_missing_file_suggests_near_names(folder: Path, context: ToolContext) -> None:
    for name in ("settings.py", "Settings.md", "other.txt"):
        (folder / name).touch()
    with pytest.raises(ToolFailure, match=r"Do you mean .*settings\.py") as failure:
        read(context, "setings.py")
    assert str(folder / "settings.py") in failure.value.extra["similar_files"]
    assert str(folder / "other.txt") not in failure.value.extra["similar_files"]


def test_a_folder_lists_its_entries(folder: Path, context: ToolContext) -> None:
    (folder / "sub").mkdir()
    (folder / "a.txt").touch()
    with pytest.raises(ToolFailure, match="is a folder") as failure:
        read(context, ".")
    assert failure.value.extra["entries"] == ["a.txt", "sub"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [("a.bin", b"\x7fELF\0\0", "binary file"), ("a.png", b"\x89PNG\0", "is an image")],
)
def test_binary_files_are_refused_with_a_hint(
    folder: Path, context: ToolContext, name: str, data: bytes, message: str
) -> None:
    (folder / name).write_bytes(data)
    with pytest.raises(ToolFailure, match=message):
        read(context, name)


@pytest.mark.parametrize("path", ["/dev/zero", "/proc/self/environ", "/dev/../proc/1/mem", "/sys/kernel/notes"])
def test_devices_and_kernel_files_are_refused(context: ToolContext, path: str) -> None:
    with pytest.raises(ToolFailure, match="device"):
        read(context, path)


def test_a_link_to_a_device_is_refused(folder: Path, context: ToolContext) -> None:
    (folder / "zero").symlink_to("/dev/zero")
    with pytest.raises(ToolFailure, match="device"):
        read(context, "zero")


def test_the_keys_of_the_program_are_refused_even_by_a_link(home: Path, folder: Path, context: ToolContext) -> None:
    (home / ".env").write_text("OPENAI_API_KEY=sk-secret")
    (folder / "harmless.txt").symlink_to(home / ".env")
    for path in ("~/.hermes/.env", "harmless.txt"):
        with pytest.raises(ToolFailure, match="never shown to a model"):
            read(context, path)


def test_home_is_expanded(context: ToolContext) -> None:
    (Path.home() / "note.txt").write_text("hi\n")
    assert read(context, "~/note.txt")["content"] == "1|hi"


@pytest.mark.parametrize("path", ["", "   ", "a\0b"])
def test_paths_that_cannot_be_are_refused(context: ToolContext, path: str) -> None:
    with pytest.raises(ToolFailure):
        read(context, path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_file_says_so(folder: Path, context: ToolContext) -> None:
    (folder / "a.txt").write_text("x")
    (folder / "a.txt").chmod(0)
    with pytest.raises(ToolFailure, match="permission denied"):
        read(context, "a.txt")


class Counting(LocalEnvironment):
    """Counts the bytes that were fetched."""

    fetched = 0

    def read_bytes(self, path: str, *, limit: int | None = None) -> bytes:
        data = super().read_bytes(path, limit=limit)
        self.fetched += len(data)
        return data


def test_a_window_of_a_huge_file_is_cut_out_without_fetching_it(folder: Path) -> None:
    with (folder / "big.log").open("wb") as file:
        for number in range(1, 1_000):
            file.write(b"line %d\n" % number)
        file.write(b"z" * 5_000 + b"\nafter\nafter\n")
        file.seek(2 << 30)
        file.write(b"end\n")
    environment = Counting(cwd=str(folder))
    context = make_context(folder, environment=environment)
    result = read(context, "big.log", offset=998, limit=3)
    lines = result["content"].split("\n")
    assert lines[:2] == ["998|line 998", "999|line 999"]
    assert lines[2].startswith("1000|zzz")
    assert lines[2].endswith("more characters]")
    assert (result["total_lines"], result["next_offset"]) == (None, 1001)
    assert environment.fetched <= 8192
    environment.close()


def test_a_large_file_reads_to_its_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_read, "MAX_WHOLE_BYTES", 10)
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    environment = LocalEnvironment(cwd=str(folder))
    context = make_context(folder, environment=environment, state=AgentState())
    result = read(context, "a.txt", offset=2, limit=2)
    assert (result["content"], result["truncated"]) == ("2|two\n3|three", False)
    with pytest.raises(ToolFailure, match="past the end"):
        read(context, "a.txt", offset=9)
    environment.close()
