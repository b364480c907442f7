import uPlot from '../uplot/uplot.js';
import { count, date, isoDay } from './format.js';

/**
 * A chart of values by day: `<day-plot .chart=${…}>`, where the chart has
 *
 * - `label`: what it shows, for screen readers;
 * - `kind`: `lines`, `steps`, `areas` (stacked) or `bars` (stacked);
 * - `days`: the days of the values, as `2026-11-24`;
 * - `series`: `{ label, color, values, dash }`, where the color is a custom property;
 * - `format`: formats a value; by default it is a count;
 * - `until`: the last day of the axis, if it is later than the last value;
 * - `floor`: the lowest value of the axis; 0 by default.
 *
 * Above it is a legend with the values of the day under the pointer, or of the last day.
 */
class DayPlot extends HTMLElement {
  #chart;
  #plot;
  #legend = document.createElement('ul');
  #canvas = document.createElement('div');
  #lifetime = new AbortController();
  #sizes = new ResizeObserver(() => this.#resize());

  connectedCallback() {
    this.#lifetime = new AbortController();
    this.#legend.className = 'legend';
    this.#legend.setAttribute('aria-hidden', 'true');
    this.replaceChildren(this.#legend, this.#canvas);
    this.#canvas.setAttribute('role', 'img');
    this.#sizes.observe(this.#canvas);
    // A canvas keeps its colors when the color scheme changes, and when a dark page is printed, which is always light.
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print'])
      matchMedia(query).addEventListener('change', () => this.#draw(), { signal: this.#lifetime.signal });
    this.#draw();
  }

  disconnectedCallback() {
    this.#lifetime.abort();
    this.#sizes.disconnect();
    this.#plot?.destroy();
    this.#plot = undefined;
  }

  set chart(chart) {
    this.#chart = chart;
    if (this.isConnected) this.#draw();
  }

  #resize() {
    const { width, height } = this.#canvas.getBoundingClientRect();
    if (width > 0) this.#plot?.setSize({ width, height });
  }

  #draw() {
    const { days, series, kind, label } = this.#chart;
    this.#canvas.setAttribute('aria-label', label);
    this.#plot?.destroy();
    const { width, height } = this.#canvas.getBoundingClientRect();
    const isStacked = kind === 'areas' || kind === 'bars';
    const values = isStacked ? stackedValues(series) : series.map(({ values }) => values);
    // The highest series of the stack is drawn first, and the others over it.
    const order = [...series.keys()].reverse();
    this.#plot = new uPlot(
      optionsOf(this.#chart, {
        width: width || 300,
        height: height || 200,
        style: getComputedStyle(this),
        order,
        onPoint: (index) => this.#showLegend(index),
      }),
      [days.map(secondsOf), ...order.map((index) => values[index])],
      this.#canvas,
    );
    this.#showLegend(undefined);
  }

  /** Writes the values of a day into the legend. */
  #showLegend(pointedIndex) {
    const { days, series, format = count } = this.#chart;
    const index = pointedIndex ?? days.length - 1;
    const entries = series.map(({ label, color, values }) => {
      const entry = document.createElement('li');
      const swatch = document.createElement('i');
      swatch.style.background = `var(${color})`;
      const value = document.createElement('b');
      value.textContent = values[index] == null ? '–' : format(values[index]);
      entry.append(swatch, label, value);
      return entry;
    });
    const day = document.createElement('li');
    day.textContent = days[index] ? date(days[index]) : '';
    this.#legend.replaceChildren(...entries, day);
  }
}

/** The values of each series, added to those of all series before it. */
function stackedValues(series) {
  return series.map((_, upTo) =>
    series[0].values.map((__, index) =>
      series.slice(0, upTo + 1).reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
    ),
  );
}

function secondsOf(day) {
  return Date.parse(`${day}T00:00:00`) / 1_000;
}

function optionsOf(
  { days, series, kind, until, format, floor = 0 },
  { width, height, style, order, onPoint },
) {
  const colorOf = (name) => style.getPropertyValue(name).trim();
  const resolved = (name) => resolveColor(colorOf(name));
  const font = `12px ${colorOf('--sans')}`;
  const step = days.length > 1 ? secondsOf(days[1]) - secondsOf(days[0]) : 86_400;
  const margin = kind === 'bars' ? step * 0.6 : 0;
  const last = until && until > days.at(-1) ? secondsOf(until) : undefined;
  const axis = {
    font,
    stroke: resolved('--ink-soft'),
    grid: { stroke: resolved('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    padding: [8, 22, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 7 }, drag: { setScale: false, x: false, y: false } },
    scales: {
      x: { range: (_, min, max) => [min - margin, Math.max(max, last ?? max) + margin] },
      y: { range: (_, __, max) => [floor, Math.max(max * 1.08, floor + 1)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: labelPx,
        grid: { show: false },
        splits: last === undefined ? ticksAt(days, step) : undefined,
        values: (_, ticks) => ticks.map(dayOf),
      },
      {
        ...axis,
        size: (_, labels) => widthOf(labels ?? []),
        space: 36,
        incrs: format ? undefined : steps,
        values: (_, ticks) => ticks.map(format ?? count),
      },
    ],
    series: [{}, ...order.map((index) => seriesOf(series[index], kind, resolved(series[index].color)))],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  };
}

/** The minimum distance between the labels of days below a chart. */
const labelPx = 64;

/** Labels the days that have values: uPlot would label every n-th day, even where no week or month begins. */
function ticksAt(days, step) {
  return (_, __, ___, ____, seconds, px) => {
    const every = Math.max(1, Math.ceil((labelPx * seconds) / (px * step)));
    return days.filter((__, index) => index % every === 0).map(secondsOf);
  };
}

/** The possible distances between the grid lines of a chart of counts. */
const steps = Array.from({ length: 10 }, (_, digits) =>
  [1, 2, 5].map((first) => first * 10 ** digits),
).flat();

/** The width of an axis with these labels. A digit is about 7 px wide. */
function widthOf(labels) {
  return Math.max(44, 14 + 7 * Math.max(...labels.map(({ length }) => length)));
}

function seriesOf({ label, dash }, kind, color) {
  if (kind === 'bars')
    return {
      label,
      fill: color,
      stroke: color,
      width: 0,
      points: { show: false },
      paths: uPlot.paths.bars({ size: [0.66, 40] }),
    };
  if (kind === 'areas') return { label, fill: color, stroke: color, width: 1, points: { show: false } };
  if (kind === 'steps')
    return {
      label,
      stroke: color,
      width: 2,
      dash,
      points: { show: false },
      paths: uPlot.paths.stepped({ align: 1 }),
    };
  return {
    label,
    stroke: color,
    width: 2,
    dash,
    spanGaps: true,
    points: { show: true, size: 5, fill: color },
  };
}

const probe = document.createElement('span');
// In a high contrast mode, the browser would otherwise replace every color with the same one.
probe.style.forcedColorAdjust = 'none';

/** A color as a canvas accepts it: the browser computes `light-dark()` in the current color scheme. */
function resolveColor(color) {
  probe.style.color = color;
  document.body.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

/** The name of the day that begins at this time in the time zone of the reader. */
function dayOf(seconds) {
  return date(isoDay(new Date(seconds * 1_000 + 43_200_000)));
}

customElements.define('day-plot', DayPlot);
