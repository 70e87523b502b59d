"""Configuration: four layers, one typed result, and every mistake named with its place."""

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_tui.config import Layer, Loaded, load_settings
from hermes_tui.config.decode import entry_of, fields_of
from hermes_tui.config.document import configuration_page, docstrings_of
from hermes_tui.config.env_file import parse_env
from hermes_tui.config.names import SAME_MEANING, VARIABLES
from hermes_tui.paths import Paths
from hermes_tui.settings import ApprovalMode, Section, Settings


def load(home: Path, yaml: str = "", env: str = "", environ: dict[str, str] | None = None, **overrides: str) -> Loaded:
    if yaml:
        (home / "config.yaml").write_text(yaml, encoding="utf-8")
    if env:
        (home / ".env").write_bytes(env.encode())
    return load_settings(
        Paths(home), environ or {}, {key.replace("__", "."): value for key, value in overrides.items()}
    )


def told(loaded: Loaded) -> str:
    return "\n".join(map(str, loaded.problems))


# -- layers -----------------------------------------------------------------------------------------------------------


def test_nothing_configured_gives_the_defaults_without_a_problem(home: Path) -> None:
    loaded = load(home)
    assert loaded.settings == Settings()
    assert loaded.problems == ()
    assert loaded.sources == {}


def test_each_layer_wins_over_the_one_before_it(home: Path) -> None:
    yaml = "terminal: {timeout: 1, cwd: /file, ssh_host: file, modal_image: file}"
    env = "TERMINAL_CWD=/dotenv\nTERMINAL_SSH_HOST=dotenv\nTERMINAL_MODAL_IMAGE=dotenv\n"
    environ = {"TERMINAL_SSH_HOST": "environment", "TERMINAL_MODAL_IMAGE": "environment"}
    loaded = load(home, yaml, env, environ, terminal__modal_image="command")
    terminal = loaded.settings.terminal
    assert (terminal.timeout, terminal.cwd, terminal.ssh_host, terminal.modal_image) == (
        1.0,
        "/dotenv",
        "environment",
        "command",
    )
    assert {name: source.layer for name, source in loaded.sources.items()} == {
        "terminal.timeout": Layer.FILE,
        "terminal.cwd": Layer.ENV_FILE,
        "terminal.ssh_host": Layer.ENVIRONMENT,
        "terminal.modal_image": Layer.COMMAND_LINE,
    }


def test_a_wrong_value_in_a_later_layer_leaves_the_earlier_one(home: Path) -> None:
    loaded = load(home, "terminal: {timeout: 7}", environ={"TERMINAL_TIMEOUT": "soon"})
    assert loaded.settings.terminal.timeout == 7.0
    assert told(loaded) == 'TERMINAL_TIMEOUT: terminal.timeout is "soon"; expected a number above 0; it was left out.'


def test_an_empty_variable_is_as_good_as_none(home: Path) -> None:
    assert load(home, environ={"TERMINAL_TIMEOUT": "", "TERMINAL_ENV": ""}).problems == ()


def test_entries_of_servers_are_merged_field_by_field(home: Path) -> None:
    base = "x: &base {connect_timeout: 5, args: [-y]}\n"
    loaded = load(home, base + "mcp_servers:\n  fs:\n    <<: *base\n    command: npx\n    args: [-q, 3]\n")
    server = loaded.settings.mcp_servers["fs"]
    assert (server.command, server.args, server.connect_timeout) == ("npx", ("-q", "3"), 5.0)


# -- every mistake has a place ----------------------------------------------------------------------------------------


