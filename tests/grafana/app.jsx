// Draws a dashboard file with the components that Grafana itself draws with, from a Prometheus behind this page's own
// address (/api). What Grafana's server and its plugins do is done here in small: variables, intervals, queries, the
// options of panels. A panel of a kind that has no component here is left out, and says so.
//
//   ?from=SECONDS&to=SECONDS&scrape=SECONDS&var-run=NAME&mark=TEXT&theme=light
//
// Each panel carries data-panel (title), data-state (ok, nodata, error, crash, "not drawn here"), data-kind and
// data-values, the last value of each of its series by name, as Grafana writes it. body[data-ready] says that all is
// drawn.
import React from "react";
import { createRoot } from "react-dom/client";
import {
  FieldType, ThemeContext, createTheme, dateTime, getDisplayProcessor, rangeUtil, standardTransformers,
  standardTransformersRegistry, toDataFrame, transformDataFrame,
} from "@grafana/data";
import { BigValue, TimeSeries } from "@grafana/ui";
import { TableNG } from "@grafana/ui/unstable"; // what Grafana's own table panel draws with

const asked = new URLSearchParams(location.search);
const theme = createTheme({ colors: { mode: asked.get("theme") === "light" ? "light" : "dark" } });
const [from, to, scrape] = ["from", "to", "scrape"].map((name) => Number(asked.get(name)));
const range = { from: dateTime(from * 1000), to: dateTime(to * 1000), raw: { from: "", to: "" } };
const COLUMN = 58, LINE = 36, GAP = 8;

standardTransformersRegistry.setInit(() =>
  [standardTransformers.mergeTransformer, standardTransformers.organizeFieldsTransformer].map((transformation) => ({
    id: transformation.id, name: transformation.name, transformation: async () => transformation,
  })));

async function api(path, params) {
  const reply = await fetch(`/api/v1/${path}?${new URLSearchParams(params)}`);
  const body = await reply.json();
  if (body.status !== "success") throw new Error(body.error);
  return body.data;
}

// ---- variables

const seconds = (text) => rangeUtil.intervalToSeconds(text);
const escaped = (value) => value.replace(/[\\^$*+?.()|[\]{}]/g, "\\\\$&");

function written(variable, chosen) {
  if (chosen.length === 1 && chosen[0] === "$__all") return variable.allValue;
  if (!variable.multi) return chosen[0];
  return chosen.length === 1 ? escaped(chosen[0]) : `(${chosen.map(escaped).join("|")})`;
}

const span = { $__range: `${Math.round(to - from)}s`, $__range_s: String(Math.round(to - from)) };

function filled(text, values) {
  return text.replace(/\$(\w+)|\${(\w+)}/g, (whole, a, b) => values[a ?? b] ?? span[whole] ?? whole);
}

async function offered(variable) {
  const query = filled(variable.query, {});
  const labels = /^label_values\((.+),\s*(\w+)\)$/.exec(query);
  if (labels) return api(`label/${labels[2]}/values`, { "match[]": labels[1], start: from, end: to });
  const found = await api("query", { query: /^query_result\((.*)\)$/.exec(query)[1], time: to });
  const pattern = new RegExp(variable.regex.slice(1, -1));
  return found.result.map(({ metric }) => {
    const text = `{${Object.entries(metric).map(([name, value]) => `${name}="${value}"`).join(",")}}`;
    return pattern.exec(text)[1];
  });
}

async function variables(board) {
  const found = [];
  for (const variable of board.templating.list.filter((one) => one.type !== "datasource")) {
    const options = variable.type === "interval" ? variable.query.split(",") : await offered(variable);
    const wished = asked.getAll(`var-${variable.name}`);
    const first = variable.type === "interval" || variable.includeAll ? [variable.current.value].flat() : options.slice(0, 1);
    const chosen = wished.length ? wished : first;
    found.push({ ...variable, options, chosen, value: written(variable, chosen) ?? "" });
  }
  return found;
}

// ---- queries

function intervals(panel, width, values) {
  const least = Math.max(scrape, panel.interval ? seconds(filled(panel.interval, values)) : 0);
  const { intervalMs } = rangeUtil.calculateInterval(range, panel.maxDataPoints || width, `${least}s`);
  const step = Math.max(intervalMs / 1000, scrape);
  return { step, __interval: `${step}s`, __rate_interval: `${Math.max(step + scrape, 4 * scrape)}s` };
}

