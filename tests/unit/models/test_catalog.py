"""Who answers, under which settings and environment."""

from typing import Any

import pytest

from hermes_tui.models.catalog import NoModel, known_providers, normal_base_url, resolve_model
from hermes_tui.models.known import known_model
from hermes_tui.models.spec import ModelSpec
from hermes_tui.settings import ModelSettings, ProviderSettings, Settings


def resolved(environ: dict[str, str], own: dict[str, ProviderSettings] | None = None, **model: Any) -> ModelSpec:
    spec = resolve_model(Settings(model=ModelSettings(**model), providers=own or {}), environ)
    assert isinstance(spec, ModelSpec), spec
    return spec


def refused(environ: dict[str, str], own: dict[str, ProviderSettings] | None = None, **model: Any) -> NoModel:
    spec = resolve_model(Settings(model=ModelSettings(**model), providers=own or {}), environ)
    assert isinstance(spec, NoModel), spec
    return spec


@pytest.mark.parametrize("provider", known_providers(), ids=lambda provider: provider.name)
def test_a_key_is_all_a_known_provider_needs(provider: Any) -> None:
    spec = resolved({provider.key_variable: " sk-x \n"})
    assert (spec.provider, spec.base_url) == (provider.name, provider.base_url)
    assert spec.id == provider.models[0]
    assert spec.api_key.reveal() == "sk-x"
    assert spec.key_variable == provider.key_variable
    assert spec.context_window > 0


def test_the_keys_that_are_known() -> None:
    variables = [provider.key_variable for provider in known_providers()]
    names = ("OPENAI", "OPENROUTER", "ANTHROPIC", "GROQ", "DEEPSEEK", "MISTRAL", "XAI")
    assert variables == [f"{name}_API_KEY" for name in names]


def test_without_a_key_there_is_no_model() -> None:
    nothing = refused({"OPENAI_API_KEY": " "})
    assert "no key" in nothing.reason
    assert "ANTHROPIC_API_KEY" in nothing.hint


def test_a_named_provider_without_its_key_says_which() -> None:
    assert "XAI_API_KEY is not set" in refused({"OPENAI_API_KEY": "x"}, provider="xai").reason


def test_an_unknown_provider_gets_the_nearest_name() -> None:
    assert "Did you mean anthropic?" in refused({}, provider="antropic").hint


BOTH = {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a", "OPENROUTER_API_KEY": "r", "DEEPSEEK_API_KEY": "d"}


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("", "openai"),
        ("claude-opus-5-5", "anthropic"),
        ("gpt-4.1", "openai"),
        ("deepseek-v4-pro", "deepseek"),
        ("meta-llama/llama-4-maverick", "openrouter"),
        ("grok-4.5", "openai"),  # no key for xAI: the first that has one tells what it thinks of the name
    ],
)
def test_the_model_name_picks_among_the_keys(model: str, provider: str) -> None:
    assert resolved(BOTH, name=model).provider == provider


OWN = {
    "mine": ProviderSettings(base_url="https://llm.example/v1", key_variable="MINE_KEY", models=("m1", "m2")),
    "shed": ProviderSettings(base_url="http://10.0.0.5:8000/v1", models=("s1",), context_window=9000),
}


def test_own_providers_come_before_known_ones_and_keyless_ones_last() -> None:
    assert resolved({"MINE_KEY": "k", "OPENAI_API_KEY": "o"}, OWN).id == "m1"
    assert resolved({"OPENAI_API_KEY": "o"}, OWN).provider == "openai"
    alone = resolved({}, OWN)
    assert (alone.provider, alone.id, alone.context_window, alone.context_is_guess) == ("shed", "s1", 9000, False)


def test_a_model_listed_by_an_own_provider_is_its() -> None:
    assert resolved({"MINE_KEY": "k", "OPENAI_API_KEY": "o"}, OWN, name="s1").provider == "shed"


def test_an_own_provider_may_take_the_place_of_a_known_one() -> None:
    own = {"openai": ProviderSettings(base_url="https://proxy.example/v1", key_variable="OPENAI_API_KEY")}
    environ = {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "https://elsewhere.example"}
    assert resolved(environ, own, provider="openai", name="x").base_url == "https://proxy.example/v1"


def test_an_address_needs_no_key() -> None:
    spec = resolved({}, base_url="localhost:8080/v1/", name="local-model")
    assert (spec.provider, spec.base_url, spec.id) == ("custom", "http://localhost:8080/v1", "local-model")
    assert not spec.api_key
    assert spec.local
    assert spec.provider_label == "localhost:8080"


