"""The provider over a real socket, as a process of its own, held against its truth log."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from simulated import FAST, Running, asking, document, running

FEES = document("d1", "The fee for parking is 5 euros.", date="2030-01-01") + document(
    "d2", "The fee for parking was raised to 7 euros.", date="2030-02-01"
)


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(FAST, tmp_path_factory.mktemp("fast")) as simulator:
        yield simulator


def test_a_stream_has_the_events_of_the_messages_api_in_order(fast: Running) -> None:
    """message_start, one text block with a ping after its start, message_delta, message_stop."""
    kinds = fast.post(asking("anything?")).kinds
    assert kinds[:3] == ["message_start", "content_block_start", "ping"]
    assert set(kinds[3:-3]) == {"content_block_delta"}
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]


def test_output_tokens_are_the_text_deltas(fast: Running) -> None:
    """One token a delta event, and the final usage says how many."""
    reply = fast.post(asking("What is the fee for parking?", FEES))
    deltas = reply.kinds.count("content_block_delta")
    assert reply.events[-2]["usage"]["output_tokens"] == deltas > 5


def test_without_stream_the_same_message_comes_at_once(fast: Running) -> None:
    """stream false gives the text, usage and stop reason that the stream of the same attempt gives."""
    streamed = fast.post(asking("What is the fee for parking?", FEES), attempt="t1.1.1")
    whole = fast.post(asking("What is the fee for parking?", FEES, stream=False), attempt="t1.1.1").json()
    assert whole["content"] == [{"type": "text", "text": streamed.text}]
    assert whole["usage"]["output_tokens"] == streamed.events[-2]["usage"]["output_tokens"]
    assert whole["stop_reason"] == "end_turn"


def test_the_same_attempt_gives_the_same_bytes_and_another_trial_other_words(fast: Running) -> None:
    """Reruns do not differ, repetitions do: in 12 trials at least two wordings of the admission occur."""
    first, again = (fast.post(asking("who?"), attempt="t7.1.1") for _ in range(2))
    assert first.body == again.body
    assert len({fast.post(asking("who?"), attempt=f"t{number}.1.1").text for number in range(12)}) >= 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"messages": []}, "at least one message"),
        ({"temperature": 1.0}, "temperature"),
        ({"nonsense": 1}, "nonsense: Extra inputs are not permitted"),
        ({"thread": {"type": "create"}}, "thread: a conversation held by the server is not simulated"),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}, "prefill"),
    ],
)
def test_a_bad_body_is_a_400_in_the_shape_of_the_api(fast: Running, change: dict[str, object], words: str) -> None:
    """The reason stands in error.message and the request id in the body is that of the header."""
    reply = fast.post({**asking("x?"), **change})
    error = reply.json()
    assert (reply.status, error["type"], error["error"]["type"]) == (400, "error", "invalid_request_error")
    assert words in error["error"]["message"]
    assert error["request_id"] == reply.headers["request-id"]


def test_a_body_that_is_not_json_is_a_400(fast: Running) -> None:
    """Half an object is refused, not a crash."""
    assert fast.post(b'{"model": "x", ').status == 400


def test_other_paths_are_404(fast: Running) -> None:
    """Only the two POST paths and the two GET paths exist; the answer has its request id in body and header."""
    reply = fast.get("/v1/nothing")
    assert (reply.status, reply.headers["request-id"]) == (404, reply.json()["request_id"])
    assert fast.get("/healthz").json() == {"status": "ok"}


def test_rate_limit_headers_are_there(fast: Running) -> None:
    """Each reply names an organisation and what is left of requests and tokens."""
    headers = fast.post(asking("x?")).headers
    assert headers["anthropic-organization-id"]
    assert int(headers["anthropic-ratelimit-requests-remaining"]) < int(headers["anthropic-ratelimit-requests-limit"])
    assert int(headers["anthropic-ratelimit-input-tokens-remaining"]) % 1000 == 0


def test_count_tokens_agrees_with_the_usage_of_the_same_prompt(fast: Running) -> None:
    """The count for a body is the input_tokens that sending it costs."""
    body = asking("What is the fee?", FEES)
    counted = fast.post({"model": body["model"], "messages": body["messages"]}, path="/v1/messages/count_tokens").json()
    assert counted == {"input_tokens": fast.post(body).events[0]["message"]["usage"]["input_tokens"]}


def test_a_starved_budget_ends_in_thinking(tmp_path: Path) -> None:
    """With 30 tokens of thinking and max_tokens 10 there is no text, and the ten tokens are thinking."""
    with running(FAST + "thinking_tokens = 30\n", tmp_path) as simulator:
        events = simulator.post(asking("x?", max_tokens=10)).events
    blocks = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
    assert blocks == ["thinking"]
    assert events[-2]["delta"]["stop_reason"] == "max_tokens"
    assert events[-2]["usage"]["output_tokens_details"] == {"thinking_tokens": 10}


def test_the_truth_log_tells_what_the_client_saw(tmp_path: Path) -> None:
    """Text digest, tokens, body digest and attempt of the row are those of the exchange; instants are in order."""
    body = json.dumps(asking("What is the fee for parking?", FEES)).encode()
    with running(FAST, tmp_path) as simulator:
        begin_ns = time.perf_counter_ns()
        reply = simulator.post(body, attempt="trial-3.1.1")
        end_ns = time.perf_counter_ns()
        (row,) = simulator.stop()
    assert row["attempt"] == "trial-3.1.1"
    assert row["text_sha256"] == hashlib.sha256(reply.text.encode()).hexdigest()
    assert row["body_sha256"] == hashlib.sha256(body).hexdigest()
    assert (row["output"], row["events"]) == (reply.events[-2]["usage"]["output_tokens"], len(reply.kinds))
    order = ["received_ns", "body_complete_ns", "first_event_ns", "first_token_ns", "last_token_ns", "end_ns"]
    instants = [begin_ns, *(row[name] for name in order), end_ns]
    assert instants == sorted(instants)


def test_tokens_leave_when_the_scenario_says(tmp_path: Path) -> None:
    """First token 50 ms after the body, the fifth 40 ms later: never early, and the best of eight in time."""
    scenario = "base_ms = 50.0\ndecode_ms_per_token = 10.0\njitter = 0.0\nfixed_answer_tokens = 5\n"
    with running(scenario + "prefill_us_per_token = 0.0\n", tmp_path) as simulator:
        for _ in range(8):
            simulator.post(asking("x?"))
        rows = simulator.stop()
    assert 50 <= min((row["first_token_ns"] - row["body_complete_ns"]) / 1e6 for row in rows) < 90
    assert 90 <= min((row["last_token_ns"] - row["body_complete_ns"]) / 1e6 for row in rows) < 130


def test_a_request_waits_for_the_one_slot(tmp_path: Path) -> None:
    """With one slot the second of two requests begins at the due end of the first, and both rows say so."""
    with running(FAST + "slots = 1\nfixed_answer_tokens = 100\n", tmp_path) as simulator:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda number: simulator.post(asking("x?"), attempt=f"t{number}.1.1"), range(2)))
        rows = sorted(simulator.stop(), key=lambda row: row["service_ns"])
    first, second = rows
    assert first["slot_wait_ns"] == 0 < second["slot_wait_ns"]
    assert second["service_ns"] - first["service_ns"] == 10_000_000 + 99 * 500_000
    assert sorted(row["in_flight"] for row in rows) == [1, 2]


def test_a_cached_prefix_is_written_once_and_then_read(tmp_path: Path) -> None:
    """The first request writes the marked block, the second reads it, and another key pays again."""
    block = {"type": "text", "text": "word " * 3000, "cache_control": {"type": "ephemeral"}}
    body = asking("x?")
    body["messages"] = [{"role": "user", "content": [block, {"type": "text", "text": "Question: x?"}]}]
    with running(FAST, tmp_path) as simulator:
        for key in ("a", "a", "b"):
            simulator.post(body, **{"x-api-key": key})
        rows = simulator.stop()
    assert [(row["cache_write_5m"] > 2000, row["cache_read"] > 2000) for row in rows] == [
        (True, False),
        (False, True),
        (True, False),
    ]
    assert rows[1]["cache_read"] == rows[0]["cache_write_5m"]


def test_a_client_that_leaves_is_noted_and_frees_its_slot(tmp_path: Path) -> None:
    """The row of a stream left after its headers says disconnected, and the one slot serves the next request."""
    scenario = FAST.replace("0.5", "20.0") + "slots = 1\nfixed_answer_tokens = 500\n"
    with running(scenario, tmp_path) as simulator:
        import http.client  # noqa: PLC0415 - the one test that must hang up half-way

        connection = http.client.HTTPConnection("127.0.0.1", simulator.port)
        connection.request("POST", "/v1/messages", json.dumps(asking("x?")))
        connection.getresponse().read(100)
        connection.sock.close() if connection.sock else None
        connection.close()
        short = simulator.post(asking("x?", max_tokens=3))
        rows = simulator.stop()
    assert short.events[-2]["delta"]["stop_reason"] == "max_tokens"
    assert [row["disconnected"] for row in rows] == [True, False]


def test_it_stops_on_sigterm_and_keeps_the_rows_of_open_streams(tmp_path: Path) -> None:
    """SIGTERM in the middle of a stream ends the process with 0 within seconds, the broken stream in the log."""
    with running("paced", tmp_path) as simulator, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(simulator.post, asking("x?"))
        while simulator.get("/_sim/stats").json()["events"] < 5:
            assert not answer.done()
        os.kill(simulator.process.pid, signal.SIGTERM)
        assert simulator.process.wait(timeout=10) == 0
        assert answer.result().broken
    (row,) = [json.loads(line) for line in simulator.log.read_text().splitlines()]
    assert row["disconnected"]
    assert row["stop_reason"] is None


def test_large_prompts_are_read_elsewhere(tmp_path: Path) -> None:
    """A prompt of a megabyte is answered from its one good sentence, and the wait for the reader is in the row."""
    filler = "\n\n".join(document(f"f{number}", "Nothing of note happened. " * 400) for number in range(100))
    body = asking("What is the fee for parking?", filler + FEES)
    with running(FAST, tmp_path) as simulator:
        reply = simulator.post(body)
        (row,) = simulator.stop()
    assert "7 euros. [d2]" in reply.text
    assert row["body_bytes"] > 1_000_000
    assert row["reader_wait_ns"] > 0


def test_stats_count_requests(tmp_path: Path) -> None:
    """After three requests the counters say three, none in flight, and a lateness below a second."""
    with running(FAST, tmp_path) as simulator:
        for _ in range(3):
            simulator.post(asking("x?"))
        stats = simulator.get("/_sim/stats").json()
    assert (stats["requests"], stats["in_flight"], stats["max_in_flight"]) == (3, 0, 1)
    assert 0 < stats["lateness_p50_ms"] <= stats["lateness_p99_ms"] < 1000
    assert stats["pid"] == simulator.process.pid


def test_a_bad_scenario_ends_with_2_and_names_the_key(tmp_path: Path) -> None:
    """An unknown key stops the process before it listens."""
    path = tmp_path / "odd.toml"
    path.write_text("slotz = 3\n")
    command = [sys.executable, "-m", "loadrig.simulator", "--scenario", str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown key 'slotz'" in done.stderr
