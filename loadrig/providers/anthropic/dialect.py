"""The Anthropic Messages API as a `Dialect`. Nothing here holds state; headers are not its business (wire/head)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from loadrig.providers import ApiError, Endpoint
from loadrig.providers.anthropic.body import body
from loadrig.providers.anthropic.reader import MessageReader, api_error
from loadrig.providers.wording import words_of
from loadrig.words.prompt import Prompt
from loadrig.words.settings import ModelSettings

ENDPOINT = Endpoint(
    base_url="https://api.anthropic.com",
    path="/v1/messages",
    key_variable="ANTHROPIC_API_KEY",
    head="loadrig.wire.anthropic_head:anthropic_head",
    count_path="/v1/messages/count_tokens",
    count_without=("max_tokens", "stream"),
)


@dataclass(frozen=True, slots=True)
class Anthropic:
    """Messages, streamed, API version as the SDK's client sends it."""

    endpoint: Endpoint = ENDPOINT

    def body(self, prompt: Prompt, model: ModelSettings) -> tuple[bytes, ...]:
        return body(prompt, model)

    def reader(self) -> MessageReader:
        return MessageReader()

    def error(self, body: bytes) -> ApiError:
        """`{"type": "error", "error": {"type", "message", "details"}}`; of any other body what it says."""
        try:
            value: Any = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError):
            value = None
        if isinstance(value, dict) and isinstance(value.get("error"), dict):
            return api_error(value["error"])
        return ApiError("", words_of(body))


DIALECT = Anthropic()
