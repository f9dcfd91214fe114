"""Grafana dashboards and Prometheus rules over the metrics of `metrics.py`, and what sets them up elsewhere.

`run_board.py` and `nights_board.py` are tables of panels, `queries.py` their PromQL, `drawing.py` and `board.py` turn
them into Grafana's JSON (by the `dashboards` extra); `python -m loadrig.live.dashboards.board` writes it to `shipped/`,
from where `setup.py` takes it, without the extra, with the choices of whoever sets it up.
"""