const number = (text) => Number(text.replace("Inf", "Infinity"));
const named = (legend, labels) => legend.replace(/{{\s*(\w+)\s*}}/g, (_, name) => labels[name] ?? "");

function series(target, result) {
  return result.map(({ metric, values, value }) => {
    const points = values ?? [value];
    const name = named(target.legendFormat, metric);
    return toDataFrame({ refId: target.refId, name, fields: [
      { name: "Time", type: FieldType.time, config: {}, values: points.map(([at]) => at * 1000) },
      { name: "Value", type: FieldType.number, labels: metric, config: { displayNameFromDS: name },
        values: points.map(([, text]) => number(text)) },
    ] });
  });
}

function tabled(target, result) {
  const labels = [...new Set(result.flatMap(({ metric }) => Object.keys(metric)))].filter((name) => name !== "__name__");
  return result.length === 0 ? [] : [toDataFrame({ refId: target.refId, fields: [
    { name: "Time", type: FieldType.time, config: {}, values: result.map(({ value }) => value[0] * 1000) },
    ...labels.map((name) => ({
      name, type: FieldType.string, config: {}, values: result.map(({ metric }) => metric[name] ?? ""),
    })),
    { name: `Value #${target.refId}`, type: FieldType.number, config: {}, values: result.map(({ value }) => number(value[1])) },
  ] })];
}

async function answered(target, timing, values) {
  const query = filled(target.expr, { ...values, ...timing });
  if (target.instant) {
    const { result } = await api("query", { query, time: to });
    return (target.format === "table" ? tabled : series)(target, result);
  }
  const aligned = (at) => Math.floor(at / timing.step) * timing.step;
  const { result } = await api("query_range", { query, start: aligned(from), end: aligned(to), step: timing.step });
  return series(target, result);
}

async function shaped(panel, frames) {
  if (!panel.transformations?.length || frames.length === 0) return frames;
  return new Promise((done, failed) => transformDataFrame(panel.transformations, frames).subscribe({ next: done, error: failed }));
}

// ---- options of fields

const CUSTOM = {
  timeseries: {
    drawStyle: "line", lineInterpolation: "linear", lineWidth: 1, fillOpacity: 0, gradientMode: "none", barAlignment: 0,
    pointSize: 5, showPoints: "auto", spanNulls: false, axisPlacement: "auto", axisLabel: "", axisColorMode: "text",
    scaleDistribution: { type: "linear" }, stacking: { mode: "none", group: "A" }, thresholdsStyle: { mode: "off" },
    hideFrom: { legend: false, tooltip: false, viz: false },
  },
  table: { align: "auto", cellOptions: { type: "auto" }, inspect: false, filterable: false },
};

function matched({ id, options }, name, frame) {
  if (id === "byRegexp") return new RegExp(options.slice(1, -1)).test(name);
  return options === (id === "byName" ? name : frame.refId);
}

function configured(panel, field, frame) {
  const { defaults = {}, overrides = [] } = panel.fieldConfig ?? {};
  const config = { ...defaults, ...field.config, custom: { ...CUSTOM[panel.type], ...defaults.custom } };
  config.color ??= { mode: panel.type === "timeseries" ? "palette-classic" : "thresholds" };
  if (field.type !== FieldType.number) delete config.unit;
  for (const { matcher, properties } of overrides) {
    const name = config.displayName ?? config.displayNameFromDS ?? field.name;
    if (!matched(matcher, name, frame)) continue;
    for (const { id, value } of properties) {
      if (id.startsWith("custom.")) config.custom[id.slice(7)] = value;
      else config[id] = value;
    }
  }
  return config;
}

// As Grafana's chart does: what is no number is a gap.
const gaps = (field) => (field.type === FieldType.number ? field.values.map((one) => (Number.isFinite(one) ? one : null)) : field.values);

function ready(panel, frames) {
  return frames.map((frame, place) => ({
    ...frame,
    fields: frame.fields.map((field) => {
      const values = panel.type === "timeseries" ? gaps(field) : field.values;
      const made = { ...field, values, config: configured(panel, field, frame), state: { ...field.state, seriesIndex: place } };
      made.display = getDisplayProcessor({ field: made, theme, timeZone: "utc" });
      made.getLinks = () => [];
      return made;
    }),
  }));
}

const said = (display) => `${display.prefix ?? ""}${display.text}${display.suffix ?? ""}`.trim();

