"""What arms wish and a dialect has no words for is said before a run; a setting that says nothing is wrong input."""

from __future__ import annotations

import pytest

from loadrig.arms.agentic import Agentic
from loadrig.arms.control import Control
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.execution.unmet import caching, unmet
from loadrig.words.errors import InputError
from loadrig.words.settings import ModelSettings
from plans import plan

ARMS = (Control(), Rag(citations="blocks"), Agentic(results="blocks"), FullContext(cache="5m"))


def test_each_wish_is_told_for_each_model_that_cannot() -> None:
    """A prefix to be kept and blocks to be cited: two sentences with the arms' names for the second dialect, none for
    the first, none where no arm wishes."""
    models = (ModelSettings(id="a"), ModelSettings(id="b", provider="openai"))
    kept, cited = unmet(plan(*ARMS, model=models))

    assert kept.startswith("full_context-cache5m: no request to b can say")
    assert cited.startswith("rag-bm25-k5-blocks, agentic-blocks: b is shown")
    assert unmet(plan(Control(), Rag(), model=models)) == ()


def test_a_cache_is_asked_for_where_a_request_can_say_so() -> None:
    """Of two models the one whose dialect has a word for it, and of four arms the one that keeps a prefix."""
    models = (ModelSettings(id="a"), ModelSettings(id="b", provider="openai"))

    assert caching(plan(*ARMS, model=models)) == {("full_context-cache5m", "a")}


def test_a_name_of_the_limit_that_says_nothing_is_wrong_input() -> None:
    """It would be a key that changes nothing."""
    spoken = ModelSettings(id="m", provider="openai", token_limit="max_tokens")
    with pytest.raises(InputError, match="token_limit of m says nothing to provider 'anthropic'"):
        unmet(plan(Control(), model=(ModelSettings(id="m", token_limit="max_tokens"),)))
    assert unmet(plan(Control(), model=(spoken,))) == ()
