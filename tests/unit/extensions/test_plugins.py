"""Plugins: what they add, and how each may fail alone."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from hermes_tui.extensions.hooks import Hooks, block_message
from hermes_tui.extensions.plugins import PluginHost, PluginReport, load_plugins
from hermes_tui.tools.registry import ToolRegistry

Write = Callable[..., Path]


class Host:
    def __init__(self) -> None:
        self.registry = ToolRegistry()
        self.hooks = Hooks()
        self.injected: list[str] = []
        self.dispatched: list[tuple[str, dict[str, object]]] = []

    def load(self, *folders: Path, limit_s: float = 10.0, variables: dict[str, str] | None = None) -> PluginReport:
        def inject(text: str) -> bool:
            self.injected.append(text)
            return True

        def dispatch(name: str, args: dict[str, object]) -> str:
            self.dispatched.append((name, args))
            return "{}"

        host = PluginHost(
            registry=self.registry,
            hooks=self.hooks,
            inject=inject,
            dispatch=dispatch,
            variables=variables or {},
            taken=lambda name: name == "help",
            limit_s=limit_s,
        )
        return load_plugins(host, list(folders))


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def write(home: Path) -> Write:
    def plugin(name: str, code: str, manifest: str = "", parent: Path = home / "plugins") -> Path:
        folder = parent / name
        folder.mkdir(parents=True)
        (folder / "plugin.yaml").write_text(manifest or f"name: {name}\nversion: '1.0'\n", encoding="utf-8")
        (folder / "__init__.py").write_text(dedent(code), encoding="utf-8")
        return folder

    return plugin


FULL = """
    import json
    from . import words

    def register(ctx):
        schema = {"name": "greet", "description": "Greet.", "parameters": {"type": "object", "properties": {}}}
        ctx.register_tool(name="greet", toolset="greetings", schema=schema, handler=lambda args, **kw: words.HELLO)
        ctx.register_hook("pre_tool_call", lambda tool_name, **kw: {"action": "block", "message": "no " + tool_name})
        ctx.register_command("greet", lambda args: f"Hello, {args}!", description="Greet", args_hint="[name]")
        ctx.register_skill("waving", "skills/waving")
        ctx.inject_message("from the plugin")
        ctx.dispatch_tool("todo", {"x": 1})