function lastValues(panel, frames) {
  if (panel.type === "table") {
    return frames.flatMap((frame) => Array.from({ length: frame.length }, (_, row) =>
      frame.fields.map((field) => [field.config.displayName ?? field.name, said(field.display(field.values[row]))])));
  }
  return frames.map((frame) => {
    const field = frame.fields[1];
    const known = field.values.filter((value) => value !== null);
    return [frame.name, said(field.display(known.at(-1) ?? field.values.at(-1)))];
  });
}

const shows = (panel, frames) => frames.some((frame) => frame.fields.some((field) => field.type === FieldType.number
  && field.values.some((value) => value !== null && (panel.type === "stat" || Number.isFinite(value)))));

// ---- drawing

// What Grafana draws for annotations: a line from top to bottom at each, with its name at the first.
function Marks({ config, marks }) {
  React.useLayoutEffect(() => {
    config.addHook("draw", (plot) => {
      const { left, top, width, height } = plot.bbox;
      plot.ctx.save();
      for (const { at, until, color } of marks) {
        const [x, end] = [plot.valToPos(at, "x", true), plot.valToPos(until, "x", true)];
        if (end < left || x > left + width) continue;
        plot.ctx.globalAlpha = 0.15;
        plot.ctx.fillStyle = color;
        plot.ctx.fillRect(Math.max(x, left), top, Math.min(end, left + width) - Math.max(x, left), height);
        plot.ctx.globalAlpha = 0.9;
        plot.ctx.strokeStyle = color;
        plot.ctx.setLineDash([4, 4]);
        plot.ctx.beginPath();
        plot.ctx.moveTo(Math.max(x, left), top);
        plot.ctx.lineTo(Math.max(x, left), top + height);
        plot.ctx.stroke();
      }
      plot.ctx.restore();
    });
  }, [config]);
  return null;
}

function Lines({ panel, frames, width, height, marks }) {
  const legend = { calcs: [], ...panel.options.legend };
  return (
    <TimeSeries frames={frames} structureRev={1} timeRange={range} timeZone="utc" width={width} height={height}
      legend={legend}>{(config) => <Marks config={config} marks={marks} />}</TimeSeries>
  );
}

function Numbers({ panel, frames, width, height }) {
  return (
    <div style={{ display: "flex" }}>
      {frames.map((frame, place) => (
        <BigValue key={place} theme={theme} width={width / frames.length} height={height} colorMode={panel.options.colorMode}
          graphMode={panel.options.graphMode} justifyMode="center" textMode={panel.options.textMode}
          value={{ ...frame.fields[1].display(frame.fields[1].values.at(-1)), title: frame.name }} />
      ))}
    </div>
  );
}

function Rows({ panel, frames, width, height }) {
  return (
    <TableNG data={frames[0]} width={width} height={height} sortBy={panel.options.sortBy} cellHeight="sm"
      structureRev={1} timeRange={range} fieldConfig={panel.fieldConfig} getActions={() => []} />
  );
}

const KINDS = { timeseries: Lines, stat: Numbers, table: Rows };

class Guard extends React.Component {
  state = {};
  static getDerivedStateFromError(error) { return { error }; }
  componentDidCatch(error) { this.props.failed(error); }
  render() { return this.state.error ? <pre>{String(this.state.error)}</pre> : this.props.children; }
}

function Panel({ panel, values, marks, done }) {
  const [state, set] = React.useState({ name: "loading", frames: [] });
  const [width, height] = [panel.gridPos.w * COLUMN - GAP, panel.gridPos.h * LINE - GAP];
  const Kind = KINDS[panel.type];
  React.useEffect(() => {
    if (!Kind) return set({ name: "not drawn here", frames: [] });
    const timing = intervals(panel, width, values);
    Promise.all(panel.targets.map((target) => answered(target, timing, values)))
      .then(async (found) => {
        const frames = ready(panel, await shaped(panel, found.flat()));
        set({ name: shows(panel, frames) ? "ok" : "nodata", frames });
      })
      .catch((error) => set({ name: "error", frames: [], why: String(error) }));
  }, []);
  React.useEffect(() => { if (state.name !== "loading") done(); }, [state.name]);
  const inside = { panel, frames: state.frames, width: width - 16, height: height - 34, marks };
  return (
    <section data-panel={panel.title} data-kind={panel.type} data-state={state.name} title={state.why}
      data-values={JSON.stringify(lastValues(panel, state.frames))}
      style={{
        position: "absolute", left: panel.gridPos.x * COLUMN, top: panel.gridPos.y * LINE, width, height, overflow: "hidden",
        boxSizing: "border-box", background: theme.colors.background.primary, borderRadius: 2,
        border: `1px solid ${theme.colors.border.weak}`,
      }}>
      <h2 style={{ font: "500 14px sans-serif", margin: 0, padding: "6px 8px 4px" }}>{panel.title}</h2>
      <div style={{ padding: "0 8px" }}>
        {state.name === "ok" && <Guard failed={(error) => set({ name: "crash", frames: [], why: String(error) })}><Kind {...inside} /></Guard>}
        {state.name === "nodata" && <p>{panel.fieldConfig.defaults.noValue}</p>}
        {["error", "crash"].includes(state.name) && <pre>{state.why}</pre>}
        {state.name === "not drawn here" && <p>not drawn here: a plugin of Grafana&apos;s core</p>}
      </div>
    </section>
  );
}

