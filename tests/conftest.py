"""Makes the modules beside it (`records.py`) importable from every test folder."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest
from browser import chromium  # noqa: F401 - a fixture
from hypothesis import HealthCheck, settings

# How long an example takes is no property of the code: a busy machine must not turn a test red.
settings.register_profile("loadrig", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loadrig")


@pytest.fixture(params=["stream_events", "chat_events"], ids=["anthropic", "openai"])
def say(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The words of a dialect's streams, one dialect after the other; askers made meanwhile speak it."""
    words = importlib.import_module(request.param)
    with importlib.import_module("asking").speaking(words.PROVIDER):
        yield words
