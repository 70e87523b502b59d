"""The catalogue: known providers, and which model answers under given settings and environment."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from hermes_tui.models.known import GUESSED_WINDOW, known_model
from hermes_tui.models.secret import Secret
from hermes_tui.models.spec import ModelSpec, is_loopback
from hermes_tui.settings import Settings

CUSTOM = "custom"
"""Name of the provider behind a bare address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    name: str
    label: str
    base_url: str
    key_variable: str = ""
    """Empty for servers without keys."""
    key_optional: bool = False
    models: tuple[str, ...] = ()
    """The first is the default."""
    model_pattern: str = ""
    """Regular expression of the model names that this provider is known for."""
    context_window: int = 0
    reasoning_field: str = ""
    short_call_ids: bool = False
    output_limit_field: str = "max_tokens"
    extra_body: dict[str, Any] = field(default_factory=dict)
    check_path: str = "models"
    """A path that answers 200 only to a good key."""
    key_header: str = ""
    """Where ``check_path`` wants the key in a header of its own."""
    check_headers: dict[str, str] = field(default_factory=dict)
    keys_page: str = ""
    """Where a person gets a key."""
    key_prefixes: tuple[str, ...] = ()
    """How its keys begin, where that tells them from the keys of others."""


_KNOWN = (
    Provider(
        name="openai",
        label="OpenAI",
        base_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        key_prefixes=("sk-proj-", "sk-svcacct-"),
        models=("gpt-5.6-sol",),  # later ones take tools only through another API
        model_pattern=r"^(gpt-|o\d|chatgpt)",
        output_limit_field="max_completion_tokens",
        keys_page="https://platform.openai.com/api-keys",
    ),
    Provider(
        name="openrouter",
        label="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        key_prefixes=("sk-or-",),
        models=("openrouter/auto",),
        model_pattern=r".+/.+",
        extra_body={"usage": {"include": True}},  # asks for the cost
        check_path="key",  # its list of models is open to everybody
        keys_page="https://openrouter.ai/keys",
    ),
    Provider(
        name="anthropic",
        label="Anthropic",
        base_url="https://api.anthropic.com/v1",
        key_variable="ANTHROPIC_API_KEY",
        key_prefixes=("sk-ant-",),
        models=("claude-sonnet-5-5",),
        model_pattern=r"^claude",
        key_header="x-api-key",
        check_headers={"anthropic-version": "2023-06-01"},
        keys_page="https://console.anthropic.com/settings/keys",
    ),
    Provider(
        name="groq",
        label="Groq",
        base_url="https://api.groq.com/openai/v1",
        key_variable="GROQ_API_KEY",
        key_prefixes=("gsk_",),
        models=("openai/gpt-oss-120b",),
        model_pattern=r"^(llama-|openai/gpt-oss|meta-llama/)",
        keys_page="https://console.groq.com/keys",
    ),
    Provider(
        name="deepseek",
        label="DeepSeek",
        base_url="https://api.deepseek.com",
        key_variable="DEEPSEEK_API_KEY",
        models=("deepseek-flash",),
        model_pattern=r"^deepseek",
        reasoning_field="reasoning_content",  # refuses a history of tool calls without it
        keys_page="https://platform.deepseek.com/api_keys",
    ),
    Provider(
        name="mistral",
        label="Mistral",
        base_url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
        models=("mistral-medium-latest",),
        model_pattern=r"^(mistral|ministral|magistral|codestral|devstral|pixtral)",
        short_call_ids=True,
        keys_page="https://console.mistral.ai/api-keys",
    ),
    Provider(
        name="xai",
        label="xAI",
        base_url="https://api.x.ai/v1",
        key_variable="XAI_API_KEY",
        key_prefixes=("xai-",),
        models=("grok-4.5",),
        model_pattern=r"^grok",
        keys_page="https://console.x.ai",
    ),
)


@dataclass(frozen=True, slots=True)
class NoModel:
    """Nobody can answer yet. ``reason`` and ``hint`` are for the person."""

    reason: str
    hint: str


def known_providers() -> tuple[Provider, ...]:
    """The providers that need only a key, in the order in which a key is looked for."""
    return _KNOWN


def all_providers(settings: Settings, environ: Mapping[str, str]) -> dict[str, Provider]:
    """Every provider by name: those of the settings first, then the known ones. OPENAI_BASE_URL moves OpenAI's."""
    providers = {
        name: Provider(
            name=name,
            label=name,
            base_url=own.base_url,
            key_variable=own.key_variable,
            models=own.models,
            context_window=own.context_window,
        )
        for name, own in settings.providers.items()
    }
    for known in _KNOWN:
        providers.setdefault(known.name, known)
    moved = environ.get("OPENAI_BASE_URL", "").strip()
    if moved and "openai" not in settings.providers:
        official = _host(moved).endswith("openai.com")
        openai = providers["openai"]
        providers["openai"] = replace(openai, base_url=moved) if official else _custom(moved, openai.name)
    return providers