function Heading({ row }) {
  return (
    <h1 style={{ position: "absolute", left: 4, top: row.gridPos.y * LINE, font: "500 16px sans-serif", margin: "8px 0 0" }}>
      {row.title}
    </h1>
  );
}

function Board({ board, found, marks }) {
  const values = Object.fromEntries(found.map((variable) => [variable.name, variable.value]));
  const panels = board.panels.filter((panel) => panel.type !== "row");
  const left = React.useRef(panels.length);
  const done = () => { left.current -= 1; if (left.current === 0) requestAnimationFrame(() => { document.body.dataset.ready = "1"; }); };
  const bottom = Math.max(...board.panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  const when = (at) => dateTime(at * 1000).utc().format("YYYY-MM-DD HH:mm:ss");
  return (
    <ThemeContext.Provider value={theme}>
      <header style={{ padding: "10px 8px", display: "flex", gap: 14, alignItems: "center", flexWrap: "wrap" }}>
        <strong style={{ fontSize: 18 }}>{board.title}</strong>
        {asked.get("mark") && <span style={{ background: theme.colors.warning.main, color: "#000", padding: "2px 10px", fontWeight: 700 }}>{asked.get("mark")}</span>}
        {found.map((variable) => (
          <span key={variable.name} data-variable={variable.name} data-options={JSON.stringify(variable.options)}
            style={{ border: `1px solid ${theme.colors.border.medium}`, padding: "2px 8px" }}>
            <span style={{ color: theme.colors.text.secondary }}>{variable.label}</span>{" "}
            {variable.chosen.map((one) => (one === "$__all" ? "All" : one)).join(" + ")}
          </span>
        ))}
        <span style={{ marginLeft: "auto", color: theme.colors.text.secondary }}>{when(from)} to {when(to)} UTC</span>
      </header>
      <main style={{ position: "relative", height: bottom * LINE, margin: "0 8px" }}>
        {board.panels.map((panel) => (panel.type === "row"
          ? <Heading key={panel.id} row={panel} />
          : <Panel key={panel.id} panel={panel} values={values} marks={marks} done={done} />))}
      </main>
    </ThemeContext.Provider>
  );
}

async function marked(board, values) {
  const found = [];
  for (const mark of board.annotations.list) {
    const step = Math.max(seconds(mark.step), Math.ceil((to - from) / 1000));
    const { result } = await api("query_range", { query: filled(mark.expr, values), start: from, end: to, step });
    const color = theme.visualization.getColorByName(mark.iconColor);
    for (const { metric, values: points } of result) {
      let open = null;
      for (const [at] of points) {
        if (open && at * 1000 - open.until <= step * 1500) open.until = at * 1000;
        else found.push(open = { at: at * 1000, until: at * 1000, color, name: named(mark.titleFormat, metric) });
      }
    }
  }
  return found;
}

async function start() {
  const board = await (await fetch("/board.json")).json();
  const found = await variables(board);
  const marks = await marked(board, Object.fromEntries(found.map((variable) => [variable.name, variable.value])));
  document.body.style.background = theme.colors.background.canvas;
  document.body.style.color = theme.colors.text.primary;
  document.body.dataset.marks = JSON.stringify(marks);
  createRoot(document.getElementById("root")).render(<Board board={board} found={found} marks={marks} />);
}

start().catch((error) => { document.body.dataset.ready = "failed"; document.body.textContent = String(error.stack ?? error); });
