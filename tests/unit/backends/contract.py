"""What every backend must do, as one suite: subclass ``EnvironmentContract`` and give it a fixture ``environment``.

The fixture returns a fresh environment whose folder exists and is empty. Nothing here knows which backend it is.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from hermes_tui.backends.base import ShellEnvironment
from hermes_tui.protocol.cancel import CancelToken
from hermes_tui.protocol.environment import Environment


class FullEnvironment(ShellEnvironment, Environment):
    """A backend with both halves: commands and files. Only a type; never made."""


class EnvironmentContract:
    # -- output and exit ----------------------------------------------------------------------------------------------

    def test_output_and_exit_code(self, environment: FullEnvironment) -> None:
        result = environment.execute("echo out; echo err >&2; exit 3")
        assert (result.output, result.returncode, result.signal) == ("out\nerr\n", 3, None)
        assert result["output"] == result.output

    @pytest.mark.parametrize(
        ("command", "code"),
        [
            ("true", 0),
            ("false", 1),
            ("set -e; false; echo not reached", 1),
            ("set -u; echo $nothing_here", 127),
            ("exec false", 1),
            ("exec nosuchprogram 2>/dev/null", 127),
            ("nosuchprogram 2>/dev/null", 127),
            ("if then", 2),
            ("(exit 9)", 9),
            ("trap 'exit 7' EXIT", 7),
            ("return 4 2>/dev/null; exit 5", 5),
            ("sh -c 'kill -SEGV $$' 2>/dev/null", 139),
        ],
    )
    def test_exit_code_of(self, environment: FullEnvironment, command: str, code: int) -> None:
        result = environment.execute(command)
        assert result.returncode == code
        assert "hermes" not in result.output

    def test_shell_ended_by_a_signal(self, environment: FullEnvironment) -> None:
        result = environment.execute("echo before; kill -9 $$; echo after")
        assert (result.output, result.returncode, result.signal) == ("before\n", 137, 9)

    def test_machinery_is_never_seen(self, environment: FullEnvironment) -> None:
        plain = "echo line $LINENO $0 $#\nnosuchprogram\n"
        assert environment.execute(plain).output == "line 1 bash 0\nbash: line 2: nosuchprogram: command not found\n"
        traced = environment.execute("set -x; exit 4").output
        assert "hermes" not in traced
        assert traced.splitlines() == [traced.splitlines()[0]]
        assert traced.strip().endswith("+ exit 4")
        debug = environment.execute("trap 'echo debug' DEBUG; true").output
        assert debug == "debug\n"
        assert environment.execute("trap 'echo bye' EXIT; X=kept; exit").output == "bye\n"

    def test_command_that_looks_like_an_option_or_ends_badly(self, environment: FullEnvironment) -> None:
        assert environment.execute("-n x 2>/dev/null").returncode == 127
        assert environment.execute("echo a # comment").output == "a\n"
        assert environment.execute("cat <<'END'\nit's\nEND").output == "it's\n"
        assert environment.execute("echo one \\").output == "one \\\n"

    def test_long_command(self, environment: FullEnvironment) -> None:
        text = "x" * 500_000
        assert environment.execute(f"v={text}; echo ${{#v}}; unset v").output == "500000\n"

    def test_command_that_no_shell_can_take(self, environment: FullEnvironment) -> None:
        with pytest.raises(ValueError, match="NUL"):
            environment.execute("echo \0")
        with pytest.raises(ValueError, match="Unicode"):
            environment.execute("echo \ud800")

    # -- the session --------------------------------------------------------------------------------------------------

    def test_session_lasts(self, environment: FullEnvironment) -> None:
        environment.execute(
            "plain='a b'; export SHOWN=$'two\\nlines'; list=(1 '2 3'); declare -A map=([k]='v w'); declare -i n=4\n"
            "say() { echo \"say $1\"; }; alias hello='echo alias'; shopt -s extglob nullglob; umask 027"
        )
        result = environment.execute(
            'echo "$plain|$SHOWN|${#list[@]}|${list[1]}|${map[k]}|$((n+1))"; say hi; hello; umask; shopt extglob\n'
            "sh -c 'echo \"$SHOWN\"'; echo *.nothing"
        )
        assert result.output == ("a b|two\nlines|2|2 3|v w|5\nsay hi\nalias\n0027\nextglob        \ton\ntwo\nlines\n\n")

    def test_session_lasts_through_exit_and_errors(self, environment: FullEnvironment) -> None:
        environment.execute("A=1; exit 3")
        environment.execute("B=2; set -e; false")
        assert environment.execute("echo $A $B $-").output.startswith("1 2 ")
        assert "e" not in environment.execute("echo $-").output.strip()

    def test_unset_lasts(self, environment: FullEnvironment) -> None:
        environment.execute("unset HOME; x=1")
        environment.execute("unset x")
        assert environment.execute("echo ${HOME-none} ${x-none}").output == "none none\n"

    def test_own_variables_of_the_shell_stay_alive(self, environment: FullEnvironment) -> None:
        command = "echo $RANDOM$RANDOM$RANDOM"
        assert environment.execute(command).output != environment.execute(command).output

    def test_user_functions_named_like_builtins(self, environment: FullEnvironment) -> None:
        environment.execute("cd() { builtin cd \"$@\" && echo moved; }; printf() { echo no; }; alias declare='echo no'")
        environment.execute("mkdir -p sub; X=5")
        result = environment.execute("cd sub; echo $X")
        assert result.output == "moved\n5\n"
        assert result.cwd.endswith("/sub")
        assert environment.execute("pwd").output.strip() == result.cwd

    @pytest.mark.parametrize(
        "odd",
        [
            "set -o posix",
            "set -f",
            "set -C",
            "set -ua",
            "shopt -s nocasematch",
            "IFS=:",
            "exec >/dev/null 2>&1",
            "umask 277",
            "set -- a b",
            "alias builtin=false shopt=false printf=false",
            "readonly FIXED=1",
        ],
    )
    def test_session_lasts_under_odd_settings(self, environment: FullEnvironment, odd: str) -> None:
        environment.execute(f"{odd}\nuid=lower X='a:b c'\nf() {{ :; }}; mkdir -p odd; cd odd")
        result = environment.execute('echo "$uid|$X"; type -t f; umask 022')
        assert (result.output, result.returncode) == ("lower|a:b c\nfunction\n", 0)
        assert result.cwd.endswith("/odd")

    def test_lost_shell_leaves_the_session_as_it_was(self, environment: FullEnvironment) -> None:
        environment.execute("X=kept")
        environment.execute("X=lost; exec true")
        environment.execute("X=lost; kill -9 $$")
        assert environment.execute("echo $X").output == "kept\n"

    def test_env_of_one_call(self, environment: FullEnvironment) -> None:
        environment.execute("export GIVEN=own; OTHER=1")
        result = environment.execute("sh -c 'echo $GIVEN'; OTHER=2", env={"GIVEN": "for this call", "ONLY": "now"})
        assert result.output == "for this call\n"
        assert environment.execute("sh -c 'echo $GIVEN'; echo ${ONLY-none} $OTHER").output == "own\nnone 2\n"

    # -- the folder ---------------------------------------------------------------------------------------------------

    def test_folder_lasts(self, environment: FullEnvironment) -> None:
        start = environment.cwd
        result = environment.execute("mkdir -p 'a b'; cd 'a b'; exit 1")
        assert result.cwd == environment.cwd == f"{start}/a b"
        assert environment.execute("pwd; cd -").output == f"{start}/a b\n{start}\n"
        assert environment.cwd == start

    def test_folder_of_one_call(self, environment: FullEnvironment) -> None:
        start = environment.cwd
        environment.execute("mkdir -p here/there")
        result = environment.execute("pwd; cd there; X=1", f"{start}/here")
        assert (result.output, result.cwd) == (f"{start}/here\n", f"{start}/here/there")
        assert environment.cwd == start
        assert environment.execute("echo $X").output == "1\n"
        assert environment.execute("pwd", "here").output == f"{start}/here\n"
        assert environment.execute("pwd", "~").output == f"{environment.home}\n"

    def test_folder_with_newline(self, environment: FullEnvironment) -> None:
        environment.execute("mkdir $'new\\nline'; cd $'new\\nline'")
        assert environment.cwd.endswith("/new\nline")
        assert environment.execute("touch f; ls").output == "f\n"

    def test_vanished_folder(self, environment: FullEnvironment) -> None:
        start = environment.cwd
        environment.execute("mkdir -p x/y; cd x/y")
        environment.execute(f"rm -r {start}/x", start)
        result = environment.execute("pwd")
        assert result.output.endswith(f"\n{start}\n")
        assert f"{start}/x/y is gone" in result.output
        assert environment.cwd == start
        assert environment.execute("pwd").output == f"{start}\n"

    def test_missing_folder_of_one_call(self, environment: FullEnvironment) -> None:
        result = environment.execute("echo not run", "/no/such/folder")
        assert result.returncode == 126
        assert "/no/such/folder" in result.output
        assert "not run" not in result.output

    # -- input --------------------------------------------------------------------------------------------------------

    def test_input(self, environment: FullEnvironment) -> None:
        assert environment.execute("cat", stdin_data="grüße").output == "grüße"
        assert environment.execute("wc -c", stdin_data=b"\xff" * 300_000).output.strip() == "300000"
        assert environment.execute("cat").output == ""
        assert environment.execute("true", stdin_data="x" * 500_000).returncode == 0

    # -- endings ------------------------------------------------------------------------------------------------------

    def test_timeout(self, environment: FullEnvironment) -> None:
        environment.execute("X=before")
        started = time.monotonic()
        result = environment.execute("X=after; echo begun; sleep 60", timeout=0.4)
        assert (result.returncode, result.timed_out, result.interrupted) == (124, True, False)
        assert result.output == "begun\n"
        assert time.monotonic() - started < 2
        assert environment.execute("echo $X").output == "before\n"

    @pytest.mark.parametrize(
        "command",
        [
            "sleep {n}",
            "sleep {n} & sleep {n}",
            "nohup sleep {n} >/dev/null 2>&1 & disown; sleep {n}",
            "set -m; sleep {n} & sleep {n}",
            "setsid sleep {n} & sleep {n}",
            "(setsid sh -c 'sleep {n} & exit' &); sleep {n}",
            "trap '' TERM INT HUP; sleep {n} & sleep {n}",
            "exec sleep {n}",
            "exec >/dev/null 2>&1; sleep {n}",
        ],
    )
    def test_cancel_ends_everything_within_a_second(self, environment: FullEnvironment, command: str) -> None:
        number = f"31{abs(hash(command)) % 10_000:04d}"
        cancel = CancelToken()
        begun = threading.Event()

        def run() -> tuple[int, bool]:
            result = environment.execute(
                f"echo begun; {command.format(n=number)}", on_output=lambda _: begun.set(), cancel=cancel
            )
            return result.returncode, result.interrupted

        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(run)
            assert begun.wait(5)
            wait_for(lambda: count_of(environment, number) > 0)
            started = time.monotonic()
            cancel.cancel()
            assert running.result(5) == (130, True)
        assert time.monotonic() - started < 1
        assert count_of(environment, number) == 0

    def test_cancelled_before_it_began(self, environment: FullEnvironment) -> None:
        cancel = CancelToken()
        cancel.cancel()
        assert environment.execute("touch was-run", cancel=cancel).interrupted
        assert environment.stat("was-run") is None

    def test_background_child_does_not_hold_the_call(self, environment: FullEnvironment) -> None:
        started = time.monotonic()
        result = environment.execute("sleep 30 & echo done")
        assert (result.output, result.returncode) == ("done\n", 0)
        assert time.monotonic() - started < 2

    def test_background_child_lives_on_and_may_write(self, environment: FullEnvironment) -> None:
        environment.execute("(while ! [ -e go ]; do sleep 0.02; done; echo late; echo late; touch survived) & true")
        environment.execute("touch go")
        wait_for(lambda: environment.stat("survived") is not None)

    # -- much output --------------------------------------------------------------------------------------------------

    def test_flood_keeps_head_and_tail_and_the_whole_on_disk(self, environment: FullEnvironment) -> None:
        result = environment.execute("echo first; seq 1000000; echo last")
        assert result.truncated
        assert result.size_bytes == 6_888_896 + len("first\nlast\n")
        assert result.output.startswith("first\n1\n2\n")
        assert result.output.endswith("999999\n1000000\nlast\n")
        assert len(result.output) < 100_000
        with open(result.spilled_to, encoding="utf-8") as file:  # noqa: PTH123 - a path of the host
            lines = file.read().splitlines()
        assert (len(lines), lines[0], lines[-1], lines[500_000]) == (1_000_002, "first", "last", "500000")
        assert result.spilled_to in result.output

    def test_live_output(self, environment: FullEnvironment) -> None:
        seen: list[bytes] = []
        environment.execute("echo one; echo two >&2", on_output=seen.append)
        assert b"".join(seen) == b"one\ntwo\n"

    def test_invalid_utf8(self, environment: FullEnvironment) -> None:
        assert environment.execute(r"printf 'a\xffb\xe2\x82'").output == "a\ufffdb\ufffd"

    # -- side by side -------------------------------------------------------------------------------------------------

    def test_concurrent_calls(self, environment: FullEnvironment) -> None:
        def run(number: int) -> str:
            return environment.execute(f"sleep 0.2; echo {number}").output

        started = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            outputs = list(pool.map(run, range(8)))
        assert outputs == [f"{number}\n" for number in range(8)]
        assert time.monotonic() - started < 1.5

    def test_concurrent_call_that_changed_nothing_overwrites_nothing(self, environment: FullEnvironment) -> None:
        environment.execute("true")
        with ThreadPoolExecutor(1) as pool:
            begun = threading.Event()
            slow = pool.submit(
                environment.execute,
                "echo begun; while ! [ -e go ]; do sleep 0.02; done",
                on_output=lambda _: begun.set(),
            )
            assert begun.wait(5)
            environment.execute("X=1; touch go")
            slow.result(10)
        assert environment.execute("echo $X").output == "1\n"

    # -- terminal -----------------------------------------------------------------------------------------------------

    def test_pseudo_terminal(self, environment: FullEnvironment) -> None:
        result = environment.execute("test -t 0 && test -t 1 && stty size && echo yes >/dev/tty; X=1; exit 3", pty=True)
        assert result.output.split() == ["30", "120", "yes"]
        assert result.returncode == 3
        assert environment.execute("echo $X").output == "1\n"

    def test_started_process(self, environment: FullEnvironment) -> None:
        environment.execute("X=session")
        process = environment.start('read line; echo "got $line in $X"; X=other')
        process.write(b"data\n")
        output = b""
        while chunk := process.read(5):
            output += chunk
        wait_for(lambda: process.poll() is not None)
        process.close()
        assert output == b"got data in session\n"
        assert environment.execute("echo $X").output == "session\n"

    # -- files --------------------------------------------------------------------------------------------------------

    def test_files(self, environment: FullEnvironment) -> None:
        environment.write_bytes("new.txt", b"\x00binary\xff")
        assert environment.read_bytes("new.txt") == b"\x00binary\xff"
        assert environment.read_bytes("new.txt", limit=3) == b"\x00bi"
        environment.make_dirs("deep/er")
        environment.rename("new.txt", "deep/moved")
        assert environment.stat("new.txt") is None
        facts = environment.stat("deep/moved")
        assert facts is not None
        assert (facts.size, facts.is_dir) == (8, False)
        assert facts.path == environment.realpath("deep/moved")
        assert [(entry.path.rpartition("/")[2], entry.is_dir) for entry in environment.list_dir("deep")] == [
            ("er", True),
            ("moved", False),
        ]
        environment.remove("deep/moved")
        assert environment.execute("ls deep").output == "er\n"

    def test_files_follow_the_folder(self, environment: FullEnvironment) -> None:
        environment.execute("mkdir sub; cd sub; echo hi > f")
        assert environment.read_bytes("f") == b"hi\n"
        assert environment.realpath("../sub/f") == f"{environment.cwd}/f"

    def test_write_keeps_mode_and_follows_links(self, environment: FullEnvironment) -> None:
        environment.execute("echo old > real; chmod 751 real; ln -s real link")
        environment.write_bytes("link", b"new\n")
        assert environment.execute("cat real; test -L link && stat -c %a real; ls").output == "new\n751\nlink\nreal\n"

    def test_file_errors(self, environment: FullEnvironment) -> None:
        environment.make_dirs("folder")
        with pytest.raises(FileNotFoundError):
            environment.read_bytes("nothing")
        with pytest.raises(IsADirectoryError):
            environment.read_bytes("folder")
        with pytest.raises(IsADirectoryError):
            environment.write_bytes("folder", b"")
        with pytest.raises(FileNotFoundError):
            environment.write_bytes("no/such/folder/f", b"")
        assert environment.stat("folder/nothing") is None

    # -- the end ------------------------------------------------------------------------------------------------------

    def test_health(self, environment: FullEnvironment) -> None:
        assert environment.health().usable

    def test_close_ends_what_was_left_behind(self, environment: FullEnvironment) -> None:
        environment.execute("echo $$; setsid sleep 3124 >/dev/null 2>&1 &")
        wait_for(lambda: count_of(environment, "3124") == 1)
        environment.close()
        environment.close()
        wait_for(lambda: self.left_over("3124") == 0)

    def left_over(self, number: str) -> int:
        """How many ``sleep number`` are left after ``close``. A backend whose machine went away has none."""
        return 0


def count_of(environment: Environment, number: str) -> int:
    """How many ``sleep number`` run at the environment's side."""
    command = (
        "for f in /proc/[0-9]*/cmdline; do a= b=; { IFS= read -rd '' a; IFS= read -rd '' b; } 2>/dev/null <$f; "
        f'[[ "$a $b" == "sleep {number}" ]] && echo x; done 2>/dev/null'
    )
    return environment.execute(command).output.count("x")


def wait_for(condition: Callable[[], object], timeout_s: float = 10.0) -> None:
    """Return when ``condition()`` is true; fail when it stays false."""
    give_up_at = time.monotonic() + timeout_s
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < give_up_at, "the state waited for did not come"
        pause.wait(0.02)
