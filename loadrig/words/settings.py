"""A plan as the user wrote it, resolved: plain frozen values, one class a TOML table.

Validation happens once, in `loadrig.config`, from these same classes: a key that is not a field here is an error,
a missing one takes the default below. Durations are seconds (floats), money decimal strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, get_args

import annotated_types

from loadrig.words.arm import Arm

Positive = annotated_types.Ge(1)
NotNegative = annotated_types.Ge(0)
Seconds = annotated_types.Interval(gt=0, le=86_400)
Rate = annotated_types.Interval(gt=0, le=100_000)
NotEmpty = annotated_types.MinLen(1)
Share = annotated_types.Interval(ge=0, le=1)
Fleet = Literal["inline", "process", "ray"]
TokenLimit = Literal["max_tokens", "max_completion_tokens"]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
STRICT: dict[str, Any] = {"extra": "forbid", "strict": False, "arbitrary_types_allowed": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSettings:
    """A folder of texts. `slice` names an entry of its slices.json."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    path: str
    slice: str | None = None
    chunk_tokens: Annotated[int, Positive] = 400
    chunk_overlap: Annotated[int, NotNegative] = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSettings:
    """A JSONL file of questions. `categories` takes those of these only, then `limit` the first n in file order."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    path: str
    categories: tuple[str, ...] = ()
    limit: Annotated[int, Positive] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """What may be sent to a model a minute, by all workers together; None: no limit of ours. Input tokens are those not
    read from a cache."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    requests_per_minute: Annotated[float, Rate] | None = None
    input_tokens_per_minute: Annotated[int, Positive] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """A model behind an endpoint. `base_url`: "simulator" (the embedded one), a URL, or None: the provider's own.
    `scenario` is for the embedded simulator only: a scenario's name or a file. `proxy`: a URL, which may have user and
    password in it; "off"; or None: what the environment says. `path`: in the place of the dialect's own, behind what
    `base_url` has; it may have a query. `headers`: further ones, or in the place of the dialect's; "$NAME" in a value
    is an environment variable, an empty value leaves a header out. `ca_file`: further certificates to trust.
    `client_cert`, `client_key` (None: it stands in the certificate's file): who we are. All three are files in PEM.
    `token_limit`: what `max_tokens` is called in a chat completion's request; None: what its endpoint is likely to
    know."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    id: str
    provider: str = "anthropic"
    base_url: str | None = None
    max_tokens: Annotated[int, Positive] = 2000
    scenario: str | None = None
    limits: ModelLimits = field(default_factory=ModelLimits)
    proxy: str | None = field(default=None, repr=False)
    path: Annotated[str, annotated_types.MinLen(1)] | None = None
    headers: Mapping[str, str] | None = None
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    token_limit: TokenLimit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """Stages. Closed loop: `concurrency`, trials in flight. Open loop: `rate`, trials due a second, whatever the target
    does; or `replay`, each question at its own `at_s`. Neither: eight in flight.

    With `cycle` a stage repeats the question set until max(`least`, 10 N) measured trials, or for `duration_s` seconds.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    concurrency: Annotated[tuple[Annotated[int, Positive], ...], NotEmpty] | None = None
    rate: Annotated[tuple[Annotated[float, Rate], ...], NotEmpty] | None = None
    replay: bool = False
    arrivals: Literal["poisson", "constant"] | None = None  # open loop; None: poisson
    ramp_s: Annotated[float, NotNegative] = 0.0  # open loop: the rate rises from 0 over so many seconds
    max_in_flight: Annotated[int, Positive] | None = None  # open loop; None: min(4096, 10 x rate x limits.total)
    think_s: Annotated[float, NotNegative] = 0.0  # closed loop: how long a slot rests between two trials
    duration_s: Annotated[float, Seconds] | None = None
    warmup: Annotated[int, NotNegative] = 8
    workers: Annotated[int, Positive] = 1
    fleet: Fleet | None = None  # None: Ray where RAY_ADDRESS names a cluster, else processes; inline for one worker
    cpus_per_worker: Annotated[float, NotNegative] = 1.0
    cycle: bool = True
    least: Annotated[int, Positive] = 200

    @property
    def is_open(self) -> bool:
        return self.rate is not None or self.replay

    @property
    def levels(self) -> tuple[int, ...]:
        """Trials in flight of the closed-loop stages."""
        return self.concurrency or (8,)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Seconds. `gap` is the longest silence without content (pings do not feed it); `total` a whole trial."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    connect: Annotated[float, Seconds] = 10.0
    first_byte: Annotated[float, Seconds] = 60.0
    first_token: Annotated[float, Seconds] = 120.0
    gap: Annotated[float, Seconds] = 60.0
    total: Annotated[float, Seconds] = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySettings:
    """Our own retries of a turn: further attempts after the first; a `retry-after` over the ceiling fails."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    attempts: Annotated[int, NotNegative] = 0
    ceiling_s: Annotated[float, NotNegative] = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSettings:
    """Sending stops before `money` (decimal string, the price table's currency) or `tokens` would be passed."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    money: str | None = None
    tokens: Annotated[int, Positive] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSettings:
    """The user's own price table, laid over the one that loadrig carries."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSettings:
    """Documents that change in mid-run, `after_s` seconds after the first stage began: the texts of the folder `path`
    take the place of documents, by id, or come to them; those in `remove` go. `questions`: a file of the keys that hold
    from then on, for questions whose answer changes."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    path: str
    after_s: Annotated[float, NotNegative]
    remove: tuple[str, ...] = ()
    questions: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlySettings:
    """For `loadrig nightly`: when a run is stopped; on how many earlier nights it looks back, and how many it needs to
    call one unusual; on which days of the week a night is expected, so that a missed one shows."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    deadline_s: Annotated[float, Seconds] | None = None
    nights: Annotated[int, Positive] = 14
    least: Annotated[int, annotated_types.Ge(2)] = 5
    expected: tuple[Weekday, ...] = get_args(Weekday)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRetriever:
    """A retriever that a plan gave a name: of what kind, and the kind's dataclass with its options."""

    name: str
    kind: str
    options: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """What a load must keep, by the `name` a plan gives it: the `q`-quantile of `measure` at most `limit` (ns); of the
    share of errors (`measure` "errors", no `q`), `limit` is a share of 1. `loadrig.objectives` reads and judges it."""

    name: str
    measure: str
    q: float | None
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The whole plan. `arms` are resolved objects: a list in an option has become one arm of each value."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT
    corpus: CorpusSettings
    questions: QuestionSettings
    model: Annotated[tuple[ModelSettings, ...], NotEmpty]
    name: str = "plan"
    seed: int = 7
    repetitions: Annotated[int, Positive] = 1
    probe: bool = True  # the longest static prompt, before anything is measured: does all of it reach the model?
    timezone: str = "UTC"
    load: LoadSettings = field(default_factory=LoadSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    retry: RetrySettings = field(default_factory=RetrySettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    prices: PriceSettings = field(default_factory=PriceSettings)
    allowed_failure_share: Annotated[float, Share] = 0.0
    objectives: tuple[Objective, ...] = ()
    update: UpdateSettings | None = None
    nightly: NightlySettings = field(default_factory=NightlySettings)
    retriever: tuple[NamedRetriever, ...] = ()
    arms: tuple[Arm, ...] = ()