def test_an_address_takes_the_usual_key_if_there_is_one() -> None:
    assert resolved({"OPENAI_API_KEY": "o"}, base_url="https://x.example/v1").api_key.reveal() == "o"


def test_the_address_of_a_known_provider_takes_its_key_only() -> None:
    address = "https://api.groq.com/openai/v1"
    assert resolved({"GROQ_API_KEY": "g", "OPENAI_API_KEY": "o"}, base_url=address).api_key.reveal() == "g"
    assert "GROQ_API_KEY" in refused({"OPENAI_API_KEY": "o"}, base_url=address).reason


def test_openai_base_url_is_honoured() -> None:
    spec = resolved({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, name="m")
    assert (spec.base_url, spec.id) == ("http://127.0.0.1:9/v1", "m")
    official = resolved({"OPENAI_BASE_URL": "https://eu.api.openai.com/v1", "OPENAI_API_KEY": "o"})
    assert official.base_url == "https://eu.api.openai.com/v1"
    assert official.id
    assert official.output_limit_field == "max_completion_tokens"


@pytest.mark.parametrize("address", ["http://x:99999/v1", "ftp://x/v1", "http:///v1", "http://a b/v1", "http://[::1"])
def test_what_is_no_address_is_told(address: str) -> None:
    assert "is not an address" in refused({}, base_url=address).reason


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("api.example.com/v1/", "https://api.example.com/v1"),
        ("127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://x.example/v1/chat/completions", "https://x.example/v1"),
        (" http://[::1]:8000 ", "http://[::1]:8000"),
    ],
)
def test_addresses_as_people_write_them(text: str, address: str) -> None:
    assert normal_base_url(text) == address


def test_settings_shape_the_spec() -> None:
    spec = resolved(
        {"OPENAI_API_KEY": "o"}, context_window=5, max_output_tokens=6, temperature=0.5, reasoning_effort="low"
    )
    assert (spec.context_window, spec.context_is_guess, spec.max_output_tokens) == (5, False, 6)
    assert (spec.temperature, spec.reasoning_effort) == (0.5, "low")


def test_windows_by_name() -> None:
    windows = {
        name: known.context_window if (known := known_model(name)) else 0
        for name in (
            "gpt-5.6-sol",
            "gpt-5-mini",
            "gpt-5.4-mini",
            "anthropic/claude-sonnet-4.5",
            "claude-sonnet-5-5",
            "claude-opus-4-7",
            "o3",
            "openai/gpt-oss-120b",
            "Qwen2.5-Coder-7B",
            "my-model",
        )
    }
    assert windows == {
        "gpt-5.6-sol": 1_050_000,
        "gpt-5-mini": 400_000,
        "gpt-5.4-mini": 400_000,
        "anthropic/claude-sonnet-4.5": 200_000,
        "claude-sonnet-5-5": 1_000_000,
        "claude-opus-4-7": 1_000_000,
        "o3": 200_000,
        "openai/gpt-oss-120b": 131_072,
        "Qwen2.5-Coder-7B": 32_768,
        "my-model": 0,
    }


def test_an_unknown_window_is_marked_as_a_guess() -> None:
    spec = resolved({"OPENAI_API_KEY": "o"}, name="my-model")
    assert (spec.context_window, spec.context_is_guess, spec.images) == (128_000, True, False)
    assert not resolved({"OPENAI_API_KEY": "o"}, name="gpt-4.1").context_is_guess
    assert resolved({}, base_url="http://localhost:1/v1", name="qwen3").context_is_guess


def test_reasoning_goes_back_to_deepseek_wherever_it_runs() -> None:
    assert resolved({"DEEPSEEK_API_KEY": "d"}).reasoning_field == "reasoning_content"
    assert resolved({"OPENROUTER_API_KEY": "r"}, name="deepseek/deepseek-v4-pro").reasoning_field
    assert resolved({"OPENAI_API_KEY": "o"}).reasoning_field == ""


def test_mistral_gets_short_ids() -> None:
    assert resolved({"MISTRAL_API_KEY": "m"}).short_call_ids
    assert not resolved({"OPENAI_API_KEY": "o"}).short_call_ids


def test_prices_hold_only_where_they_were_read() -> None:
    assert resolved({"ANTHROPIC_API_KEY": "a"}, name="claude-opus-5-5").prices
    assert not resolved({"OPENROUTER_API_KEY": "r"}, name="anthropic/claude-opus-5.5").prices
