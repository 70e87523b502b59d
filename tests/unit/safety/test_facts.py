"""Facts about files: the local disk, a list, another machine; and what they change in a verdict."""

from pathlib import Path

import pytest

from hermes_tui.protocol.environment import EnvironmentFailure, FileStat
from hermes_tui.safety import Decision, EnvironmentFacts, ListedFacts, LocalFacts, judge


class _Elsewhere:
    """The file half of an environment, over a folder."""

    name = "ssh"

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.asked = 0

    def stat(self, path: str) -> FileStat | None:
        self.asked += 1
        if self.broken:
            raise EnvironmentFailure("the connection is lost")
        file = Path(path)
        return FileStat(path, file.is_dir(), file.stat().st_size, 0.0) if file.exists() else None

    def realpath(self, path: str) -> str:
        return str(Path(path).resolve())

    def list_dir(self, path: str) -> list[FileStat]:
        return [FileStat(str(entry), entry.is_dir(), 0, 0.0) for entry in Path(path).iterdir()]

    def read_bytes(self, path: str, *, limit: int | None = None) -> bytes:
        return Path(path).read_bytes()[:limit]


def _elsewhere(*, broken: bool = False) -> tuple[_Elsewhere, EnvironmentFacts]:
    environment = _Elsewhere(broken=broken)
    return environment, EnvironmentFacts(environment)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").write_text("1")
    (tmp_path / "a" / "two.txt").write_text("22")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    return tmp_path


def test_three_sources_say_the_same(folder: Path) -> None:
    listed = ListedFacts(
        [f"{folder}/a/one.txt", f"{folder}/a/two.txt"],
        links={f"{folder}/link": f"{folder}/a"},
        texts={f"{folder}/a/one.txt": "1", f"{folder}/a/two.txt": "22"},
    )
    for facts in (LocalFacts(), listed, _elsewhere()[1]):
        assert facts.exists(f"{folder}/a/one.txt")
        assert not facts.exists(f"{folder}/a/three.txt")
        assert facts.is_dir(f"{folder}/a")
        assert not facts.is_dir(f"{folder}/a/one.txt")
        assert facts.realpath(f"{folder}/link/one.txt") == f"{folder}/a/one.txt"
        assert sorted(facts.glob(f"{folder}/a")) == ["one.txt", "two.txt"]
        assert facts.size(f"{folder}/a/two.txt") == 2
        assert facts.size(f"{folder}/a/three.txt") == -1
        assert facts.count_files(f"{folder}/a", 100) == 2
        assert facts.count_files(f"{folder}/a", 1) == 1
        assert facts.read_text(f"{folder}/a/two.txt", 10) == "22"
        assert facts.read_text(f"{folder}/a/two.txt", 1) is None


def test_another_machine_is_asked_once() -> None:
    environment, facts = _elsewhere()
    for _ in range(3):
        facts.exists("/nowhere")
    assert environment.asked == 1


def test_a_lost_connection_does_not_make_an_overwrite_harmless(folder: Path) -> None:
    found = judge(
        "echo x > new.txt", cwd=str(folder), home="/h", workspace=str(folder), facts=_elsewhere(broken=True)[1]
    )
    assert found.decision is Decision.ASK


def _in(folder: Path, command: str, **fields: object) -> Decision:
    return judge(command, cwd=str(folder), home="/h", workspace=str(folder), **fields).decision  # type: ignore[arg-type]


def test_what_is_not_there_or_empty_cannot_be_lost(folder: Path) -> None:
    (folder / "empty").touch()
    assert _in(folder, "echo x > new.txt") is Decision.ALLOW
    assert _in(folder, "echo x > empty") is Decision.ALLOW
    assert _in(folder, "echo x > a/one.txt") is Decision.ASK


def test_what_the_command_made_may_go(folder: Path) -> None:
    assert _in(folder, "touch b && rm b") is Decision.ALLOW
    assert _in(folder, "mkdir -p build; rm -rf build/x") is not Decision.BLOCK
    assert _in(folder, "touch b && rm a/one.txt") is Decision.ASK


def test_what_this_session_made_can_be_overwritten_with_a_note(folder: Path) -> None:
    path = f"{folder}/a/one.txt"
    assert _in(folder, "echo x > a/one.txt", facts=LocalFacts([path])) is Decision.NOTE
    assert _in(folder, "rm a/one.txt", facts=LocalFacts([path])).rank <= Decision.ASK.rank


def test_links_are_judged_by_what_they_point_at(folder: Path) -> None:
    (folder / "out").symlink_to("/etc")
    assert _in(folder, "rm -rf out/") is Decision.BLOCK
    assert _in(folder, "rm out") is Decision.ASK
    assert _in(folder, "echo x > out/new") is Decision.ASK


def test_git_says_what_it_could_not_give_back(folder: Path) -> None:
    import subprocess

    run = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(folder)]
    for command in (["init", "-q"], ["add", "a/one.txt"], ["commit", "-qm", "x"]):
        subprocess.run([*run, *command], check=True, capture_output=True)
    found = judge("rm -rf a", cwd=str(folder), home="/h", workspace=str(folder), deep=True)
    assert found.reason == "Deletes 2 files in a; 1 of these files is not in git as it is now"


@pytest.mark.parametrize("path", ["\x00", "x" * 5000, "/proc/self/mem"])
def test_odd_paths_are_survived(path: str) -> None:
    facts = LocalFacts()
    assert facts.exists(path) in (True, False)
    assert facts.read_text(path, 10) is None
    assert facts.count_files(path, 10) in (0, 1)


def test_a_workspace_that_is_the_home_folder_keeps_its_secrets() -> None:
    where = {"cwd": "/home/dev", "home": "/home/dev", "workspace": "/home/dev", "facts": ListedFacts(())}
    assert judge("echo x > notes.txt", **where).decision is Decision.ALLOW  # type: ignore[arg-type]
    for command in ("cat .ssh/id_rsa", "echo x >> .bashrc", "tar cf x.tar .ssh"):
        assert judge(command, **where).decision is Decision.ASK, command  # type: ignore[arg-type]
    assert judge("rm -rf *", **where).decision is Decision.BLOCK  # type: ignore[arg-type]


@pytest.mark.parametrize("workspace", ["/", "/etc", "/usr"])
def test_the_root_is_nobodys_project(workspace: str) -> None:
    found = judge("echo x > etc/new", cwd=workspace, home="/root", workspace=workspace, facts=ListedFacts(()))
    assert found.decision is Decision.ASK
