"""Rows for the welcome screen and the list of sessions."""

from hermes_tui.screens.sessions import SessionRow, SessionsScreen
from hermes_tui.screens.welcome import LocalServerRow, ProviderChoice, WelcomeScreen
from tests.ui.sample import NOW, frozen_ticker

PROVIDERS = [
    ProviderChoice(name="openai", label="OpenAI", key_variable="OPENAI_API_KEY", key_prefixes=("sk-proj-",)),
    ProviderChoice(name="openrouter", label="OpenRouter", key_variable="OPENROUTER_API_KEY", key_prefixes=("sk-or-",)),
    ProviderChoice(name="anthropic", label="Anthropic", key_variable="ANTHROPIC_API_KEY", key_prefixes=("sk-ant-",)),
]

SERVERS = [
    LocalServerRow(name="Ollama", base_url="http://127.0.0.1:11434/v1", models=("qwen3:8b", "llama3.2", "phi4")),
    LocalServerRow(name="vLLM", base_url="http://127.0.0.1:8000/v1", models=("hermes-4-14b",)),
]

SESSIONS = [
    SessionRow(
        id="s1",
        title="Mend the parser",
        updated=NOW - 30,
        folder="/srv/project/parser",
        messages=42,
        size_bytes=181_000,
        current=True,
    ),
    SessionRow(
        id="s2",
        title="Why is the nightly build slow? A longer look at caches, queues and the test order",
        updated=NOW - 7_400,
        folder="/srv/project/build/infrastructure/nightly",
        messages=208,
        size_bytes=2_400_000,
    ),
    SessionRow(id="s3", title="", updated=NOW - 90_000, folder="/home/mira", messages=2, size_bytes=900),
    SessionRow(
        id="s4",
        title="発表の資料を直す",
        updated=NOW - 400_000,
        folder="/home/mira/talks",
        messages=17,
        size_bytes=54_000,
    ),
]


def welcome() -> WelcomeScreen:
    return WelcomeScreen(PROVIDERS, env_file="~/.hermes/.env")


def sessions() -> SessionsScreen:
    return SessionsScreen(SESSIONS, frozen_ticker(), home="/home/mira")
