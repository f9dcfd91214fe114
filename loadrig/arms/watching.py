"""Watches one agentic trial between its turns: is it going round in circles, are its tokens spent? Pure.

Rules. Two calls are the same when their names are and their arguments are equal as JSON. A call that has been run
`same_call` times is not run again. A turn is idle when no result of it showed a document, or a passage of one,
for the first time; what a search showed passages of, a read may still show whole. Both are signs of a loop. At the
first one the model is told, in place of the calls' results, and goes on; at the next one the trial ends. Told of
idleness, it has one turn to find something new.

A budget leaves room for an answer: when prompt and output tokens of all turns so far, and of two more like the last,
one for its calls and one to answer in, reach the budget, the calls are not run. The model is told to answer, and gets
one turn to do so. So a trial passes its budget by no more than what its conversation grew by in its last turns. What
the provider does not report cannot be counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from loadrig.words.arm import ToolOutput, ToolRunner
from loadrig.words.prompt import Reply, ToolUse
from loadrig.words.record import Withheld

ANSWER = "Answer now from what you have read, or say that it does not tell."
SAME = f"Not run: you have made this very call before, and it would show the same. Try something else. {ANSWER}"
IDLE = f"Not run: your last turns showed nothing that you had not seen. {ANSWER}"
SPENT = f"Not run: the token budget of this question is used up. {ANSWER}"


@dataclass(frozen=True, slots=True)
class Limits:
    """`same_call`: how often the same call is run; `idle_turns`: turns in a row that show nothing new;
    `token_budget`: prompt and output tokens of the trial, None for any number."""

    same_call: int
    idle_turns: int
    token_budget: int | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`ended`: why the trial ends here, if it does; else the calls, by id, that are answered without being run."""

    ended: Withheld | None = None
    answers: Mapping[str, ToolOutput] = field(default_factory=dict)


@dataclass(slots=True)
class Watch:
    """One trial's. `look` at a reply that calls tools, then `saw` what its calls gave."""

    limits: Limits
    tokens: int = 0
    _made: Counter[tuple[str, bytes]] = field(default_factory=Counter)
    _shown: set[tuple[str, str]] = field(default_factory=set)
    _told: set[Withheld] = field(default_factory=set)
    _idle: int = 0

    def look(self, reply: Reply) -> Verdict:
        """What to do about the calls of the last turn."""
        last = reply.tokens or 0
        self.tokens += last
        budget = self.limits.token_budget
        if budget is not None and self.tokens + 2 * last >= budget:
            return self._told_or_ended("budget", SPENT, reply.tool_uses)
        again = self._run_too_often(reply.tool_uses)
        if self._idle >= self.limits.idle_turns:
            self._idle = self.limits.idle_turns - 1
            return self._told_or_ended("loop", IDLE, reply.tool_uses)
        return self._told_or_ended("loop", SAME, again) if again else Verdict()

    def saw(self, uses: Sequence[ToolUse], outputs: Sequence[ToolOutput]) -> None:
        """Takes note of what was shown; a turn of which nothing was run is neither idle nor not."""
        run = [(use, output) for use, output in zip(uses, outputs, strict=True) if output.withheld is None]
        shown = {(use.name, piece) for use, output in run for piece in output.passages or output.docs}
        if run:
            self._idle = 0 if shown - self._shown else self._idle + 1
        self._shown |= shown

    def _told_or_ended(self, why: Withheld, what: str, uses: Sequence[ToolUse]) -> Verdict:
        if why in self._told:
            return Verdict(ended=why)
        self._told.add(why)
        return Verdict(answers={use.id: ToolOutput(what, ok=False, withheld=why) for use in uses})

    def _run_too_often(self, uses: Sequence[ToolUse]) -> list[ToolUse]:
        found = []
        for use in uses:
            call = (use.name, _canonical(use.arguments))
            self._made[call] += 1
            if self._made[call] > self.limits.same_call:
                found.append(use)
        return found


def withholding(runner: ToolRunner, answers: Mapping[str, ToolOutput]) -> ToolRunner:
    """Runs what is not answered already."""

    async def run(use: ToolUse) -> ToolOutput:
        return answers[use.id] if use.id in answers else await runner(use)

    return run


def _canonical(arguments: str) -> bytes:
    """The same bytes for the same arguments; what is no JSON stands for itself."""
    try:
        return msgspec.json.encode(msgspec.json.decode(arguments), order="sorted")
    except (msgspec.DecodeError, RecursionError):
        return arguments.encode(errors="surrogatepass")
