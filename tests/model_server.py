"""A server of embeddings and relevance, for tests that set what its vectors are: a thread on a real socket that keeps
every request. Knows nothing of loadrig."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from threaded_server import handled

Answer = Callable[[dict[str, Any]], Any]


@dataclass
class Model:
    """`vector` of a text, `relevance` of a query and a passage. `instead` is answered as it is. What `refuses` says yes
    to is answered with 503."""

    vector: Callable[[str], Sequence[float]] = lambda text: [1.0, float(len(text))]
    relevance: Callable[[str, str], float] = lambda query, passage: float(len(passage))
    instead: bytes | None = None
    refuses: Answer = lambda body: False
    url: str = ""
    told: str = "no room"  # with the 503
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """Every text it was asked to embed."""
        return [text for body in self.asked for text in body.get("input", [])]

    def answer(self, body: dict[str, Any]) -> bytes:
        self.asked.append(body)
        if self.instead is not None:
            return self.instead
        if "input" in body:
            rows = [{"index": at, "embedding": list(self.vector(text))} for at, text in enumerate(body["input"])]
            return json.dumps({"object": "list", "data": rows[::-1]}).encode()
        scores = [self.relevance(body["query"], passage) for passage in body["documents"]]
        rows = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
        return json.dumps({"results": sorted(rows, key=lambda row: -row["relevance_score"])}).encode()


@contextlib.contextmanager
def serving(model: Model) -> Iterator[Model]:
    """The model, with the address it is asked at."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            model.keys.append(self.headers["authorization"])
            content, status = model.answer(body), 200
            if model.refuses(body):
                content, status = model.told.encode(), 503
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
            """Says nothing."""

    with handled(Handler) as url:
        model.url = f"{url}/v1/embeddings"
        yield model


def by_words(text: str) -> list[float]:
    """A vector that counts letters: texts of the same letters are alike."""
    counts = [0.1] * 26
    for letter in text.lower():
        if "a" <= letter <= "z":
            counts[ord(letter) - ord("a")] += 1
    length = math.hypot(*counts)
    return [count / length for count in counts]
