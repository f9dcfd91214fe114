"""Chat completions, as OpenAI describes them and many others serve them, as a `Dialect`. Holds no state."""

from __future__ import annotations

from dataclasses import dataclass

from loadrig.providers import ApiError, Endpoint
from loadrig.providers.openai.body import body
from loadrig.providers.openai.errors import error_of_body
from loadrig.providers.openai.reader import ChatReader
from loadrig.words.prompt import Prompt
from loadrig.words.settings import ModelSettings

ENDPOINT = Endpoint(
    base_url="https://api.openai.com/v1",
    path="/chat/completions",
    key_variable="OPENAI_API_KEY",
    head="loadrig.wire.openai_head:openai_head",
    keeps_on_request=False,
    cites=False,
    limits=("max_tokens", "max_completion_tokens"),
)


@dataclass(frozen=True, slots=True)
class OpenAI:
    """Chat completions, streamed, with usage asked for."""

    endpoint: Endpoint = ENDPOINT

    def body(self, prompt: Prompt, model: ModelSettings) -> tuple[bytes, ...]:
        return body(prompt, model)

    def reader(self) -> ChatReader:
        return ChatReader()

    def error(self, body: bytes) -> ApiError:
        return error_of_body(body)


DIALECT = OpenAI()