def test_a_wrong_key_is_named_with_its_line_and_the_nearest_key(home: Path) -> None:
    loaded = load(home, "terminal:\n  cwd: /tmp\n  timout: 5\n")
    assert told(loaded) == (
        "config.yaml, line 3: terminal.timout is not a setting; it was left out. Did you mean terminal.timeout?"
    )
    assert loaded.settings.terminal.cwd == "/tmp"


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("maxIterations: 5", "Did you mean agent.max_iterations?"),
        ("theme: light", "Did you mean display.theme?"),
        ("agent: {maxIterations: 5}", "Did you mean agent.max_iterations?"),
        ("agent: {max-iterations: 5}", "Did you mean agent.max_iterations?"),
        ("mcp_server: {a: {command: x}}", "Did you mean mcp_servers?"),
        ("terminal: {backend: dokcer}", "Did you mean docker?"),
        ("approvals: {mode: manuel}", "expected manual, smart or off; it was left out. Did you mean manual?"),
        ("terminal: {ssh_port: 99999}", 'is "99999"; expected a whole number from 1 to 65535'),
        ("terminal: {timeout: .nan}", "expected a number above 0"),
        ("terminal: {timeout: nan}", "expected a number above 0"),
        ("model: {temperature: hot}", "expected a number from 0 to 2"),
        ("display: {emoji: maybe}", "expected true or false"),
        ("terminal: {timeout: [1]}", "must be a number above 0, not a list"),
        ("terminal: {docker_volumes: {a: b}}", "must be a list, not a mapping"),
        ("terminal: {docker_volumes: [[a]]}", "must be a list of text"),
        ("terminal: {docker_env: [a]}", "must be a mapping from names to text, not a list"),
        ("terminal: {docker_env: {a: [b]}}", "must be a mapping from names to text"),
        ("terminal: 5", "terminal must be a mapping of keys"),
        ("mcp_servers: [a]", "mcp_servers must be a mapping from names to entries"),
        ("providers: {mine: {key_variable: K}}", "providers.mine has no base_url"),
        ("agent: {}\nagent: {max_iterations: 3}", "agent is written twice"),
        ("? [a, b]\n: 1\n", "a key must be text"),
        ("- a\n- b\n", "holds no mapping"),
    ],
)
def test_mistakes_in_the_file_are_told(home: Path, yaml: str, message: str) -> None:
    loaded = load(home, yaml)
    assert len(loaded.problems) == 1
    assert message in told(loaded)
    assert told(loaded).startswith("config.yaml, line ")


@pytest.mark.parametrize(
    ("yaml", "line"),
    [
        ("model: {name: a}\nagent: [1,\nb: 2\n", 4),
        ("model:\n  name: a: b\n", 2),
        ("model:\n\tname: a\n", 2),
        ("model: *nothing\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: 1\nb: \x01\n", 2),
    ],
)
def test_broken_yaml_names_its_line_and_the_other_layers_hold(home: Path, yaml: str, line: int) -> None:
    loaded = load(home, yaml, environ={"TERMINAL_TIMEOUT": "3"})
    assert len(loaded.problems) == 1
    assert f"config.yaml, line {line}: is not valid YAML" in told(loaded)
    assert loaded.settings.terminal.timeout == 3.0


def test_a_tab_gets_the_hint_it_needs(home: Path) -> None:
    assert "Indent with spaces" in told(load(home, "model:\n\tname: a\n"))


def test_bytes_that_are_no_text_are_named_with_their_line(home: Path) -> None:
    (home / "config.yaml").write_bytes(b"a: 1\nb: \xff\n")
    assert "config.yaml, line 2: is not UTF-8 text" in told(load(home))


def test_a_folder_in_the_place_of_a_file(home: Path) -> None:
    (home / "config.yaml").mkdir()
    (home / ".env").mkdir()
    assert told(load(home)).count("is not a file") == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(home: Path) -> None:
    (home / "config.yaml").write_text("model: a")
    (home / "config.yaml").chmod(0)
    assert "could not be read" in told(load(home))


def test_a_huge_file_is_not_read(home: Path) -> None:
    with (home / "config.yaml").open("wb") as file:
        file.truncate(2 << 30)
    assert "larger than 1 MB" in told(load(home))


def test_aliases_neither_loop_nor_grow(home: Path) -> None:
    laughs = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20))
    assert load(home, laughs + "loop: &l [*l]\nmodel: {name: kept}\n").settings.model.name == "kept"


def test_deep_nesting_is_refused_not_crashed_on(home: Path) -> None:
    loaded = load(home, "a: " + "[" * 20_000 + "]" * 20_000)
    assert loaded.settings == Settings()


# -- words mean what the field makes of them --------------------------------------------------------------------------


def test_text_is_read_by_the_fields_type_not_by_yamls_guess(home: Path) -> None:
    loaded = load(
        home,
        "approvals: {mode: off}\n"
        "tools: {tool_search: on}\n"
        "terminal: {docker_image: 3.10, timeout: '60', container_memory: 8_192, env_passthrough: ONE}\n"
        "display: {emoji: no, motion: 'off', left_sidebar: yes, right_sidebar: ~}\n",
    )
    settings = loaded.settings
    assert loaded.problems == ()
    assert settings.approvals.mode is ApprovalMode.OFF
    assert settings.tools.tool_search == "on"
    assert settings.terminal.docker_image == "3.10"
    assert (settings.terminal.timeout, settings.terminal.container_memory) == (60.0, 8192)
    assert settings.terminal.env_passthrough == ("ONE",)
    assert (settings.display.emoji, settings.display.motion) == (False, False)
    assert (settings.display.left_sidebar, settings.display.right_sidebar) == (True, None)


