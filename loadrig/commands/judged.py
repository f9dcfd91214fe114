"""The exit code of a finished run, decided from its summary."""

from __future__ import annotations

from loadrig.analysis.summary import Summary

DONE, FAILED, INTERRUPTED = 0, 1, 3


def exit_code(summary: Summary, *, allowed_failure_share: float, interrupted: bool) -> int:
    """3: stopped by a signal. 1: more trials failed or were not run than the plan allows (share of the planned)."""
    if interrupted:
        return INTERRUPTED
    planned = sum(phase.planned for phase in summary.counts)
    missing = sum(phase.failed + phase.not_run for phase in summary.counts)
    return FAILED if missing > allowed_failure_share * planned else DONE
