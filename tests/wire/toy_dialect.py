"""A second dialect, as small as one can be: chat completions, as far as a test needs them. Nothing above names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from loadrig.marks import Kind
from loadrig.providers import ApiError, Endpoint, Heard
from loadrig.wire.head import Head, head_lines, origin_of
from loadrig.words.prompt import Ask, Prompt, Said
from loadrig.words.record import Usage
from loadrig.words.settings import ModelSettings


def bearer_head(endpoint: Endpoint, base_url: str | None) -> Head:
    """Where the head comes from is the dialect's to say."""
    origin = origin_of(base_url or endpoint.base_url)
    headers = [(b"Host", b"%b:%d" % (origin[1].encode(), origin[2])), (b"Authorization", b"Bearer toy")]
    return Head(origin, head_lines(b"POST", endpoint.path.encode(), headers), ("toy",))


class ChatReader:
    """Pieces of text until `[DONE]`."""

    def __init__(self) -> None:
        self.ended = False
        self._pieces: list[str] = []
        self._usage = Usage(exact=False)

    def feed(self, payload: bytes) -> Kind:
        if payload == b"[DONE]":
            self.ended = True
            return Kind.STOP
        event: Any = msgspec.json.decode(payload)
        if event.get("usage"):
            self._usage = Usage(event["usage"]["prompt_tokens"], output=event["usage"]["completion_tokens"])
        text = "".join(choice["delta"].get("content") or "" for choice in event["choices"])
        self._pieces.append(text)
        return Kind.TEXT if text else Kind.OTHER

    def heard(self) -> Heard:
        text = "".join(self._pieces)
        return Heard(text, (), Said(msgspec.json.encode(text)), self.ended, self._usage, "end", "stop", model="toy")


ENDPOINT = Endpoint("http://toy", "/v1/chat/completions", "TOY_KEY", f"{__name__}:bearer_head")


@dataclass(frozen=True)
class Chat:
    """`tests/wire/toy_dialect:CHAT` in a plan's terms."""

    endpoint: Endpoint = ENDPOINT

    def body(self, prompt: Prompt, model: ModelSettings) -> tuple[bytes, ...]:
        messages = [
            {"role": "user", "content": "\n".join(part.text for part in message.parts)}
            for message in prompt.messages
            if isinstance(message, Ask)
        ]
        return (msgspec.json.encode({"model": model.id, "messages": messages, "stream": True}),)

    def reader(self) -> ChatReader:
        return ChatReader()

    def error(self, body: bytes) -> ApiError:
        return ApiError("", body.decode(errors="replace"))


CHAT = Chat()
