"""What is known about models by name: window, images, price. Facts of the providers' pages, November 2026.

A wrong guess costs little: too small a window shortens a conversation early, too large a one is told by the provider.
"""

import re
from dataclasses import dataclass

from hermes_tui.models.spec import Prices

GUESSED_WINDOW = 128_000


@dataclass(frozen=True, slots=True)
class KnownModel:
    context_window: int
    """Tokens."""
    images: bool = False
    prices: Prices | None = None


# The first pattern that is found in the name counts; [.-] because routers write versions with dots.
_MODELS: tuple[tuple[str, KnownModel], ...] = (
    (r"gpt-oss", KnownModel(131_072)),
    (r"gpt-5\.4-(mini|nano)", KnownModel(400_000, images=True)),
    (r"gpt-6|gpt-5\.[4-9]", KnownModel(1_050_000, images=True)),
    (r"gpt-5.*-chat", KnownModel(128_000, images=True)),
    (r"gpt-5", KnownModel(400_000, images=True)),
    (r"gpt-4\.1", KnownModel(1_047_576, images=True)),
    (r"gpt-4o|gpt-4-turbo", KnownModel(128_000, images=True)),
    (r"\bo[134](-mini|-pro)?\b", KnownModel(200_000, images=True)),
    (r"claude-opus-5[.-]5", KnownModel(1_000_000, images=True, prices=Prices(4, 20))),
    (r"claude-opus-5", KnownModel(1_000_000, images=True, prices=Prices(5, 25))),
    (r"claude-sonnet-5(?![.-]\d)", KnownModel(1_000_000, images=True, prices=Prices(2, 10))),
    (r"claude-(sonnet|fable|mythos)-5|claude-opus-4[.-][6-9]|claude-sonnet-4[.-]6", KnownModel(1_000_000, images=True)),
    (r"claude", KnownModel(200_000, images=True)),
    (r"gemini", KnownModel(1_048_576, images=True)),
    (r"deepseek-(flash|v4\.1-flash)", KnownModel(1_000_000, images=True)),
    (r"deepseek-v4", KnownModel(1_000_000)),
    (r"deepseek", KnownModel(128_000)),
    (r"mistral-medium", KnownModel(262_144, images=True)),
    (r"mistral-large|codestral|devstral", KnownModel(262_144)),
    (r"mistral|ministral|magistral", KnownModel(131_072)),
    (r"pixtral", KnownModel(131_072, images=True)),
    (r"grok-4[.-]5", KnownModel(500_000, images=True)),
    (r"grok-4[.-](3|20)", KnownModel(1_000_000, images=True)),
    (r"grok-4.*fast", KnownModel(2_000_000, images=True)),
    (r"grok-4", KnownModel(256_000, images=True)),
    (r"grok-code", KnownModel(256_000)),
    (r"grok", KnownModel(131_072)),
    (r"kimi-k2|qwen3-coder", KnownModel(262_144)),
    (r"llama-?4", KnownModel(131_072, images=True)),
    (r"llama-?3\.[1-3]|qwen3|glm-|minimax", KnownModel(131_072)),
    (r"gemma-?3", KnownModel(131_072, images=True)),
    (r"qwen-?2\.5", KnownModel(32_768)),
)


def known_model(model: str) -> KnownModel | None:
    """Return what is known about a model by its name, whoever serves it."""
    name = model.lower()
    return next((known for pattern, known in _MODELS if re.search(pattern, name)), None)
