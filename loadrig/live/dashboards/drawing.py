"""Turns a panel of ours into one of Grafana's."""

from __future__ import annotations

from string import ascii_uppercase
from typing import TypeVar

from grafana_foundation_sdk.builders import common, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models import common as looks
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from loadrig.live.dashboards.panels import Panel, Query, Style

SOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
NAME_WIDTH, DATE_WIDTH, LEAST_WIDTH = 220, 180, 84  # of a table's first column, and of others, in pixels
POINTS = 5_000  # of "so far" figures: so fine that a run's last totals are seen in a view of a whole day, too
STYLES: dict[Style, dict[str, object]] = {
    "line": {},
    "thin": {"custom.lineWidth": 1, "custom.lineStyle": {"fill": "solid"}},
    "dotted": {"custom.lineWidth": 1, "custom.lineStyle": {"fill": "dash", "dash": [4, 4]}},
}

Drawn = TypeVar("Drawn", stat.Panel, table.Panel, timeseries.Panel)


def drawn(panel: Panel, number: int) -> stat.Panel | table.Panel | timeseries.Panel:
    """The builder of a panel with the id `number`."""
    if panel.kind == "stat":
        return _number(panel, number)
    if panel.kind == "table":
        return _table(panel, number)
    return _chart(panel, number)


def _filled(empty: Drawn, panel: Panel, number: int) -> Drawn:
    """Puts a panel's words and queries into a builder."""
    empty.id(number).title(panel.title).description(panel.about).unit(panel.unit).no_value(panel.empty)
    empty.datasource(SOURCE).height(panel.height).span(panel.width)
    if panel.decimals is not None:
        empty.decimals(panel.decimals)
    for letter, query in zip(ascii_uppercase, panel.queries, strict=False):
        empty.with_target(_target(query, letter, panel))
    return empty


def _target(query: Query, letter: str, panel: Panel) -> Dataquery:
    target = Dataquery().datasource(SOURCE).expr(query.expr).legend_format(query.legend).ref_id(letter)
    if panel.kind == "table":
        return target.instant().format(PromQueryFormat.TABLE)
    return target.instant() if panel.kind == "stat" else target.range()


def _number(panel: Panel, number: int) -> stat.Panel:
    shown = _filled(stat.Panel(), panel, number).text_mode(looks.BigValueTextMode.VALUE_AND_NAME)
    shown.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    shown.graph_mode(looks.BigValueGraphMode.NONE).max_data_points(POINTS)
    colors = [(None, "green" if panel.limits else "text"), *zip(panel.limits, _warning(panel), strict=True)]
    steps = [models.Threshold(value, color) for value, color in colors]
    shown.thresholds(builders.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(steps))
    if panel.words:
        shown.mappings(
            [models.ValueMap({value: models.ValueMappingResult(text, color) for value, text, color in panel.words})]
        )
    return shown


def _warning(panel: Panel) -> list[str]:
    return ["red"] if len(panel.limits) == 1 else ["orange", "red"][: len(panel.limits)]


def _table(panel: Panel, number: int) -> table.Panel:
    label, title = panel.rows
    values = {f"Value #{letter}": query for letter, query in zip(ascii_uppercase, panel.queries, strict=False)}
    named = {label: title, **{name: query.legend for name, query in values.items()}}
    organized = {
        "excludeByName": {"Time": True},
        "indexByName": {name: place for place, name in enumerate(named)},
        "renameByName": named,
    }
    shown = _filled(table.Panel(), panel, number).show_header(True).cell_height(looks.TableCellHeight.SM)
    shown.max_data_points(POINTS)
    shown.transformations(
        [
            models.DataTransformerConfig("merge", options={}),
            models.DataTransformerConfig("organize", options=organized),
        ]
    )
    key = panel.sorted_by.removeprefix("-")
    shown.sort_by([common.TableSortByFieldState().display_name(key).desc(key != panel.sorted_by)])
    shown.override_by_name(title, [models.DynamicConfigValue("custom.width", NAME_WIDTH)])
    for query in panel.queries:
        unit = query.unit or panel.unit
        width = DATE_WIDTH if unit.startswith("dateTime") else LEAST_WIDTH
        changes = {"unit": unit, "custom.minWidth": width}
        shown.override_by_name(query.legend, [models.DynamicConfigValue(*change) for change in changes.items()])
    return shown


def _chart(panel: Panel, number: int) -> timeseries.Panel:
    shown = _filled(timeseries.Panel(), panel, number).legend(_legend()).min(0).line_width(2)
    shown.tooltip(common.VizTooltipOptions().mode(looks.TooltipDisplayMode.MULTI).sort(looks.SortOrder.DESCENDING))
    shown.show_points(looks.VisibilityMode.AUTO)  # a point without neighbours has no line
    if panel.most is not None:
        shown.max(panel.most)
    if panel.step is not None:
        shown.interval(panel.step)
    if panel.kind == "bars":
        shown.draw_style(looks.GraphDrawStyle.BARS).fill_opacity(80).line_width(0)
        shown.stacking(common.StackingConfig().mode(looks.StackingMode.NORMAL))
    elif panel.step is not None:
        shown.show_points(looks.VisibilityMode.ALWAYS)
    for letter, query in zip(ascii_uppercase, panel.queries, strict=False):
        if changes := STYLES[query.style]:
            shown.override_by_query(letter, [models.DynamicConfigValue(*change) for change in changes.items()])
    for name, color in panel.colors:
        fixed = {"mode": "fixed", "fixedColor": color}
        shown.override_by_name(name, [models.DynamicConfigValue("color", fixed)])
    return shown


def _legend() -> common.VizLegendOptions:
    legend = common.VizLegendOptions().display_mode(looks.LegendDisplayMode.LIST)
    return legend.placement(looks.LegendPlacement.BOTTOM).show_legend(True)
