"""The OpenAPI document as programs read it: it takes seconds to write, and several hold it up."""

from __future__ import annotations

import json
from typing import Any

import loomverify.urls
from loomverify.api import api

assert loomverify.urls.urlpatterns, "every room has added its addresses"

TEXT = json.dumps(api.get_openapi_schema(), default=str)


def openapi_document() -> Any:
    return json.loads(TEXT)
