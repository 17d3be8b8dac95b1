"""litellm, loaded late and kept to itself: no web, no log, no cache, no retries of its own."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from verification.adapters.judge_models import PROVIDERS, listing, provider_of
from verification.adapters.judge_wire import Wire

NO_KEY = "none"
"""Sent where there is no key, so that a provider's own variable is not looked for instead."""
QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",  # else it loads a .env file
    "LITELLM_LOG": "CRITICAL",
    "HF_HUB_OFFLINE": "1",
}

_loading = threading.Lock()


def library() -> ModuleType:
    """Litellm. It takes seconds the first time; threads wait for the one that loads it."""
    with _loading:
        return _load()


@cache
def _load() -> ModuleType:
    os.environ.update(QUIET)
    import litellm

    # They repeat what a model has said.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    warnings.filterwarnings("ignore", category=UserWarning, module="pydantic")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = True
    litellm.num_retries = None
    litellm.cache = None
    litellm.callbacks = []
    litellm.disable_hf_tokenizer_download = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # prompts and keys among it
    import httpx

    wire = Wire()
    litellm.client_session = httpx.Client(transport=wire, trust_env=False)
    litellm.sync_transport = wire
    module: ModuleType = litellm
    return module


def key_for(model: str, key: str) -> str | None:
    return key or (NO_KEY if provider_of(model) in PROVIDERS else None)


def response_format(
    model: str, schema: Mapping[str, Any] | None, wished: bool | None
) -> dict[str, Any] | None:
    """How a schema is asked for: by itself, as any JSON object, or not at all (None)."""
    if schema is None or wished is False:
        return None
    if wished or listing(model).has_schema:
        verdict = {"name": "answer", "schema": dict(schema), "strict": is_strict(schema)}
        return {"type": "json_schema", "json_schema": verdict}
    return {"type": "json_object"} if _takes_json_object(model) else None


def _takes_json_object(model: str) -> bool:
    try:
        known = library().get_supported_openai_params(model=model) or []
    except Exception:  # it raises what it likes for a provider that it does not know
        return False
    return "response_format" in known


def is_strict(schema: Any) -> bool:
    """Whether every object of a schema names all its fields and allows no others."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        names = set(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False or names != set(
            schema.get("required", [])
        ):
            return False
    return all(is_strict(part) for part in schema.values())