def resolve_model(settings: Settings, environ: Mapping[str, str]) -> ModelSpec | NoModel:
    """Decide who answers. ``environ`` holds the environment and the values of .env.

    A named provider is taken. An address (``model.base_url``) without one belongs to the known provider at that host,
    else to a provider of its own, which needs no key. Else the providers with a key set are looked at: one that the
    model's name points at, else the first.
    """
    wanted = settings.model
    providers = all_providers(settings, environ)
    if wanted.provider and wanted.provider not in providers:
        near = difflib.get_close_matches(wanted.provider, providers, 1)
        meant = f"Did you mean {near[0]}? " if near else ""
        return NoModel(f"There is no provider named {wanted.provider}.", f"{meant}Known are: {', '.join(providers)}.")
    if wanted.provider:
        provider = providers[wanted.provider]
        if wanted.base_url:
            provider = replace(provider, base_url=wanted.base_url, key_optional=True)
    elif wanted.base_url:
        host = _host(wanted.base_url)
        at_host = (each for each in providers.values() if _host(each.base_url) == host)
        provider = replace(next(at_host, _custom(wanted.base_url, CUSTOM)), base_url=wanted.base_url)
    elif (found := _with_key(providers, wanted.name, environ)) is not None:
        provider = found
    else:
        names = ", ".join(known.key_variable for known in _KNOWN)
        return NoModel("No model is set up yet: no key was found.", f"Set one of {names}, or pass --base-url.")
    if not _ready(provider, environ):
        hint = f"Set {provider.key_variable} in the environment or in .env."
        return NoModel(f"There is no key for {provider.label}: {provider.key_variable} is not set.", hint)
    return spec_for(provider, wanted.name, settings, environ)


def spec_for(provider: Provider, model: str, settings: Settings, environ: Mapping[str, str]) -> ModelSpec | NoModel:
    """Return the spec of one model of a provider; an empty ``model`` takes its default."""
    base_url = normal_base_url(provider.base_url)
    if base_url is None:
        return NoModel(f"{provider.base_url!r} is not an address.", "Write it as https://host:port/v1 in base_url.")
    wanted = settings.model
    model = model or (provider.models[0] if provider.models else "")
    known = known_model(model)
    told = wanted.context_window or provider.context_window
    return ModelSpec(
        id=model,
        provider=provider.name,
        provider_label=provider.label,
        base_url=base_url,
        api_key=Secret(_key(provider, environ)),
        key_variable=provider.key_variable,
        context_window=told or (known.context_window if known else GUESSED_WINDOW),
        # A local server often serves less of a window than the model could take.
        context_is_guess=not told and (known is None or is_loopback(base_url)),
        images=known is not None and known.images,
        # A router or a copy at another address has prices of its own.
        prices=known.prices if known and provider in _KNOWN and "/" not in model else None,
        reasoning_field=provider.reasoning_field or ("reasoning_content" if "deepseek" in model.lower() else ""),
        short_call_ids=provider.short_call_ids,
        max_output_tokens=wanted.max_output_tokens,
        output_limit_field=provider.output_limit_field,
        temperature=wanted.temperature,
        reasoning_effort=wanted.reasoning_effort,
        extra_body=provider.extra_body,
    )


def normal_base_url(text: str) -> str | None:
    """Return the address with a scheme and without a slash at its end, or None for what is no address."""
    text = text.strip().rstrip("/").removesuffix("/chat/completions")
    if "://" not in text:
        text = f"{'http' if is_loopback(f'http://{text}') else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return None
    return text if usable and text.isprintable() and " " not in text else None


def _custom(base_url: str, name: str) -> Provider:
    """A provider about which only the address is known. By custom its key, if any, is OPENAI_API_KEY."""
    return Provider(
        name=name,
        label=_host(base_url) or base_url,
        base_url=base_url,
        key_variable="OPENAI_API_KEY",
        key_optional=True,
    )


def _with_key(providers: Mapping[str, Provider], model: str, environ: Mapping[str, str]) -> Provider | None:
    ready = [each for each in providers.values() if _ready(each, environ)]
    # A key or OPENAI_BASE_URL that is set says more than a configured server that wants no key: it may not be running.
    ready.sort(key=lambda each: not each.key_variable)
    if model:
        offering = (each for each in ready if model in each.models)
        matching = (each for each in ready if each.model_pattern and re.search(each.model_pattern, model))
        if (fitting := next(offering, None) or next(matching, None)) is not None:
            return fitting
    return next(iter(ready), None)


def _ready(provider: Provider, environ: Mapping[str, str]) -> bool:
    return not provider.key_variable or provider.key_optional or bool(_key(provider, environ))


def _key(provider: Provider, environ: Mapping[str, str]) -> str:
    return environ.get(provider.key_variable, "").strip() if provider.key_variable else ""


def _host(url: str) -> str:
    normal = normal_base_url(url)
    return urlsplit(normal).netloc.rpartition("@")[2].lower() if normal else ""
