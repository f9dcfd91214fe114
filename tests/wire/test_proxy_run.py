"""Whole runs through a proxy, by the command: said aloud, its credentials in no file, and given up when it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import QUICK, loadrig, only_run, write_plan
from proxy_server import proxy_server
from simulator_process import simulator

PASSWORD = "very-secret-word"


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with simulator("quick") as url:
        yield url


def plan_through(folder: Path, target: str, port: int) -> Path:
    text = QUICK.replace('"simulator"', f'"{target}"').replace('scenario = "SCENARIO"\n', "")
    proxied = f'base_url = "{target}"\nproxy = "http://kim:{PASSWORD}@127.0.0.1:{port}"'
    return write_plan(folder, text.replace(f'base_url = "{target}"', proxied))


def everything(folder: Path) -> str:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).decode(errors="replace")


def test_a_run_through_a_proxy_says_so_and_keeps_its_credentials(tmp_path: Path, target: str) -> None:
    """Every request goes through it; manifest, warnings and output name it, and no file has user or password."""
    with proxy_server() as proxy:
        called = loadrig("run", plan_through(tmp_path, target, proxy.port), "--out", tmp_path / "results")
    run = only_run(tmp_path / "results")
    assert called.code == 0, called.err
    assert any(head.startswith(f"POST {target}/v1/messages ".encode()) for head in proxy.heads)
    assert any(head.startswith(f"POST {target}/v1/messages/count_tokens ".encode()) for head in proxy.heads)
    told = f"go through the proxy {proxy.url} (the plan)"
    assert any(told in warning for warning in run.manifest["warnings"])
    assert told in called.err + called.out
    assert run.manifest["endpoints"] == {"claude-haiku-5-5": f"{target} through the proxy {proxy.url}"}
    assert run.manifest["plan"]["model"][0]["proxy"] == proxy.url
    assert PASSWORD not in everything(run.path) + called.out + called.err


def test_a_proxy_that_refuses_ends_the_run_at_once(tmp_path: Path, target: str) -> None:
    """407 to all: a few trials are asked, the rest is not run, and one warning names the proxy."""
    with proxy_server(b"HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n") as proxy:
        called = loadrig("run", plan_through(tmp_path, target, proxy.port), "--out", tmp_path / "results")
    run = only_run(tmp_path / "results")
    reasons = [record.reason for record in run.records]
    assert called.code == 1
    assert set(reasons) == {"connect", "stopped"}
    assert reasons.count("connect") <= 16
    (told,) = (warning for warning in run.manifest["warnings"] if "refuses us" in warning)
    assert told.startswith(f"the proxy refuses us: HTTP 407, the proxy {proxy.url} refused: HTTP 407;")
    assert json.dumps(run.manifest).count(PASSWORD) == 0
