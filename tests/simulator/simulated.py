"""Runs the simulator as a process of its own and speaks to it with the standard library; tests only."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FAST = "base_ms = 10.0\ndecode_ms_per_token = 0.5\nprefill_us_per_token = 0.0\njitter = 0.0\n"


@dataclass
class Reply:
    """A response: status, headers, raw body, and its events when it was a stream."""

    status: int
    headers: dict[str, str]
    body: bytes
    broken: bool = False

    @property
    def events(self) -> list[dict[str, Any]]:
        blocks = self.body.decode().split("\n\n")
        return [json.loads(block.split("\ndata: ", 1)[1]) for block in blocks if block]

    @property
    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def text(self) -> str:
        deltas = [event["delta"] for event in self.events if event["type"] == "content_block_delta"]
        return "".join(delta.get("text", "") for delta in deltas)

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Running:
    """A simulator that accepts requests."""

    port: int
    process: subprocess.Popen[str]
    log: Path

    def post(self, body: object, attempt: str | None = None, path: str = "/v1/messages", **headers: str) -> Reply:
        if attempt is not None:
            headers["x-loadrig-attempt"] = attempt
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._send("POST", path, data, headers)

    def get(self, path: str) -> Reply:
        return self._send("GET", path, b"", {})

    def _send(self, method: str, path: str, data: bytes, headers: dict[str, str]) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        try:
            content, broken = response.read(), False
        except http.client.IncompleteRead as error:
            content, broken = error.partial, True
        connection.close()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, content, broken)

    def stop(self) -> list[dict[str, Any]]:
        """Close its standard input, wait for it to end, and return the truth log's rows."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(timeout=10) == 0
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def running(scenario: str, folder: Path, *options: str) -> Iterator[Running]:
    """Start a simulator with a scenario given as TOML (or the name of a shipped one), and with more options."""
    name = scenario
    if "=" in scenario:
        path = folder / "scenario.toml"
        path.write_text(scenario)
        name = str(path)
    log = folder / "truth.jsonl"
    command = [sys.executable, "-m", "loadrig.simulator", "--scenario", name, "--truth-log", str(log), *options]
    process = subprocess.Popen(
        [*command, "--exit-with-parent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdin is not None
    with process:
        line = process.stdout.readline()
        assert line.startswith("listening http://127.0.0.1:"), line
        try:
            yield Running(int(line.rsplit(":", 1)[1]), process, log)
        finally:
            process.stdin.close()


def asking(question: str, documents: str = "", **more: object) -> dict[str, object]:
    """A request's body: documents in one block, the question in the last."""
    blocks = [{"type": "text", "text": documents}] if documents else []
    blocks.append({"type": "text", "text": f"Question: {question}"})
    body = {"model": "sim-1", "max_tokens": 400, "stream": True, "messages": [{"role": "user", "content": blocks}]}
    return {**body, **more}


def document(identity: str, text: str, **attributes: str) -> str:
    """A document between tags."""
    head = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<document id="{identity}"{head}>\n{text}\n</document>'