@pytest.mark.parametrize(
    ("text", "expected"), [("a, b", ("a", "b")), ('["a,b", "c"]', ("a,b", "c")), ("one", ("one",)), ("[]", ())]
)
def test_lists_in_variables(home: Path, text: str, expected: tuple[str, ...]) -> None:
    assert load(home, environ={"TERMINAL_DOCKER_EXTRA_ARGS": text}).settings.terminal.docker_extra_args == expected


@pytest.mark.parametrize("text", ['{"A": "1", "B": "x=y"}', "A=1, B=x=y"])
def test_mappings_in_variables(home: Path, text: str) -> None:
    assert load(home, environ={"TERMINAL_DOCKER_ENV": text}).settings.terminal.docker_env == {"A": "1", "B": "x=y"}


@pytest.mark.parametrize("text", ["[1", '{"a": 1', "[" * 5000])
def test_broken_json_in_variables_is_told(home: Path, text: str) -> None:
    loaded = load(home, environ={"TERMINAL_DOCKER_EXTRA_ARGS": text, "TERMINAL_DOCKER_ENV": text})
    assert loaded.settings == Settings() or text == '{"a": 1'
    assert "TERMINAL_DOCKER_ENV" in told(loaded)


def test_every_variable_and_alias_points_at_a_setting() -> None:
    known = set()
    for name, declared in fields_of(Settings).items():
        if isinstance(declared, type) and issubclass(declared, Section):
            known |= {f"{name}.{field}" for field in fields_of(declared)}
        else:
            assert entry_of(declared)
    assert set(VARIABLES.values()) | set(SAME_MEANING.values()) <= known


# -- a Hermes installation --------------------------------------------------------------------------------------------

HERMES = """\
_config_version: 33
model: {default: anthropic/claude-x, provider: auto, context_length: 100000}
toolsets: [hermes-cli]
max_turns: 40
agent: {gateway_timeout: 1800, verify_on_stop: auto, reasoning_effort: high}
terminal: {backend: docker, home_mode: auto, modal_mode: auto, persistent_shell: true, cwd: .}
display: {skin: default, show_reasoning: true, interface: cli, streaming: true, bell_on_complete: false}
approvals: {mode: smart, cron_mode: deny, deny: [], mcp_reload_confirm: true}
security: {redact_secrets: false, tirith_enabled: false, website_blocklist: {enabled: false}}
tools: {tool_search: {enabled: auto, threshold_pct: 10}}
custom_providers: [{name: box, base_url: http://box/v1, key_env: BOX_KEY, model: m1}]
mcp_servers: {docs: {url: "https://docs.example/mcp", auth: oauth}}
browser: {engine: auto}
memory: {memory_enabled: true}
discord: {require_mention: true}
"""


def test_a_hermes_configuration_is_read_where_it_means_the_same(home: Path) -> None:
    settings = load(home, HERMES).settings
    assert (settings.model.name, settings.model.provider) == ("anthropic/claude-x", "")
    assert (settings.model.context_window, settings.model.reasoning_effort) == (100_000, "high")
    assert settings.agent.max_iterations == 40
    assert settings.tools.enabled_toolsets == ()
    assert settings.approvals.mode is ApprovalMode.SMART
    assert (settings.security.redact, settings.approvals.tirith, settings.display.bell) == (False, False, False)
    assert settings.terminal.backend == "docker"
    box = settings.providers["box"]
    assert (box.base_url, box.key_variable, box.models) == ("http://box/v1", "BOX_KEY", ("m1",))
    assert settings.mcp_servers["docs"].oauth


def test_its_other_keys_are_told_once_and_calmly(home: Path) -> None:
    loaded = load(home, HERMES)
    assert len(loaded.problems) == 1
    assert loaded.problems[0].calm
    assert "keys that hermes-tui does not use were left alone: _config_version, " in told(loaded)


def test_own_words_win_over_the_other_programs(home: Path) -> None:
    loaded = load(home, "max_turns: 1\nagent: {max_turns: 2, max_iterations: 3}\nmodel: {default: a, name: b}\n")
    assert (loaded.settings.agent.max_iterations, loaded.settings.model.name) == (3, "b")


