"""What `loadrig nightly` says of a plan's runs over time. docs/nightly.md defines every figure.

From the bottom up: `digest` (a run in sums, all that is ever needed of it), `kept` (digests of all runs of a plan, from
a file that can be deleted at any time), `sums`, `standing` (nights, and what became of them), `change` (from one night
to another), `anomalies`, `weeks`, `usage_report`, and `whole`.
"""
