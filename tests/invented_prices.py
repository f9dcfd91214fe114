"""A price table for tests: one model, `m`, at prices that are easily reckoned with."""

from __future__ import annotations

TABLE = """[[price]]
model = "m"
effective_from = 2020-01-01
source = "invented"
seen = 2026-11-01
currency = "USD"
input = "3.00"
output = "15.00"
cache_write_5m = "3.75"
cache_write_1h = "6.00"
cache_read = "0.30"
"""
