"""The plan of a run that tells what advice cannot: the control, and all that is recommended or worth a trial."""

from __future__ import annotations

import json
from collections.abc import Iterator

from loadrig.advice.whole import Advice, Asked
from loadrig.context import RAG_TOP_K

CACHED = ("full_context", "cached_core")


def plan_of(asked: Asked, advice: Advice) -> str:
    """The text of a plan file, to be screened first: `loadrig run PLAN --screen`."""
    return "\n".join(_lines(asked, advice)) + "\n"


def _lines(asked: Asked, advice: Advice) -> Iterator[str]:
    yield "# Written by `loadrig advise`: what it recommends and what is worth a trial, beside the control."
    yield "# Screen it first: loadrig run PLAN --screen"
    yield 'name = "advised"'
    yield from ("", "[corpus]", f"path = {_quoted(asked.corpus.path)}")
    if asked.corpus.slice is not None:
        yield f"slice = {_quoted(asked.corpus.slice)}"
    yield from ("", "[questions]", f"path = {_quoted(asked.questions.path)}")
    yield from ("", "[[model]]", f"id = {_quoted(asked.model)}")
    yield '# base_url = "simulator"  # to try the plan out; without it, the provider\'s own endpoint'
    kinds = [one.architecture for one in advice.record if one.verdict != "rejected"]
    for kind in ("control", *kinds):
        yield from ("", "[[arm]]", f"kind = {_quoted(kind)}", *_options(kind, uniform=advice.situation.uniform))
    if asked.prices is not None:
        yield from ("", "[prices]", f"path = {_quoted(asked.prices)}")


def _options(kind: str, *, uniform: bool) -> Iterator[str]:
    if kind == "rag":
        yield f"k = [{RAG_TOP_K}, {2 * RAG_TOP_K}]  # is there a category whose recall is below 1 at both?"
    if kind in CACHED:
        yield 'cache = "5m"'
    if kind == "summaries" and not uniform:
        yield "mixed_rights = true  # each caller has summaries of its own"


def _quoted(text: str) -> str:
    """As TOML writes a string: its escapes are those of JSON."""
    return json.dumps(text)
