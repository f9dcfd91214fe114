"""Arms whose prefix an endpoint keeps: what is kept, whose it is, and what is asked beforehand. Judged on bytes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from scripted_client import ScriptedClient, calls, says, tiny

from loadrig.arms.agentic import Agentic
from loadrig.arms.cached_core import NO_HIT, CachedCore
from loadrig.arms.caching import prefix
from loadrig.arms.full_context import FullContext
from loadrig.arms.instructions import DIRECT
from loadrig.config import read_plan
from loadrig.corpus.view import view_of
from loadrig.providers.anthropic.body import body
from loadrig.simulator.prefix import prefixes
from loadrig.simulator.request import parse_request
from loadrig.words.arm import Primes
from loadrig.words.corpus import Document, Question
from loadrig.words.errors import InputError
from loadrig.words.prompt import Ask, Part, Prompt, Said
from loadrig.words.settings import ModelSettings

QUESTION = Question("q1", "fact", "When are apples pruned?", "In February.")
KINDS = (FullContext(cache="5m"), FullContext(cache="1h", order="shuffle"), CachedCore(core_tokens=200))
LISTING = b'[{"type":"tool_use","id":"t1","name":"list_documents","input":{}}]'
each_kind = pytest.mark.parametrize("arm", KINDS, ids=lambda arm: arm.name)


def asked(arm: Any, text: str = "When are apples pruned?", caller: tuple[str, ...] = (), run: str = "run") -> Prompt:
    class Client(ScriptedClient):
        @property
        def run(self) -> str:
            return run

    client = Client([says("x")], caller=caller)
    asyncio.run(arm.answer(replace(QUESTION, question=text, caller=caller), client))
    return client.prompts[0]


def kept(prompt: Prompt) -> bytes:
    """What the bytes of the request ask to be kept, as an endpoint tells prefixes apart: by a hash of all before it."""
    (mark,) = prefixes(parse_request(b"".join(body(prompt, ModelSettings(id="m")))), 1.0).breakpoints
    return mark.points[0].digest


def parts(prompt: Prompt) -> tuple[Part, ...]:
    (message,) = prompt.messages
    assert isinstance(message, Ask)
    return tuple(part for part in message.parts if isinstance(part, Part))


def test_names_tell_what_is_kept() -> None:
    """Two arms of a plan can be told apart by their names; without a cache a name is what it was."""
    options: tuple[dict[str, Any], ...] = (
        {}, {"cache": "5m"}, {"cache": "1h", "cold": True}, {"cache": "5m", "prime": False}, {"query": "first"},
    )  # fmt: skip
    assert [FullContext(**one).name for one in options] == [
        "full_context", "full_context-cache5m", "full_context-cache1h-cold", "full_context-cache5m-unprimed",
        "full_context-queryfirst",
    ]  # fmt: skip
    assert CachedCore().name == "cached_core-bm25-k5-cache5m"
    assert (
        CachedCore(cache="off", core_tokens=300, unit="document").name == "cached_core-core300t-bm25-k5-docs-uncached"
    )
    assert CachedCore(core=("a*",)).name != CachedCore(core=("b*",)).name


def test_the_breakpoint_ends_the_documents_and_the_question_stands_behind_it() -> None:
    """C-01, A-42: static text first, marked where it ends; what varies follows without a mark. Off, nothing is marked
    and the instructions have nothing added."""
    documents, question = parts(asked(FullContext(cache="1h")))
    assert (documents.static, documents.cache, question.cache) == (True, "1h", None)
    assert question.text == "Question: When are apples pruned?"
    off = asked(FullContext())
    assert (prefix(off), off.system) == (None, DIRECT)
    assert parts(off)[0].text == documents.text


@each_kind
def test_the_prefix_is_the_same_bytes_for_every_question(arm: Any) -> None:
    """K11: two questions, one prefix; what varies stands behind it. Another lifetime's arm has a prefix of its own."""
    first, second = asked(arm), asked(arm, "Who keeps the ladder?")
    assert first != second
    assert kept(first) == kept(second)
    assert kept(asked(replace(arm, prime=False))) != kept(first)


@each_kind
def test_one_changed_byte_is_another_prefix(arm: Any) -> None:
    """A letter more in the documents: nothing of what was kept is found again."""
    prompt = asked(arm)
    first, *rest = parts(prompt)
    longer = Ask((msgspec.structs.replace(first, text=first.text + "x"), *rest))
    assert kept(msgspec.structs.replace(prompt, messages=(longer,))) != kept(prompt)


@each_kind
def test_two_callers_never_share_a_prefix(arm: Any) -> None:
    """C-13: all of them see every document of this corpus, and yet no two requests open alike; the order in which a
    caller's labels are written is nothing."""
    callers = ((), ("red",), ("blue",), ("blue", "red"))
    assert len({parts(asked(arm, caller=caller))[0].text for caller in callers}) == 1
    assert len({kept(asked(arm, caller=caller)) for caller in callers}) == 4
    assert kept(asked(arm, caller=("red", "blue"))) == kept(asked(arm, caller=("blue", "red")))
    assert "blue" not in asked(arm, caller=("blue",)).system


@each_kind
def test_a_cold_run_reads_nothing_of_an_earlier_one(arm: Any) -> None:
    """With `cold` two runs have two prefixes and all trials of one share theirs; without, two runs share one."""
    cold = replace(arm, cold=True)
    assert kept(asked(cold, run="a")) == kept(asked(cold, "Who keeps the ladder?", run="a"))
    assert kept(asked(cold, run="a")) != kept(asked(cold, run="b"))
    assert kept(asked(arm, run="a")) == kept(asked(arm, run="b"))