"""


def test_a_plugin_adds_tools_hooks_commands_and_skills(host: Host, write: Write) -> None:
    folder = write("greeter", FULL, "name: greeter\nversion: 2\ndescription: Greets\n")
    (folder / "words.py").write_text("HELLO = '{\"hello\": true}'\n")
    skill = folder / "skills" / "waving"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: waving\ndescription: Wave.\n---\n")
    report = host.load(folder.parent)
    assert report.failures == []
    (plugin,) = report.plugins
    assert (plugin.name, plugin.version, plugin.description) == ("greeter", "2", "Greets")
    assert (plugin.tools, plugin.hooks, plugin.commands) == (
        ("greet",),
        ("pre_tool_call",),
        ("greet", "waving"),
    )
    assert json.loads(host.registry.dispatch("greet", {})) == {"hello": True}
    assert block_message(host.hooks.call("pre_tool_call", tool_name="terminal")) == "no terminal"
    assert report.commands["greet"].run("Ada") == "Hello, Ada!"
    assert report.skills == [skill.parent]
    report.commands["waving"].run("at Ada")
    told = "Use the skill waving: view it with skill_view, then do what it says. at Ada"
    assert host.injected == ["from the plugin", told]
    assert host.dispatched == [("todo", {"x": 1})]


@pytest.mark.parametrize(
    ("code", "manifest", "reason"),
    [
        ("import no_such_package\n", "", "the package no_such_package is not installed: pip install no_such_package"),
        ("def register(ctx)\n    pass\n", "", "line 1 is not valid Python"),
        ("raise RuntimeError('no luck')\n", "", "RuntimeError: no luck"),
        ("import sys\nsys.exit(3)\n", "", "it ends the program when it is loaded"),
        ("x = 1\n", "", "it has no function register"),
        ("def register(ctx):\n    ctx.register_hook('pre_tool_cal', print)\n", "", "did you mean pre_tool_call"),
        ("def register(ctx):\n    ctx.register_command('help', print)\n", "", "there is a command /help already"),
        ("def register(ctx):\n    ctx.register_command('Not Good', print)\n", "", "use small letters"),
        ("def register(ctx):\n    ctx.register_skill('s', 'nowhere')\n", "", "there is no"),
        ("def register(ctx):\n    pass\n", "- a list\n", "must hold keys and values"),
        ("def register(ctx):\n    pass\n", "a: [\n", "its plugin.yaml cannot be read"),
        ("def register(ctx):\n    pass\n", "requires_env: [SPECIAL_PLUGIN_KEY]\n", "SPECIAL_PLUGIN_KEY is not set"),
    ],
)
def test_each_fails_alone_and_says_why(
    host: Host, write: Write, caplog: pytest.LogCaptureFixture, code: str, manifest: str, reason: str
) -> None:
    write("aaa", code, manifest)
    good = write("good", "def register(ctx):\n    ctx.register_hook('on_session_start', print)\n")
    report = host.load(good.parent)
    assert [plugin.name for plugin in report.plugins] == ["good"]
    (failure,) = report.failures
    assert reason in failure.reason
    assert failure.source.endswith("aaa")
    assert "could not import tool" in caplog.text


def test_what_a_failing_plugin_had_added_is_taken_away(host: Host, write: Write) -> None:
    folder = write(
        "half",
        """
        def register(ctx):
            ctx.register_tool("half", "halves", {"name": "half"}, lambda args: "{}")
            ctx.register_hook("pre_tool_call", lambda **kw: 1)
            raise RuntimeError("then it failed")
        """,
    )
    report = host.load(folder.parent)
    assert len(report.failures) == 1
    assert host.registry.names() == []
    assert not host.hooks.has("pre_tool_call")


def test_a_plugin_that_hangs_is_left_behind_and_can_add_nothing_later(host: Host, write: Write) -> None:
    folder = write(
        "slow",
        """
        import sys
        def register(ctx):
            gate = sys.modules["plugin_test_gate"]
            gate.go.wait(20)
            try:
                ctx.register_tool("late", "late", {"name": "late"}, lambda args: "{}")
            except RuntimeError as error:
                gate.said.append(str(error))
            gate.done.set()
        """,
    )
    gate = type(sys)("plugin_test_gate")
    go, done, said = threading.Event(), threading.Event(), list[str]()
    gate.__dict__.update(go=go, done=done, said=said)
    sys.modules["plugin_test_gate"] = gate
    try:
        report = host.load(folder.parent, limit_s=0.1)
        assert "timed out" in report.failures[0].reason
        go.set()
        assert done.wait(20)
        assert "was given up" in said[0]
        assert host.registry.names() == []
    finally:
        del sys.modules["plugin_test_gate"]


def test_a_built_in_tool_is_never_replaced(host: Host, write: Write) -> None:
    host.registry.register("terminal", "terminal", {"name": "terminal"}, lambda args: "{}")
    code = "def register(ctx):\n    ctx.register_tool('terminal', 'x', {'name': 'terminal'}, print)\n"
    report = host.load(write("greedy", code).parent)
    assert "there is a tool terminal in the toolset terminal already" in report.failures[0].reason
    entry = host.registry.get("terminal")
    assert entry is not None
    assert entry.toolset == "terminal"


def test_the_first_of_two_plugins_with_one_name_is_kept(host: Host, write: Write, tmp_path: Path) -> None:
    own = write("twin", "def register(ctx):\n    pass\n")
    write("twin", "raise RuntimeError\n", parent=tmp_path / "project")
    report = host.load(own.parent, tmp_path / "project")
    assert [plugin.source for plugin in report.plugins] == [str(own)]
    assert "there is another plugin called twin" in report.failures[0].reason


def test_its_variable_may_stand_in_the_env_file(host: Host, write: Write) -> None:
    folder = write("keyed", "def register(ctx):\n    pass\n", "requires_env:\n  - name: SPECIAL_PLUGIN_KEY\n")
    assert host.load(folder.parent, variables={"SPECIAL_PLUGIN_KEY": "1"}).failures == []


def test_folders_without_a_manifest_and_missing_folders_are_no_plugins(host: Host, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    report = host.load(tmp_path, tmp_path / "nowhere")
    assert (report.plugins, report.failures) == ([], [])


def test_plugins_of_installed_packages_are_found(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "hermes_sample-1.4.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hermes-sample\nVersion: 1.4\nSummary: A sample\n")
    (info / "entry_points.txt").write_text(
        "[hermes_agent.plugins]\nsample = hermes_sample_plugin\nbroken = hermes_sample_missing\n"
    )
    (tmp_path / "hermes_sample_plugin.py").write_text(
        "def register(ctx):\n    ctx.register_tool('sampled', 'samples', {'name': 'sampled'}, lambda args: '{}')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    report = host.load()
    (plugin,) = report.plugins
    assert (plugin.name, plugin.version, plugin.source) == ("sample", "1.4", "the package hermes-sample")
    assert host.registry.names() == ["sampled"]
    assert "hermes_sample_missing" in report.failures[0].reason
