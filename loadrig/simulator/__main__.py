"""`python -m loadrig.simulator`: the simulated provider from the command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from loadrig.simulator import ScenarioError, load_scenario, serve


def main() -> int:
    """Parse the arguments and serve; exit code 2 for a bad scenario or an address that cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m loadrig.simulator", description="A simulated provider.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--scenario", default="quick", help="name of a shipped scenario, or a TOML file")
    parser.add_argument("--truth-log", type=Path, default=None, help="file for one JSON line a request")
    parser.add_argument("--body-log", type=Path, default=None, help="file for every request body as it came")
    parser.add_argument("--exit-with-parent", action="store_true", help="stop when standard input closes")
    options = parser.parse_args()
    try:
        scenario = load_scenario(options.scenario)
        logs = {"body_log_path": options.body_log, "exit_with_parent": options.exit_with_parent}
        serve(options.host, options.port, scenario, options.truth_log, **logs)
    except (ScenarioError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
