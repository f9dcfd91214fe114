"""A browser for tests of pages: without a network, and with all that it asks for and complains of written down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


@dataclass
class Looked:
    """An open page, what it asked for beyond itself, and what went wrong in it: errors, and refusals on the console."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """One browser for a module's tests; skips where there is none. No longer than that: while it is open an event loop
    runs in this thread, beside which no test can have one of its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def looking(browser: Any, path: Path, **given: Any) -> Iterator[Looked]:
    """The file in a page of its own, offline; `given`: of the context, such as a viewport or `color_scheme`."""
    context = browser.new_context(**given)
    context.set_offline(True)
    looked = Looked(context.new_page())
    url = path.resolve().as_uri()
    context.on("request", lambda request: request.url != url and looked.requests.append(request.url))
    looked.page.on("pageerror", lambda error: looked.errors.append(str(error)))
    looked.page.on("console", lambda told: told.type in ("error", "warning") and looked.errors.append(told.text))
    looked.page.on("dialog", lambda dialog: (looked.errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    try:
        looked.page.goto(url)
        yield looked
    finally:
        context.close()
