"""What a plan will use and cost, before anything is sent: local counts, the provider's own, and what is unknown."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest
from asking import head
from invented_prices import TABLE
from scripted_server import Script, serving

from loadrig import corpus, questions, retrievers
from loadrig.arms.escalate import Escalate
from loadrig.arms.route import Route
from loadrig.cost import Prices
from loadrig.execution.calibration import calibrated
from loadrig.execution.estimate import TOKEN_RATIO, Ratios, estimated
from loadrig.execution.sampling import Sample, sampled
from loadrig.providers import load
from loadrig.wire.turn import Target
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.settings import CorpusSettings, ModelSettings, QuestionSettings
from loadrig.words.trial import Trial

MODEL = ModelSettings(id="m", max_tokens=1000)
TWO_TOKENS = Prompt("", (Ask((Part("hello world"),)),))
SAMPLES = (
    Sample("control", "control", 100, guessed=False, prompt=TWO_TOKENS),
    Sample("agentic", "agentic", 1000, guessed=True),
)
TRIALS = tuple(Trial(f"t{n}", n, "control", "m", f"q{n}", "fact", 1, "c1", "measured") for n in range(2))


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    path = tmp_path / "prices.toml"
    path.write_text(TABLE)
    return Prices.load(path)


def test_the_estimate_is_trials_by_tokens_by_price(prices: Prices) -> None:
    """C-20: two trials of 100 local tokens at the ratio 1.13 and 300 of output: 2 x (113 x 3 + 300 x 15) / 1,000,000;
    at its worst one gives all 1,000 of its output."""
    ratios = Ratios({("control", "m"): Decimal("1.13")}, {"m": Decimal("1.54")})
    found = estimated(SAMPLES, TRIALS, prices, models=[MODEL], ratios=ratios)
    assert (found.prompt_tokens, found.output_tokens, found.cost) == (226, 600, Decimal("0.009678"))
    assert (found.worst.tokens, found.worst.cost) == (1113, Decimal("0.015339"))


def test_an_arm_that_asks_in_a_form_is_counted_by_another_of_its_prompts() -> None:
    """What follows from a form is guessed; calibrated is by a prompt without one: the whole set's, that of the rag
    which a classifier that says nothing falls back to, or none."""
    tiny = corpus.load(CorpusSettings(path="corpora/tiny"))
    asked = questions.load(QuestionSettings(path="questions/tiny.jsonl", limit=1), tiny)
    index = {"bm25": retrievers.load("bm25")(tiny)}
    arms = (Escalate(), Route(by="classifier"), Escalate(ceiling_tokens=0, over="keep"))
    found = sampled(arms, asked, tiny, index)
    assert [sample.guessed for sample in found] == [True, True, True]
    assert [sample.tokens for sample in found] == [arm.prompt_tokens(tiny) for arm in arms]
    shown = [None if sample.prompt is None else "".join(text for text in texts(sample.prompt)) for sample in found]
    assert [text and (text.count("</document>"), text.count(' passage="')) for text in shown] == [(5, 0), (5, 5), None]


def texts(prompt: Prompt) -> list[str]:
    return [part.text for message in prompt.messages if isinstance(message, Ask) for part in message.parts]


def test_a_kind_that_was_not_counted_has_its_models_ratio_and_a_model_without_one_the_constant() -> None:
    """A-81: each model has a ratio of its own; where none is known the stated constant stands."""
    ratios = Ratios({("control", "m"): Decimal("1.13")}, {"m": Decimal("1.54")})
    assert [ratios.of(*key) for key in (("control", "m"), ("agentic", "m"), ("control", "n"))] == [
        Decimal("1.13"), Decimal("1.54"), TOKEN_RATIO,
    ]  # fmt: skip


def test_a_model_without_a_price_has_no_estimate_of_money(prices: Prices) -> None:
    """F6: unknown before the first request, not 0; its tokens are estimated all the same."""
    trials = [Trial("t", 0, "control", "n", "q", "fact", 1, "c1", "measured")]
    found = estimated(SAMPLES, trials, prices, models=[ModelSettings(id="n")])
    assert (found.cost, found.prompt_tokens) == (None, 130)


def counted(status: bytes, body: bytes) -> tuple[Ratios, list[bytes]]:
    """The ratios of an endpoint that gives this answer to every count, and the requests it received."""
    lines = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (status, len(body))

    async def go() -> tuple[Ratios, list[bytes]]:
        async with serving(Script([(0, body)], head=lines, chunked=False, end="close")) as server:
            targets = {"m": Target(MODEL, load("anthropic"), head(server.url))}
            return await asyncio.to_thread(calibrated, SAMPLES, targets), server.requests

    return asyncio.run(go())


def test_the_endpoints_own_count_gives_the_ratio() -> None:
    """C-20: it says 3 for what is 2 here, so 1.5; one request, to its counting address, without an output limit."""
    ratios, requests = counted(b"200 OK", b'{"input_tokens":3}')
    assert (ratios.of("control", "m"), ratios.of("agentic", "m"), ratios.notes) == (Decimal("1.5"), Decimal("1.5"), ())
    (request,) = requests
    assert request.startswith(b"POST /v1/messages/count_tokens ")
    assert b"max_tokens" not in request


@pytest.mark.parametrize(("status", "body"), [(b"404 Not Found", b"{}"), (b"200 OK", b"[]"), (b"200 OK", b"<html>")])
def test_an_endpoint_that_does_not_count_leaves_the_estimate_and_is_named(status: bytes, body: bytes) -> None:
    """C-20: the stated constant holds, and a note says for which model and why."""
    ratios, _ = counted(status, body)
    assert ratios.of("control", "m") == TOKEN_RATIO
    (note,) = ratios.notes
    assert note.startswith("tokens of m are estimated as 1.3 x the local count: ")
