// A chart that the service drew, with its data and its downloads one click away.

import { button, h } from "./dom.js";
import { amount, unbroken } from "./format.js";
import { framed } from "./framed.js";
import { csv, fileName, png, records, save, saveText } from "./save.js";
import { explainMarks } from "./tooltip.js";

/** @import { ChartRead } from "contract" */

const MAX_ROWS = 500;
const FRAME = 120; // about what title and caption add to a picture

/**
 * `source` says where the data come from; files are named after it.
 * @type {(chart: ChartRead, source: string, ...tools: HTMLElement[]) => HTMLElement}
 */
export function figure(chart, source, ...tools) {
  const table = h("div", { class: "scroll data", hidden: true });
  const toggle = button(
    "Data",
    () => {
      if (!table.firstChild) table.append(dataTable(chart.columns, chart.rows));
      table.hidden = !table.hidden;
      toggle.setAttribute("aria-expanded", String(!table.hidden));
    },
    "quiet small",
  );
  toggle.setAttribute("aria-expanded", "false");
  const actions = h("span", { class: "downloads" }, tools, toggle, downloads(chart, source));
  return h(
    "figure",
    { class: "chart", id: `chart-${chart.name}` },
    h("div", { class: "figure-head" }, h("h3", {}, chart.title), actions),
    h("div", { class: "on-wide" }, picture(chart.svg)),
    h("div", { class: "on-narrow" }, picture(chart.narrow_svg)),
    h("figcaption", {}, unbroken(chart.caption)),
    table,
  );
}

/**
 * In two columns, each figure below the shorter one or, where they are numbered, in turn; in their order where there is
 * room for one.
 * @param {HTMLElement} root
 * @param {HTMLElement[]} figures
 * @param {boolean} inTurn
 */
export function layOut(root, figures, inTurn) {
  const narrow = matchMedia("(max-width: 900px)");
  const draw = () => {
    const columns = Array.from({ length: narrow.matches ? 1 : 2 }, () => ({ box: h("div", {}), height: 0 }));
    for (const [i, element] of figures.entries()) {
      const shortest = columns.reduce((least, one) => (one.height < least.height ? one : least));
      const column = (inTurn && columns[i % columns.length]) || shortest;
      column.height += (element.querySelector("svg")?.viewBox.baseVal.height ?? 0) + FRAME;
      column.box.append(element);
    }
    root.replaceChildren(...columns.map(({ box }) => box));
  };
  narrow.addEventListener("change", draw);
  draw();
}

/**
 * Parsed as XML, in which names are text, and adopted: nothing of it is ever read as HTML.
 * @type {(svg: string) => Node}
 */
function picture(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  const drawn = document.importNode(parsed.documentElement, true);
  const box = h("div", { class: "picture" }, drawn);
  if (drawn instanceof SVGElement) explainMarks(drawn);
  return box;
}

/** @type {(chart: ChartRead, source: string) => HTMLElement[]} */
function downloads(chart, source) {
  const { columns, rows } = chart;
  const name = fileName(source, chart.title);
  const svg = () => framed(chart, source);
  const data = () => JSON.stringify(records(columns, rows), null, 1);
  return [
    button("CSV", () => saveText(`${name}.csv`, csv(columns, rows), "text/csv"), "quiet small"),
    button("JSON", () => saveText(`${name}.json`, data(), "application/json"), "quiet small"),
    button("SVG", () => saveText(`${name}.svg`, svg(), "image/svg+xml"), "quiet small"),
    button("PNG", async () => save(`${name}.png`, await png(svg())), "quiet small"),
  ];
}

/** @type {(columns: string[], rows: unknown[][]) => HTMLElement} */
function dataTable(columns, rows) {
  const body = rows.slice(0, MAX_ROWS).map((row) => h("tr", {}, row.map(dataCell)));
  const rest = rows.length - MAX_ROWS;
  const more = rest > 0 ? h("p", { class: "muted" }, `${rest} more rows are in the CSV.`) : null;
  const heads = columns.map((name) => h("th", { scope: "col" }, name.replaceAll("_", " ")));
  return h("div", {}, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, body)), more);
}

/** @type {(value: unknown) => HTMLElement} */
function dataCell(value) {
  if (typeof value === "number") return h("td", { class: "number" }, amount(value));
  return h("td", {}, value === null ? "" : String(value));
}
