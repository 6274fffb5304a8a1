// Small pictures drawn in the page: a line that grows while a job runs, and histograms.

import { h, s } from "./dom.js";
import { amount } from "./format.js";

/** @import { ColumnProfile } from "contract" */

const WIDTH = 520;
const HEIGHT = 180;
const RIGHT = WIDTH - 12;
const BOTTOM = 22;
const DIGIT = 9.5; // as wide as one is on a narrow screen, where letters are drawn larger

export class LiveLine {
  /**
   * @param {string} title
   * @param {string} unit
   * @param {string} xLabel
   * @param {number[]} [start] where the axis begins, if not at the first point
   */
  constructor(title, unit, xLabel, start = []) {
    this.xLabel = xLabel;
    this.start = start;
    this.unit = unit;
    /** @type {{ x: number, y: number }[]} */
    this.points = [];
    /** @type {number | undefined} */
    this.pending = undefined;
    this.svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title });
    this.value = h("span", { class: "muted" }, "waiting");
    const head = h("div", { class: "figure-head" }, h("h3", {}, title), this.value);
    this.element = h("figure", { class: "chart live" }, head, this.svg);
  }

  /** @type {(x: number, y: number) => void} */
  add(x, y) {
    this.points.push({ x, y });
    this.value.textContent = `${amount(y)} ${this.unit}`;
    this.pending ??= requestAnimationFrame(() => this.draw());
  }

  clear() {
    this.points = [];
  }

  draw() {
    this.pending = undefined;
    const last = this.points.at(-1);
    if (!last) return;
    const { low: x0, high: x1 } = range(this.points.map(({ x }) => x).concat(this.start));
    const { low: y0, high: y1 } = range(this.points.map(({ y }) => y));
    const heights = ticks(y0, y1);
    const left = 12 + DIGIT * Math.max(...heights.map(({ label }) => label.length));
    const px = (/** @type {number} */ x) => left + ((x - x0) / (x1 - x0)) * (RIGHT - left);
    const py = (/** @type {number} */ y) => HEIGHT - BOTTOM - ((y - y0) / (y1 - y0)) * (HEIGHT - BOTTOM - 12);
    const path = this.points.map(({ x, y }) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join(" ");
    const end = { class: "muted", x: RIGHT, y: HEIGHT - 5, "text-anchor": "end" };
    this.svg.replaceChildren(
      ...heights.flatMap(({ y, label }) => gridLine(left, py(y), label)),
      s("text", { class: "muted", x: left, y: HEIGHT - 5 }, rounded(x0)),
      s("text", end, `${rounded(x1)} ${this.xLabel}`),
      s("polyline", { class: "line s1", points: path, fill: "none", "stroke-width": 2 }),
      s("circle", { class: "dot s1", cx: px(last.x), cy: py(last.y), r: 4 }),
    );
  }
}

/** @type {(left: number, y: number, label: string) => SVGElement[]} */
function gridLine(left, y, label) {
  return [
    s("line", { class: "grid", x1: left, x2: RIGHT, y1: y, y2: y }),
    s("text", { class: "muted", x: left - 8, y: y + 4, "text-anchor": "end" }, label),
  ];
}

/**
 * Round values inside a range, with as many digits as tell them apart.
 * @type {(low: number, high: number) => { y: number, label: string }[]}
 */
function ticks(low, high) {
  const raw = (high - low) / 5; // two of them at least
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((times) => times * power >= raw) ?? 10) * power;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(low / step);
  const n = Math.floor(high / step) - first + 1;
  const places = Array.from({ length: n }, (_, i) => (first + i) * step);
  return places.map((y) => ({ y, label: y.toFixed(Math.min(digits, 12)) }));
}

/** @type {(value: number) => string} */
function rounded(value) {
  return amount(Number(value.toPrecision(3)));
}

/** @type {(values: number[]) => { low: number, high: number }} */
function range(values) {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    // There may be more than a call takes arguments.
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low === high ? { low: low - 0.5, high: high + 0.5 } : { low, high };
}

/**
 * Bars of a column's values; numbers touch each other, categories do not.
 * @type {(column: ColumnProfile) => Element}
 */
export function histogram({ counts, values, min, max }) {
  if (!counts.length) return h("span", { class: "muted" }, "");
  const top = Math.max(...counts, 1);
  const width = values ? Math.min(10, 96 / counts.length) : 96 / counts.length;
  const gap = values ? 1.5 : 0.5;
  const shape = counts.map((n, i) => {
    const height = n ? Math.max(1, (n / top) * 22) : 0;
    return `M${(i * width).toFixed(1)} 24v-${height.toFixed(1)}h${(width - gap).toFixed(1)}V24z`;
  });
  const label = values
    ? values.map((value, i) => `${value}: ${counts[i]}`).join(", ")
    : `${amount(min)} to ${amount(max)}: ${counts.join(", ")}`;
  const frame = { class: "histogram", viewBox: "0 0 96 24", role: "img", "aria-label": label };
  return s("svg", frame, s("title", {}, label), s("path", { d: shape.join("") }));
}
