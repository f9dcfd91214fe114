"""Dashboards drawn by Grafana's own React components in a headless Chromium, from a real Prometheus.

npm's packages are installed once into a cache outside of the repository (`LOADRIG_CACHE`, else XDG's), named by the
hash of package.json, and the page is built there once for each state of app.jsx. What cannot be had raises
`Unavailable` with the reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
from playwright.sync_api import Page

HERE = Path(__file__).parent
CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
WIDTH = 24 * 58 + 16
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8", ".json": "application/json"}
LOADERS = [f"--loader:.{kind}=dataurl" for kind in ("svg", "woff2", "woff", "ttf", "png", "gif")]
INSTALL = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"]


class Unavailable(Exception):  # noqa: N818 - nothing is wrong: it is not there
    """Something that the machine does not have; the message is the reason."""


@dataclass(frozen=True)
class Seen:
    """A panel as the page shows it. `values`: of each series its name and last value as Grafana writes it; of a table
    one such list a row. `text`: all that is written in it."""

    title: str
    kind: str
    state: str
    values: list[Any]
    text: str
    canvases: int


def chromium() -> str:
    """The browser's path."""
    found = next((path for path in CHROMIUM if Path(path).exists()), None)
    if found is None:
        raise Unavailable("no Chromium here (Debian: apt-get install chromium)")
    return found


def bundle() -> Path:
    """The folder of the built page: app.js, app.css, index.html. The first call installs, which takes a minute."""
    package, page = (HERE / "package.json").read_bytes(), (HERE / "app.jsx").read_bytes()
    index = (HERE / "index.html").read_bytes()
    home = _cache() / f"grafana-{_hash(package)}"
    site = home / f"site-{_hash(page + index)}"
    if not site.is_dir():
        if not home.is_dir():
            _installed(home)
        _built(home, site)
    return site


def _cache() -> Path:
    given = os.environ.get("LOADRIG_CACHE")
    folder = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loadrig"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _installed(home: Path) -> None:
    """Installs beside the final place and moves it there at once, so that no half of it is ever taken for all."""
    if shutil.which("npm") is None:
        raise Unavailable("no npm here (Debian: apt-get install nodejs npm)")
    with tempfile.TemporaryDirectory(dir=home.parent) as made:
        folder = Path(made) / "made"
        folder.mkdir()
        shutil.copy(HERE / "package.json", folder)
        try:
            done = subprocess.run(INSTALL, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        except subprocess.TimeoutExpired as error:
            raise Unavailable("npm install did not end within ten minutes") from error
        if done.returncode != 0:
            raise Unavailable(f"npm install failed: {done.stderr.strip()[-300:]}")
        _moved(folder, home)


def _built(home: Path, site: Path) -> None:
    with tempfile.TemporaryDirectory(dir=home) as made:
        folder = Path(made)
        shutil.copy(HERE / "app.jsx", folder)
        command = [
            str(home / "node_modules/.bin/esbuild"), "app.jsx", "--bundle", "--outfile=site/app.js", "--format=iife",
            "--jsx=automatic", "--minify", '--define:process.env.NODE_ENV="production"', "--log-level=error", *LOADERS,
        ]  # fmt: skip
        subprocess.run(command, cwd=folder, check=True, timeout=300)
        (folder / "site/app.css").touch()
        shutil.copy(HERE / "index.html", folder / "site")
        _moved(folder / "site", site)


def _moved(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError:
        if not target.is_dir():  # else another one was quicker, with the same
            raise


class _Handler(BaseHTTPRequestHandler):
    """The page, the board, and Prometheus' API under one address."""

    server: _Server

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/api/"):
            reply = self.server.client.get(self.server.prometheus + self.path)
            self._answer(reply.status_code, reply.content, ".json")
        elif path == "/board.json":
            self._answer(200, self.server.board, ".json")
        else:
            file = self.server.site / path.removeprefix("/")
            known = file.parent == self.server.site and file.is_file()
            self._answer(200 if known else 404, file.read_bytes() if known else b"", file.suffix)

    def _answer(self, status: int, body: bytes, suffix: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", TYPES.get(suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, site: Path, board: bytes, prometheus: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.site, self.board, self.prometheus = site, board, prometheus
        self.client = httpx.Client(timeout=60)


@contextmanager
def served(board: bytes, prometheus: str) -> Iterator[str]:
    """The address of a page that draws this dashboard from that Prometheus."""
    server = _Server(bundle(), board, prometheus)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/index.html"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        server.client.close()


def look(page: Page, address: str, *, start: float, end: float, scrape_s: float, **more: str) -> list[Seen]:
    """Opens the page for a time range (Unix seconds) and waits until all is drawn; what each panel shows. `more`:
    further parameters, `mark` or `var_run`."""
    params = {"from": start, "to": end, "scrape": scrape_s, **{name.replace("_", "-"): more[name] for name in more}}
    page.goto(f"{address}?{urlencode(params)}")
    page.wait_for_selector("body[data-ready]", timeout=60_000)
    state = page.get_attribute("body", "data-ready")
    assert state == "1", page.inner_text("body")
    read = """(all) => all.map((one) => [one.dataset.panel, one.dataset.kind, one.dataset.state, one.dataset.values,
        one.innerText, one.querySelectorAll("canvas").length])"""
    rows = page.eval_on_selector_all("[data-panel]", read)
    return [
        Seen(title, kind, at, json.loads(values), text, canvases) for title, kind, at, values, text, canvases in rows
    ]
