"""`python -m loadrig.simulator.null`: the null target from the command line, until standard input closes or SIGTERM."""

from __future__ import annotations

import argparse
import signal
import ssl
import sys
from pathlib import Path

from loadrig.simulator.null.target import Schedule, Target


def main() -> int:
    """Parses the arguments, prints `listening URL` and serves."""
    parser = argparse.ArgumentParser(prog="python -m loadrig.simulator.null", description="Known bytes at known times.")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--tokens", type=int, default=100, help="text deltas a reply")
    parser.add_argument("--first-ms", type=float, default=0.0, help="request to first token")
    parser.add_argument("--step-ms", type=float, default=0.0, help="token to token; 0 sends the reply in one write")
    parser.add_argument("--model", default="null", help="name of the model in the reply")
    parser.add_argument("--certificate", type=Path, help="serve TLS with this PEM file (certificate and key)")
    parser.add_argument("--exit-with-parent", action="store_true", help="stop when standard input closes")
    options = parser.parse_args()
    tokens, first_ns, step_ns = max(1, options.tokens), round(options.first_ms * 1e6), round(options.step_ms * 1e6)
    schedule = Schedule(tokens, first_ns, step_ns, options.model)
    tls = None
    if options.certificate is not None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(options.certificate)
    target = Target(schedule, port=options.port, tls=tls)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    sys.stdout.write(f"listening {target.url}\n")
    sys.stdout.flush()
    target.run(watched=options.exit_with_parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
