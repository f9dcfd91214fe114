"""From a plan to a finished run's folder: what `run`, `sweep` and `nightly` share."""
