"""What is known of models without asking anybody, and without importing litellm.

Its price list lies in its package as a file; the list of the web is never fetched.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PRICE_LIST = "model_prices_and_context_window_backup.json"
MILLION = 1_000_000

PROVIDERS = frozenset(
    [
        "openai",
        "anthropic",
        "cerebras",
        "cohere",
        "cohere_chat",
        "deepinfra",
        "deepseek",
        "fireworks_ai",
        "gemini",
        "groq",
        "hosted_vllm",
        "llamafile",
        "lm_studio",
        "mistral",
        "moonshot",
        "nebius",
        "nvidia_nim",
        "ollama",
        "ollama_chat",
        "openrouter",
        "perplexity",
        "sambanova",
        "together_ai",
        "xai",
    ]
)
"""Providers that take an address and a key, and nothing from the machine they are called from.
A project's own connections are among these; others would use the operator's credentials."""

SCHEMA_PROVIDERS = frozenset(
    ["fireworks_ai", "hosted_vllm", "lm_studio", "nebius", "ollama", "ollama_chat"]
)
"""Providers that offer a schema for whatever model they serve."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What the list knows of a model. Prices are None where it knows none."""

    input_usd_per_million: Decimal | None = None
    output_usd_per_million: Decimal | None = None
    has_schema: bool = False


def provider_of(model: str) -> str:
    """The provider in `provider/model`, '' where none is named."""
    provider, slash, _ = model.partition("/")
    return provider if slash else ""


def listing(model: str) -> Listing:
    """What is known of a model in litellm's words; an empty listing when nothing is."""
    listings = _listings()
    provider, _, name = model.partition("/")
    known = listings.get(model) or listings.get(name) or Listing()
    if provider in SCHEMA_PROVIDERS:
        return Listing(known.input_usd_per_million, known.output_usd_per_million, True)
    return known


@cache
def _listings() -> dict[str, Listing]:
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    text = (Path(spec.origin).parent / PRICE_LIST).read_text(encoding="utf-8")
    return {
        model: Listing(
            _per_million(entry.get("input_cost_per_token")),
            _per_million(entry.get("output_cost_per_token")),
            bool(entry.get("supports_response_schema")),
        )
        for model, entry in json.loads(text).items()
        if entry.get("mode") == "chat"
    }


def _per_million(cost: Any) -> Decimal | None:
    try:
        return None if cost is None else Decimal(str(cost)) * MILLION
    except InvalidOperation:
        return None
