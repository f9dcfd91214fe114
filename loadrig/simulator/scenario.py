"""A scenario: how the simulated provider behaves, as one frozen value read from a TOML file.

Every key has a default; an unknown key or a value of the wrong type is an error that names the file and the key.
Shares are probabilities between 0 and 1 of one request. Scenarios shipped with the package are known by name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

import msgspec

FAULTS = ("rate_429", "rate_529", "rate_500", "rate_error_event", "rate_cut", "rate_early_end", "rate_stall")

SHARES = (
    "jitter", "refuse_share", "takes_first_value", "misorders_undated", "denies_when_wide", "opens_with_no",
    "invents_dates", "guesses", "replay_share", "marks_wide_share", "thinking_spread", "judge_errs", "judge_mumbles",
    "misses_middle", "misfiles", "overconfident", "fabricates_citations", "misplaces_citations", "obeys_documents",
    "goes_in_circles",
)  # fmt: skip
NOT_NEGATIVE = (
    "base_ms", "prefill_us_per_token", "decode_ms_per_token", "stall_ms", "token_ratio", "window_tokens",
    "reports_input", "reports_output", "refuse_per_100k", "wide_documents", "judge_likes_words",
)  # fmt: skip


class ScenarioError(Exception):
    """The scenario cannot be used; the text names the file and the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Settings of one simulated provider. All of them are dials: nothing here is evidence about a real one."""

    name: str = "unnamed"
    seed: int = 0

    # Latency: time to first token = wait for a slot + base + prefill x uncached prompt tokens; then decode per token.
    slots: int = 64
    base_ms: float = 150.0
    prefill_us_per_token: float = 5.0
    decode_ms_per_token: float = 8.0
    jitter: float = 0.2
    """Every duration is drawn evenly from 1 - jitter to 1 + jitter times its nominal value."""
    ping_every_ms: float = 1000.0
    """A ping fills every silence longer than this."""

    # Tokens.
    token_ratio: float = 1.13
    context_tokens: int = 1_000_000
    cache_minimum_tokens: int = 512

    # A provider that is not what it seems.
    window_tokens: int = 0
    """Above 0: of longer user text so many tokens are kept, and nobody is told."""
    window_drops: Literal["top", "middle"] = "top"
    window_reports: Literal["kept", "whole"] = "kept"
    """Which prompt the reported tokens are of: what was kept, or what was sent."""
    caches_unasked: bool = False
    """Every prompt is cached as if its last block had been marked for five minutes."""
    replay_share: float = 0.0
    """Share of request bodies that get the same answer, byte for byte, whenever they come."""
    replays_ids: bool = False
    """A replayed answer comes under the id of the first reply, too, as from a cache that keeps whole replies."""
    reports_input: float = 1.0
    """Factor laid on reported prompt tokens; count_tokens and the truth log stay honest."""
    reports_output: float = 1.0
    """Factor laid on reported output tokens, thinking included; the truth log stays honest."""
    counts_tokens: bool = True
    """False: count_tokens answers 404."""

    # What is said.
    fixed_answer_tokens: int = 0
    """Above 0 the prompt is not read: every answer is filler of exactly so many tokens."""
    thinking_tokens: int = 0
    """Above 0 each reply opens with so many tokens of thinking whose text is omitted."""
    thinking_spread: float = 0.0
    """How far thinking varies: evenly from 1 - spread to 1 + spread times its tokens."""

    # Faults, at most one a request.
    rate_429: float = 0.0
    rate_529: float = 0.0
    rate_500: float = 0.0
    rate_error_event: float = 0.0
    rate_cut: float = 0.0
    rate_early_end: float = 0.0
    rate_stall: float = 0.0
    retry_after_s: int = 1
    """Header of a 429; 0 leaves it out."""
    stall_ms: float = 3000.0

    # Weaknesses of the reader.
    refuse_share: float = 0.0
    takes_first_value: float = 0.0
    """Share of requests where the first of several good statements is taken, not the one of latest date."""
    misorders_undated: float = 0.0
    """Share of requests where a document without a date is taken for the newest instead of the oldest."""
    wide_documents: int = 8
    denies_when_wide: float = 0.0
    """Share of yes-or-no answers over more than `wide_documents` undated documents that stop at what ended the matter,
    though a later document brought it back."""
    misses_middle: float = 0.0
    """Of more than `wide_documents` documents, chance that one in the very middle of them is not read; it falls in a
    straight line to 0 at either end."""
    refuse_per_100k: float = 0.0
    """Chance of a refusal for each 100,000 tokens of the prompt, beside `refuse_share`."""
    opens_with_no: float = 0.0
    """Share of answers opening with yes that open with no instead, and go on as they would have."""
    marks_wide: str = ""
    """Answers over more than `wide_documents` documents end with this text: a manner of one arm; empty: none."""
    marks_wide_share: float = 1.0
    """Share of those answers that do."""
    cites_dates: bool = False
    """Answers end with the date of the document that they lead with."""
    invents_dates: float = 0.0
    """Share of these dates that are invented; above 0 dates are cited."""
    guesses: float = 0.0
    """Share of answers without any document that guess instead of saying that they cannot tell."""
    fabricates_citations: float = 0.0
    """Share of cited spans that no document holds: a figure is another, or a word too many is in them."""
    misplaces_citations: float = 0.0
    """Share of cited spans that stand under the name of a document that does not hold them."""
    obeys_documents: float = 0.0
    """Share of requests in which calls that a document orders are made, and what it says to answer is answered."""
    goes_in_circles: float = 0.0
    """Share of an agent's trials in which it makes its first calls again and again, and never answers."""
    misfiles: float = 0.0
    """Share of choices among named kinds, in a form, that are another kind than the question's wording says."""
    overconfident: float = 0.0
    """How far a confidence, in a form, lies above the evidence: 0 not at all, 1 all the way to certainty."""
    knows: Mapping[str, str] = field(default_factory=dict)
    """What is answered without any document: question -> answer."""

    # Weaknesses of the agent.
    asks_for: tuple[str, ...] = ()
    """An agent looks two of these up first, drawn for each trial, as queries and as documents' names: what it was
    talked into, and what it may not get."""

    # Weaknesses of the judge.
    judge_errs: float = 0.0
    """Share of a judge's verdicts that are turned round."""
    judge_mumbles: float = 0.0
    """Share of a judge's replies that hold no verdict."""
    judge_likes_words: int = 0
    """Above 0: answers of at least so many words are right, whatever they say."""
    judge_likes_marker: str = ""
    """Answers that hold this text are right, whatever they say; empty: none."""

    def __post_init__(self) -> None:
        for key in (*FAULTS, *SHARES):
            if not 0.0 <= getattr(self, key) <= 1.0:
                raise ScenarioError(f"{key} must lie between 0 and 1, not {getattr(self, key)}")
        if sum(getattr(self, key) for key in FAULTS) > 1.0:
            raise ScenarioError("the rates of all faults must not sum to more than 1")
        if self.slots < 1:
            raise ScenarioError(f"slots must be at least 1, not {self.slots}")
        for key in NOT_NEGATIVE:
            if getattr(self, key) < 0:
                raise ScenarioError(f"{key} must not be negative")
        if self.ping_every_ms < 1.0:
            raise ScenarioError("ping_every_ms must be at least 1")


