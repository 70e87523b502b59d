"""sudo for real: a throw-away user with a password, the real sudo, our shim and socket between them.

Needs root (to make the user) and the packages of ``tests/services/install.sh``. The user's name and password are new
in each run, and both are gone at the end. ``sudo_driver.py`` runs the commands as that user.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

DRIVER = Path(__file__).with_name("sudo_driver.py")
ROOT = Path(__file__).parents[2]
HELPER_PYTHON = "/usr/bin/python3"
NEEDED = ("sudo", "useradd", "userdel", "chpasswd", "setpriv", HELPER_PYTHON)

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.service,
    pytest.mark.skipif(os.geteuid() != 0, reason="making a throw-away user needs root"),
    pytest.mark.skipif(
        not all(shutil.which(name, path=f"{os.defpath}:/usr/sbin:/sbin") for name in NEEDED),
        reason="run `make services`",
    ),
]


@dataclass(frozen=True)
class Case:
    """One command and what the person does: ``answers`` in order, "none" from then on."""

    command: str
    answers: list[str | None] = field(default_factory=list)
    stdin: str | None = None
    pty: bool = False
    background: bool = False
    timeout: float = 30
    remember: bool = False


@dataclass(frozen=True)
class SudoUser:
    name: str
    password: str
    folder: Path

    def run(self, *cases: Case, configured: str = "") -> list[dict[str, Any]]:
        """Run the cases in one session, as the user; return what each left and what was asked."""
        work = json.dumps(
            {"cases": [vars(case) for case in cases], "configured": configured, "folder": str(self.folder)}
        )
        command = [
            *("setpriv", f"--reuid={self.name}", f"--regid={self.name}", "--init-groups"),
            # The interpreter of the tests may lie in a folder closed to others; that alone is opened.
            *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
            *("env", "-i", f"PATH={os.environ['PATH']}", f"HOME={self.folder}", "LANG=C.UTF-8", f"PYTHONPATH={ROOT}"),
            *("PYTHONDONTWRITEBYTECODE=1", f"HERMES_TEST_HELPER_PYTHON={HELPER_PYTHON}", f"TMPDIR={self.folder}"),
            *(sys.executable, str(DRIVER)),
        ]
        done = subprocess.run(command, input=work, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        answer: list[dict[str, Any]] = json.loads(done.stdout)
        return answer


def _system(*command: str, stdin: str | None = None) -> None:
    environ = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    subprocess.run(command, input=stdin, text=True, check=True, capture_output=True, env=environ)


@contextmanager
def throw_away_user(defaults: str) -> Iterator[SudoUser]:
    name = f"hermes-test-{secrets.token_hex(4)}"
    password = f"pw-{secrets.token_urlsafe(12)}"
    rules = Path(f"/etc/sudoers.d/zz-{name}")
    folder = Path(f"/var/tmp/{name}")
    try:
        _system("useradd", "--no-create-home", "--shell", "/bin/bash", name)
        _system("chpasswd", stdin=f"{name}:{password}")
        rules.write_text(
            f"Defaults:{name} !lecture, passwd_tries=3, {defaults}\n"
            f"{name} ALL=(ALL:ALL) ALL\n"
            f"{name} ALL=(ALL:ALL) NOPASSWD: /usr/bin/whoami\n"
        )
        rules.chmod(0o440)
        folder.mkdir(mode=0o700)
        shutil.chown(folder, name, name)
        yield SudoUser(name, password, folder)
    finally:
        rules.unlink(missing_ok=True)
        Path(f"/run/sudo/ts/{name}").unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["userdel", "--force", name], check=False, capture_output=True)


@pytest.fixture(scope="module")
def user() -> Iterator[SudoUser]:
    """A user whom sudo asks every time."""
    with throw_away_user("timestamp_timeout=0") as made:
        yield made


@pytest.fixture(scope="module")
def user_with_tickets() -> Iterator[SudoUser]:
    """A user whom sudo believes for five minutes, in every shell."""
    with throw_away_user("timestamp_timeout=5, timestamp_type=global") as made:
        yield made


def test_right_password(user: SudoUser) -> None:
    [done] = user.run(Case("sudo id -u", [user.password]))
    assert (done["output"], done["code"]) == ("0\n", 0)
    [asked] = done["asked"]
    assert asked["command"] == "sudo id -u"
    assert (asked["user"], asked["attempt"], asked["asked_by"]) == (user.name, 1, "")


def test_wrong_then_right(user: SudoUser) -> None:
    [done] = user.run(Case("sudo id -u", ["wrong", user.password]))
    assert done["output"].endswith("0\n")
    assert [asked["attempt"] for asked in done["asked"]] == [1, 2]


def test_always_wrong_ends(user: SudoUser) -> None:
    done, again = user.run(
        Case("sudo id -u", ["w-one", "w-two", "w-three", "w-four"], remember=True), Case("sudo id -u", [user.password])
    )
    assert done["code"] == 1
    assert len(done["asked"]) == 3
    assert again["output"] == "0\n"
    assert len(again["asked"]) == 1


def test_no_answer_goes_on_without(user: SudoUser) -> None:
    [done] = user.run(Case("sudo id -u; echo went on", []))
    assert "a password is required" in done["output"]
    assert done["output"].endswith("went on\n")


def test_remembered_only_if_ticked(user: SudoUser) -> None:
    first, second, third = user.run(
        Case("sudo id -u", [user.password]),
        Case("sudo id -u", [user.password], remember=True),
        Case("sudo id -u; sudo id -g", []),
    )
    assert [len(done["asked"]) for done in (first, second, third)] == [1, 1, 0]
    assert third["output"] == "0\n0\n"


def test_configured_password_never_asks(user: SudoUser) -> None:
    [done] = user.run(Case("sudo id -u", []), configured=user.password)
    assert (done["output"], done["asked"]) == ("0\n", [])


@pytest.mark.parametrize(
    "command",
    [
        "printf '#!/bin/sh\\nsudo id -u\\n' >deploy.sh; chmod +x deploy.sh; ./deploy.sh",
        "echo -u | xargs sudo id",
        "bash -c 'bash -c \"sudo id -u\"'",
        "alias up='sudo'\nup id -u",
        "sudo -u root -- id -u",
        "sudo -Hu root id -u",
        "x=$(sudo id -u); echo $x",
        "sudo --user=root VAR=1 id -u",
    ],
)
def test_wherever_sudo_is_called(user: SudoUser, command: str) -> None:
    [done] = user.run(Case(command, [user.password]))
    assert done["output"] == "0\n"
    assert len(done["asked"]) == 1


def test_who_asks_is_told(user: SudoUser) -> None:
    [done] = user.run(
        Case("printf '#!/bin/sh\\nsudo id -u\\n' >deploy.sh; sh deploy.sh --now; rm deploy.sh", [user.password])
    )
    assert done["asked"][0]["asked_by"] == "sh deploy.sh --now"


def test_nopasswd_never_asks(user: SudoUser) -> None:
    [done] = user.run(Case("sudo /usr/bin/whoami"))
    assert (done["output"], done["asked"]) == ("root\n", [])


def test_valid_ticket_never_asks_and_leaves_the_input_alone(user_with_tickets: SudoUser) -> None:
    first, second = user_with_tickets.run(
        Case("sudo -v", [user_with_tickets.password]), Case("sudo cat; sudo -n id -u", stdin="body\n")
    )
    assert len(first["asked"]) == 1
    assert (second["output"], second["asked"]) == ("body\n0\n", [])


def test_input_of_the_command_is_its_own(user: SudoUser) -> None:
    [done] = user.run(Case("sudo cat", [user.password], stdin="first line\nsecond line"))
    assert done["output"] == "first line\nsecond line"


def test_options_keep_their_meaning(user: SudoUser) -> None:
    noninteractive, stdin, forget, listed = user.run(
        Case("sudo -n id -u"),
        Case(f"echo {user.password} | sudo -S -p '' id -u"),
        Case("sudo -k; echo $?"),
        Case("sudo -l | tail -n 1", [user.password]),
    )
    assert (noninteractive["code"], noninteractive["asked"]) == (1, [])
    assert "a password is required" in noninteractive["output"]
    assert (stdin["output"], stdin["asked"]) == ("0\n", [])
    assert forget["output"] == "0\n"
    assert "NOPASSWD" in listed["output"]


def test_the_word_sudo_as_text(user: SudoUser) -> None:
    [done] = user.run(Case("echo sudo apt install; grep -c sudo <<<'sudo sudo'; # sudo"))
    assert (done["output"], done["asked"]) == ("sudo apt install\n1\n", [])


def test_under_a_pseudo_terminal(user: SudoUser) -> None:
    [done] = user.run(Case("sudo id -u", [user.password], pty=True))
    assert done["output"].strip() == "0"


def test_in_the_background(user: SudoUser) -> None:
    [done] = user.run(Case("sudo id -u; echo done", [user.password], background=True))
    assert done["output"] == "0\ndone"
    assert len(done["asked"]) == 1


def test_clock_stands_still_while_the_person_types(user: SudoUser) -> None:
    [done] = user.run(Case("sudo id -u", ["slow:" + user.password], timeout=0.8))
    assert done["output"] == "0\n"
    assert not done["timed_out"]


def test_command_cannot_ask_for_the_password_itself(user: SudoUser) -> None:
    steal = 'd=$(dirname "$(command -v sudo)"); "$d/askpass" "[sudo]"; echo "code $?"'
    [done] = user.run(Case(steal, [user.password]))
    assert (done["output"], done["asked"]) == ("code 1\n", [])


def test_password_is_nowhere(user: SudoUser) -> None:
    look = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null"
    [done] = user.run(Case(f"sudo id -u; sudo sh -c '{look}' | tr '\\0' '\\n'; env; set", [user.password] * 2))
    assert "PATH=" in done["output"]
    assert user.password not in done["output"]
    assert "[password hidden]" not in done["output"]
    grep = ["grep", "-rl", user.password, str(user.folder)]
    assert subprocess.run(grep, capture_output=True, text=True, check=False).stdout == ""


def test_echoed_password_is_scrubbed_from_output_and_file(user: SudoUser) -> None:
    [done] = user.run(Case(f"sudo true; seq 30000; echo {user.password}", [user.password]))
    assert done["output"].endswith("[password hidden]\n")
    assert user.password not in Path(done["spilled_to"]).read_text()


def test_what_runs_as_root_is_ended_too(user: SudoUser) -> None:
    [done] = user.run(Case("sudo sh -c \"trap '' TERM; sleep 3131; sleep 3131\"", [user.password], timeout=1))
    assert done["timed_out"]
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert b"sleep\x003131\x00" not in commands


def test_nothing_is_left_after_the_call(user: SudoUser) -> None:
    first, second = user.run(
        Case("sudo id -u; command -v sudo; echo", [user.password]),
        Case("echo $PATH; env; ls -d $TMPDIR/hermes-tui-sudo*"),
    )
    shim = first["output"].splitlines()[1]
    assert "/hermes-tui-sudo-" in shim
    assert shim.rpartition("/")[0] not in second["output"]
    assert second["output"].splitlines()[0].count("hermes-tui-sudo") == 1
    assert "ASKPASS" not in second["output"]
    assert not list(user.folder.glob("hermes-tui-*"))