def test_a_model_may_be_one_word(home: Path) -> None:
    assert load(home, "model: gpt-x").settings.model.name == "gpt-x"


# -- .env -------------------------------------------------------------------------------------------------------------


def test_secrets_are_kept_apart_and_never_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "1")
    loaded = load(home, env="OPENAI_API_KEY=sk-secret\n", environ={"GROQ_API_KEY": "gsk"})
    assert loaded.secrets["OPENAI_API_KEY"] == "sk-secret"
    assert dict(loaded.environ) == {"OPENAI_API_KEY": "sk-secret", "GROQ_API_KEY": "gsk"}
    assert "OPENAI_API_KEY" not in os.environ
    assert "sk-secret" not in repr(loaded)
    assert "gsk" not in repr(loaded)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A=1\r\nexport B=2\r\n", {"A": "1", "B": "2"}),
        ("A = x y  # comment", {"A": "x y"}),
        ("A=x#y", {"A": "x#y"}),
        ("A=#nothing", {"A": ""}),
        ("A='x # $y \\n'", {"A": "x # $y \\n"}),
        (r'A="x\n\"y\" \\ $z" # comment', {"A": 'x\n"y" \\ $z'}),
        ("A='one\ntwo'\nB=3", {"A": "one\ntwo", "B": "3"}),
        ("\n# comment\n\nA=1\nA=2\n", {"A": "2"}),
        ("A=", {"A": ""}),
        ("A=a=b==", {"A": "a=b=="}),
    ],
)
def test_what_an_env_file_may_hold(text: str, values: dict[str, str]) -> None:
    env_file, bad = parse_env(text)
    assert dict(env_file.values) == values
    assert bad == []


def test_lines_that_are_no_assignment_are_named_and_the_rest_is_read(home: Path) -> None:
    loaded = load(home, env="A=1\nwhat is this\nB='never closed\nC=3\n")
    assert dict(loaded.secrets) == {"A": "1", "C": "3"}
    assert [problem.source.line for problem in loaded.problems] == [2, 3]


@given(st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True), st.text(st.characters(codec="utf-8"))))
def test_quoted_values_come_back_as_they_were(values: dict[str, str]) -> None:
    values = {name: value.replace("\r", "") for name, value in values.items()}
    quoted = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in values.items()}
    text = "".join(f'export {name}="{value}"\n' for name, value in quoted.items())
    env_file, bad = parse_env(text)
    assert (dict(env_file.values), bad) == (values, [])


# -- whatever is written, the program starts --------------------------------------------------------------------------


@given(yaml=st.text(st.characters(codec="utf-8")), env=st.text(st.characters(codec="utf-8")))
@example(yaml="model: &m {name: *m}", env="")
@example(yaml="<<: [1]", env="=\n")
@example(yaml="? a\n", env="A")
@example(yaml="custom_providers: [1, {name: [x]}, {name: a}]\nmodel: []", env="")
@example(yaml="providers: {a: 1}\ntools: {tool_search: {}}\ntoolsets: {a: b}", env="")
@example(yaml="max_turns: 1\nagent: 5", env="")
def test_no_text_makes_loading_fail(tmp_path_factory: pytest.TempPathFactory, yaml: str, env: str) -> None:
    home = tmp_path_factory.mktemp("home")
    assert isinstance(load(home, yaml, env).settings, Settings)


def test_settings_can_be_written_out_and_read_again() -> None:
    assert msgspec.json.decode(msgspec.json.encode(Settings()), type=Settings) == Settings()


# -- the page ---------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == configuration_page(), (
        "run: python -m hermes_tui.config.document > docs/configuration.md"
    )


def test_every_setting_says_what_it_means() -> None:
    pending: list[type[Section]] = [Settings]
    while pending:
        cls = pending.pop()
        described = docstrings_of(cls)
        assert cls.__doc__
        for name, declared in fields_of(cls).items():
            section = entry_of(declared) or (declared if isinstance(declared, type) else None)
            if section is not None and issubclass(section, Section):
                pending.append(section)
            else:
                assert described.get(name, "").endswith("."), f"{cls.__name__}.{name}"


def test_the_example_of_the_page_is_right(home: Path) -> None:
    example = PAGE.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    loaded = load(home, example)
    assert loaded.problems == ()
    assert loaded.settings.providers["box"].models == ("qwen3-coder",)