def scenario_names() -> tuple[str, ...]:
    """Names of the scenarios shipped with the package, in order."""
    return tuple(sorted(entry.name[:-5] for entry in _shipped().iterdir() if entry.name.endswith(".toml")))


def load_scenario(name_or_path: str) -> Scenario:
    """The shipped scenario of that name, else the TOML file at that path. Raises ScenarioError."""
    if name_or_path in scenario_names():
        return _parse((_shipped() / f"{name_or_path}.toml").read_text("utf-8"), name_or_path, name_or_path)
    path = Path(name_or_path)
    if not path.is_file():
        raise ScenarioError(f"no scenario {name_or_path!r}: give a file, or one of {', '.join(scenario_names())}")
    return _parse(path.read_text("utf-8"), str(path), path.stem)


def _shipped() -> Traversable:
    return resources.files("loadrig.simulator") / "scenarios"


def _parse(text: str, where: str, default_name: str) -> Scenario:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{where}: not TOML: {error}") from error
    known = {field.name for field in fields(Scenario)}
    unknown = sorted(set(table) - known)
    if unknown:
        raise ScenarioError(f"{where}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    try:
        return msgspec.convert({"name": default_name, **table}, Scenario)
    except (msgspec.ValidationError, ScenarioError) as error:
        raise ScenarioError(f"{where}: {error}") from error
