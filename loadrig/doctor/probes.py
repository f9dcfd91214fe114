"""What the doctor asks: prompts as arms would write them, small, and bodies that a dialect makes of them. Pure.

Rules: one short text about birds, which a model must read to answer; nothing of anybody's corpus. What no arm ever
sends (a forced call) is laid over the dialect's own body, by provider. A salt makes a prefix that is to be cached new.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from loadrig.execution.sampling import tokens_of
from loadrig.providers import Dialect
from loadrig.words.prompt import Ask, Part, Prompt, Tool
from loadrig.words.settings import ModelSettings

BIRDS = (
    "heron", "coot", "grebe", "wren", "robin", "dipper", "jay", "rook", "linnet", "teal", "smew", "curlew", "crane",
    "stork", "kite", "osprey", "merlin", "hobby", "swift", "martin",
)  # fmt: skip
LONG_TOKENS = 300  # of output: enough to see it come, not too much for a slow server
ROOM_TOKENS = 1_000  # where that was not enough: a model may think before it answers
FEW_TOKENS = 5
LEAST_PREFIX_TOKENS = 4_096  # where the model's own is not known
PREFIX_MARGIN, LEAST_SENT_TOKENS = 1.25, 1_600  # over the local count; servers have leasts of their own
NO_SUCH_MODEL = "loadrig-doctor-no-such-model"
FORM = (
    '{"type":"object","properties":{"bird":{"type":"string"},"count":{"type":"integer"}},'
    '"required":["bird","count"],"additionalProperties":false}'
)
SEARCH = Tool(
    "search",
    "Searches the notes of the pond for words and gives back what it finds.",
    '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}',
)
FORCED: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"anthropic": {"tool_choice": {"type": "tool", "name": "search"}}, "openai": {"tool_choice": "required"}}
)
_SYSTEM = "You answer questions from the documents that you are given."
_NOTES = "\n".join(
    f"In March {12 + number} pairs of the {bird} were seen at the pond." for number, bird in enumerate(BIRDS)
)
_DOCUMENT = f'<document id="pond-notes" title="Notes of the pond">\n{_NOTES}\n</document>'


def listing(max_tokens: int) -> Prompt:
    """A reply of a few hundred tokens, if it may be that long."""
    question = "Question: List every bird that was seen at the pond in March, with the number of its pairs."
    return _about(_DOCUMENT, question, max_tokens)


def calling() -> Prompt:
    """One that is best answered by a call of the only tool."""
    question = "Question: How many pairs of the heron were seen at the pond? Call the search tool first."
    return Prompt("You look things up with your tools.", (Ask((Part(question),)),), (SEARCH,), max_tokens=LONG_TOKENS)


def formed() -> Prompt:
    """One whose reply must be JSON of a given schema."""
    question = "Question: Which bird was seen most often in March, and how many pairs?"
    prompt = _about(_DOCUMENT, question, LONG_TOKENS)
    return Prompt(prompt.system, prompt.messages, form=FORM, max_tokens=LONG_TOKENS)


def cacheable(salt: str, least_tokens: int) -> Prompt:
    """A prefix that has at least so many tokens and was never sent before, to be kept for five minutes."""
    line = "In March {0} pairs of the {1} were seen at post {0} of the pond."
    lines = [f"Notes {salt}."]
    a_line = max(1, tokens_of(Prompt("", (Ask((Part(line.format(100, "heron")),)),))))
    wanted = int(max(LEAST_SENT_TOKENS, least_tokens * PREFIX_MARGIN) / a_line) + 1
    lines += [line.format(number, BIRDS[number % len(BIRDS)]) for number in range(wanted)]
    document = '<document id="pond-posts">\n' + "\n".join(lines) + "\n</document>"
    parts = (Part(document, static=True, cache="5m"), Part("Question: Which bird was seen at post 7?"))
    return Prompt(_SYSTEM, (Ask(parts),), max_tokens=FEW_TOKENS)


def body_of(prompt: Prompt, dialect: Dialect, model: ModelSettings, over: Mapping[str, Any] | None = None) -> bytes:
    """The bytes that a measured turn would send; `over`: keys laid over them."""
    body = b"".join(dialect.body(prompt, model))
    if not over:
        return body
    return msgspec.json.encode({**msgspec.json.decode(body, type=dict[str, msgspec.Raw]), **over})


def _about(document: str, question: str, max_tokens: int) -> Prompt:
    return Prompt(_SYSTEM, (Ask((Part(document), Part(question))),), max_tokens=max_tokens)
