"""A provider that is not one: Messages API and chat completions, real sockets, real timing, answers out of the prompt.

It receives HTTP requests and a scenario and nothing else - no corpus, no questions. It imports nothing of loadrig,
so that it can be a witness: what it writes in its truth log is checked against what the client measured.
"""

from __future__ import annotations

from pathlib import Path

from loadrig.simulator.scenario import Scenario, ScenarioError, load_scenario

__all__ = ["Scenario", "ScenarioError", "load_scenario", "serve"]


def serve(
    host: str,
    port: int,
    scenario: Scenario,
    truth_log_path: Path | None,
    *,
    body_log_path: Path | None = None,
    exit_with_parent: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT (or, with `exit_with_parent`, until standard input closes).

    Port 0 takes any free one. Prints one line, `listening http://HOST:PORT`, when requests are accepted.
    Raises OSError when the address is taken or a log cannot be opened.
    """
    from loadrig.simulator.server import run  # noqa: PLC0415 - the reader's process must not load the HTTP server

    run(host, port, scenario, truth_log_path, body_log_path=body_log_path, exit_with_parent=exit_with_parent)
