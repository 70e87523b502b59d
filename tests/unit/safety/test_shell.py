"""The reader and the abstract evaluation follow bash: each case was checked against bash 5.2."""

import shutil
import subprocess

import pytest

from hermes_tui.safety.shell.arithmetic import calculate
from hermes_tui.safety.shell.parser import parse
from tests.unit.safety.fixture import HOME, WORKSPACE, verdict

WORDS = [
    "echo a b",
    "echo 'a b' \"c d\" e\\ f",
    "echo a\"b\"'c'd",
    "echo $'a\\tb\\x41\\u00e9\\101'",
    'echo "a\\"b\\$c\\\\d\\e"',
    "echo a\\\nb",
    "echo 'a\\\nb'",
    "echo {a,b}{c,d}",
    "echo a{1..3} {c..a} {01..03} {1..7..3}",
    "echo {a,{b,c}} {a {}",
    'echo ~ ~/x ~+ "~" a~',
    "x=1; echo $x ${x} \"$x\" '$x'",
    "x='a b'; echo $x; echo \"$x\"",
    "x=abc; echo ${x:1} ${x:1:1} ${x: -1} ${#x} ${x#a} ${x%c} ${x/b/B} ${x^} ${x^^}",
    "x=aXbXc; echo ${x##*X} ${x%%X*} ${x//X/-} ${x/#a/A} ${x/%c/C}",
    "echo ${unset_a:-d} ${unset_b-e} ${unset_c:=f} $unset_c ${unset_c:+g}",
    'a=(x \'y z\'); echo "${a[@]}"; echo ${a[1]} ${#a[@]} "${a[*]}"',
    "declare -A m=([k]=v); echo ${m[k]}",
    "v=x; x=y; echo ${!v}",
    'set -- a \'b c\'; echo "$@" $# $1 "$*"',
    "IFS=,; x=a,b; echo $x",
    "echo $((1 + 2 * 3)) $(( (4 - 1) % 2 ))",
    'x=$(echo a b); echo "$x" $x',
    "echo $(printf '%s-%s\\n' a b c)",
    "x=`echo \\`echo n\\``; echo $x",
    "printf -v p '%s%s' a b; echo $p",
    "read -r q <<< 'a b'; echo \"$q\"",
    "echo cm0K | base64 -d",
    "echo abc | rev | tr a-z A-Z",
    'f() { echo "$1" "$@"; }; f a b',
    "for i in a b; do echo $i; done",
    "case ab in a*) echo yes;; *) echo no;; esac",
    "x=a; x+=b; echo $x",
    "cd src; echo $PWD; cd ..; echo $PWD $OLDPWD",
    "(cd /; echo $PWD); echo $PWD",
    "echo a;echo b&&echo c||echo d",
    "cat <<EOF\n$((1+1)) $(echo s) \\$x\nEOF\necho after",
    "cat <<'EOF'\n$((1+1))\nEOF\necho after",
    "cat <<-EOF\n\ta\n\tEOF\necho after",
    "cat <<A; cat <<B\na\nA\nb\nB\necho after",
    "echo a # b",
    "echo a#b '#c'",
    'echo "$(echo "nested $(echo deep)")"',
    "eval 'echo a' b",
    "command echo x; builtin echo y",
    "! echo x; time echo y",
    "{ echo a; }; ( echo b )",
    "if true; then echo a; elif false; then echo b; else echo c; fi",
]


def _recorded(command: str, tmp_home: str) -> list[str]:
    """Return what bash gave ``echo``, one line of NUL-free words a call, in the order of the calls."""
    script = "echo() { builtin printf '%s\\x1f' echo \"$@\" >&9; builtin printf '\\n' >&9; builtin echo \"$@\"; }\n"
    program = f"exec 9>{tmp_home}/calls\n{script}{command}\n"
    subprocess.run(
        ["bash", "-c", program],
        cwd=tmp_home + "/project",
        env={"HOME": tmp_home, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        timeout=10,
        check=False,
    )
    with open(f"{tmp_home}/calls", encoding="utf-8") as file:  # noqa: PTH123
        return file.read().split("\x1f\n")[:-1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("command", WORDS)
def test_the_words_are_those_that_bash_makes(command: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = str(tmp_path_factory.mktemp("home"))
    subprocess.run(["mkdir", "-p", f"{home}/project/src"], check=True)
    seen = {
        "\x1f".join(argv).replace(WORKSPACE, f"{home}/project").replace(HOME, home)
        for argv in verdict(command).commands
    }
    ran = [call.replace("\\ ", " ") for call in _recorded(command, home)]
    missing = [call for call in ran if call not in seen and "…" not in "".join(seen)]
    assert not missing, (missing, seen)


@pytest.mark.parametrize(
    "text",
    [
        "'",
        '"',
        "$(",
        "${x",
        "`",
        "((",
        "[[ a",
        "if true",
        "for i in a; do",
        "case x in",
        "{ a",
        "( a",
        "a )",
        "a | | b",
        "a && ;",
        "f() ",
        "a=( b",
        "<",
        "a > ",
        "then",
        "done x",
    ],
)
def test_what_bash_refuses_is_refused(text: str) -> None:
    assert parse(text).error


@pytest.mark.parametrize(
    "text",
    [
        "a &&\nb",
        "a |\nb",
        "a | # x\nb",
        "if a\nthen b\nfi",
        "f() { a; }",
        "function f { a; }",
        "case x in (a) b;; c|d) e;& *) f;;& esac",
        "for ((i=0;i<3;i++)); do a; done",
        "select x in a; do b; done",
        "while a; do b; done < f > g",
        "a 2>&1 >&2 3<&0 4>&- <> f >| g &> h &>> i",
        "[[ a =~ ^(b|c)$ && -f d ]]",
        "coproc a { b; }",
        "time -p a",
        "! a",
        "x=1 y=(a b) z+=c",
        "a[1]=b",
        "declare -a x=(1 2)",
        "echo ${x[@]:1:2} ${x/a/b} ${!x*} ${x@Q}",
        "cat <<A <<B\nA\nB",
        "echo $[1+1] $((1)) $(( (1) ))",
        "{ a; } 2>/dev/null",
        "a;",
    ],
)
def test_what_bash_takes_is_taken(text: str) -> None:
    assert not parse(text).error


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("-7/2", -3),
        ("-7%2", -1),
        ("010", 8),
        ("1<<3", 8),
        ("3>2", 1),
        ("!0", 1),
        ("1&&0", 0),
        ("1/0", None),
        ("x+1", None),
        ("", None),
        ("1" * 300, None),
    ],
)
def test_arithmetic(text: str, value: int | None) -> None:
    assert calculate(text) == value
