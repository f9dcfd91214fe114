"""The documentation as a site: every page in it, no broken link, and nothing of it from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")

ROOT = Path(__file__).resolve().parents[1]
CONFIG = (ROOT / "mkdocs.yml").read_text()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once, strictly: a warning of mkdocs is an error (which `--quiet` would hide from it, too)."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_in_the_navigation_once() -> None:
    """A page that nobody is led to is not read."""
    listed = re.findall(r"^ +- .*?: ([\w-]+\.md)$", CONFIG, re.MULTILINE)
    assert sorted(listed) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))


def test_the_site_is_built_without_a_warning_and_has_every_page(site: Path) -> None:
    """Links and their headings are followed while it is built."""
    made = {page.stem for page in site.glob("*.html")} - {"404"}
    assert made == {page.stem for page in (ROOT / "docs").glob("*.md")}


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    """Scripts, styles, fonts and pictures lie beside it: it can be read without a network."""
    loaded = re.compile(
        r"""(?:<(?:script|img|iframe)[^>]+src|<link[^>]+rel="?(?:stylesheet|preconnect|icon)"?[^>]+href)="?([^"\s>]+)"""
    )
    foreign = {
        (page.name, found)
        for page in site.glob("*.html")
        for found in loaded.findall(page.read_text())
        if re.match(r"(https?:)?//", found)
    }
    assert foreign == set()
    styles = "".join(style.read_text() for style in site.rglob("*.css"))
    assert not re.search(r"url\([\"']?(https?:)?//", styles)