@each_kind
def test_what_is_primed_is_the_prefix_of_the_trials_and_one_token(arm: Any) -> None:
    """The call beforehand writes what the trials read, byte for byte, for its caller and its run; `prime` off: none."""
    assert isinstance(arm, Primes)
    cold = replace(arm, cold=True)
    (primer,) = cold.primes(view_of(tiny(), ("red",)), ("red",), "a")
    assert kept(primer) == kept(asked(cold, caller=("red",), run="a"))
    assert primer.max_tokens == 1
    assert replace(arm, prime=False).primes(view_of(tiny(), ()), (), "a") == ()
    assert FullContext().primes(view_of(tiny(), ()), (), "a") == ()


def test_each_turn_of_an_agent_finds_the_one_before() -> None:
    """A conversation only grows: what the second turn asks to be kept begins with what the first one did. Another
    caller's conversation over the same question shares nothing; off, no turn asks."""

    def turns(caller: tuple[str, ...], cache: Any = "5m") -> list[Any]:
        listing = msgspec.structs.replace(calls(("list_documents", "{}")), said=Said(LISTING))
        client = ScriptedClient([listing, says("x")], caller=caller)
        asyncio.run(Agentic(cache=cache).answer(replace(QUESTION, caller=caller), client))
        bodies = [b"".join(body(prompt, ModelSettings(id="m"))) for prompt in client.prompts]
        return [prefixes(parse_request(one), 1.0).breakpoints for one in bodies]

    ((first,), (second,)), ((other,), _) = turns(("red",)), turns(("blue",))
    assert first.points[0].digest in [point.digest for point in second.points[1:]]
    assert second.points[0].tokens > first.points[0].tokens
    assert first.points[0].digest != other.points[0].digest
    assert turns((), "off") == [(), ()]
    assert Agentic(cache="1h").name == "agentic-cache1h"


def test_the_question_may_stand_first_and_then_nothing_is_kept() -> None:
    """C-01: the order is a switch that changes nothing else; with a cache it is refused, as every prefix were new."""
    last, first = asked(FullContext()), asked(FullContext(query="first"))
    assert parts(first) == parts(last)[::-1]
    assert first.system == last.system
    with pytest.raises(ValueError, match="a cache wants query = 'last'"):
        FullContext(query="first", cache="5m")


@pytest.mark.parametrize("options", ['query = "first"\ncache = "5m"', "cold = true", 'cache = "2h"'])
def test_options_that_make_no_sense_are_refused_with_the_line(tmp_path: Path, options: str) -> None:
    """A question before a cached prefix, a cold run without a cache, a lifetime nobody offers: with the plan's line."""
    path = tmp_path / "plan.toml"
    head = '[corpus]\npath = "x"\n[questions]\npath = "y"\n[[model]]\nid = "m"\n'
    path.write_text(f'{head}[[arm]]\nkind = "full_context"\n{options}\n')
    with pytest.raises(InputError) as wrong:
        read_plan(path)
    assert wrong.value.line is not None
    assert wrong.value.line >= 7


def test_a_core_is_chosen_by_name_or_by_its_size() -> None:
    """Patterns take what they match, whatever its size: a ceiling beside them would be ignored, and is refused."""
    with pytest.raises(ValueError, match="core_tokens is for a core without patterns"):
        CachedCore(core=("about.md",), core_tokens=4_000)


def test_the_core_is_not_shown_again_and_both_are_credited() -> None:
    """C-11: five hits, none of them of the core, though the core is the best match; recall counts both."""
    arm = CachedCore(core=("trees/*",), k=2)
    client = ScriptedClient([says("x")])
    answer = asyncio.run(arm.answer(QUESTION, client))
    core, rest, _ = parts(client.prompts[0])
    assert 'id="trees/apples.md"' in core.text
    assert "trees/" not in rest.text
    assert [hit.doc for hit in answer.retrieved if hit.chunk is None] == ["trees/apples.md", "trees/plums.txt"]
    assert len([hit for hit in answer.retrieved if hit.chunk is not None]) == 2


def test_a_core_that_is_everything_leaves_nothing_to_find() -> None:
    """C-11: no passage is left, and the prompt says so."""
    _, rest, _ = parts(asked(CachedCore(core=("*",))))
    assert rest.text == NO_HIT


def test_the_ceiling_is_filled_by_its_rule() -> None:
    """Undated first, then from the newest on, each whole or not at all: of 5, 4, 4 and 3 tokens a ceiling of 12 holds
    the undated one, the newest, and the oldest for which there is room again."""
    dates = {"old": ("2030-01-01", 3), "mid": ("2030-02-02", 4), "new": ("2030-03-03", 4), "none": (None, 5)}
    corpus = replace(
        tiny(), chunks=(), documents=tuple(Document(name, name, of, date=date) for name, (date, of) in dates.items())
    )
    (primer,) = CachedCore(core_tokens=12).primes(view_of(corpus, ()), (), "r")
    (block,) = parts(primer)
    assert [name for name in dates if f'id="{name}"' in block.text] == ["old", "new", "none"]


def test_a_core_without_documents_keeps_nothing() -> None:
    """A ceiling of nothing: no block, no breakpoint, nothing to prime; what is left is plain retrieval."""
    arm = CachedCore(core_tokens=0)
    assert prefix(asked(arm)) is None
    assert arm.primes(view_of(tiny(), ()), (), "r") == ()
