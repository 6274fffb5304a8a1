// What a job found, question by question: in sentences, in pictures, and in full.

import { h } from "../parts/dom.js";
import { figure, layOut } from "../parts/figure.js";
import { unbroken } from "../parts/format.js";
import { measureSwitch } from "../parts/measures.js";
import { fileName } from "../parts/save.js";
import { warningList } from "../parts/warnings.js";
import { get } from "../service/api.js";
import { pixelOffer, provenance, widthField } from "./provenance.js";
import { tablesOf } from "./result_tables.js";
import { takeAway } from "./take_away.js";

/** @import { ChartRead, ChartsRead, JobRead, PartRead, ResultRead } from "contract" */

/** @type {(root: HTMLElement, job: JobRead, signal: AbortSignal) => Promise<void>} */
export async function showResult(root, { id }, signal) {
  const job = { job_id: id };
  const [result, shown] = await Promise.all([
    get("/v1/jobs/{job_id}/result", job, signal),
    get("/v1/jobs/{job_id}/charts", job, signal),
  ]);
  /** @type {(width: number) => Promise<void>} */
  const redraw = async (width) => {
    draw(await get("/v1/jobs/{job_id}/charts", { ...job, pixel_width: width }, signal));
    document.getElementById("chart-pixels")?.scrollIntoView();
  };
  /** @type {(shown: ChartsRead) => void} */
  const draw = (shown) => {
    root.replaceChildren(
      h("p", { class: "headline" }, unbroken(shown.headline)),
      warningList(result.warnings ?? []), // results of earlier versions have none
      names(result),
      contents(shown.parts),
      ...shown.parts.map((part) => section(part, shown, result, id, redraw)),
    );
  };
  draw(shown);
}

/** @type {(result: ResultRead) => HTMLElement | string} */
function names({ selected }) {
  if (!selected.length) return "";
  const items = selected.map(({ name, supported }) =>
    h("li", { class: supported === false ? "muted" : null }, name),
  );
  return h("ol", { class: "names", "aria-label": "Chosen features" }, items);
}

/** @type {(parts: PartRead[]) => HTMLElement} */
function contents(parts) {
  const links = parts.map(({ name, title }) => {
    const go = () => document.getElementById(`part-${name}`)?.scrollIntoView({ behavior: "smooth" });
    return h("button", { type: "button", class: "quiet small", onclick: go }, title);
  });
  return h("div", { class: "contents", role: "group", "aria-label": "Parts of the result" }, links);
}

/**
 * @param {PartRead} part
 * @param {ChartsRead} shown
 * @param {ResultRead} result
 * @param {string} id
 * @param {(width: number) => Promise<void>} redraw
 */
function section(part, shown, result, id, redraw) {
  const tools = (/** @type {string} */ name) => (name === "pixels" ? [widthField(redraw)] : []);
  const charts = part.charts.flatMap((name) => shown.charts.filter((chart) => chart.name === name));
  const draw = (/** @type {ChartRead[]} */ some) =>
    layOut(
      figures,
      some.map((chart) => figure(chart, source, ...tools(chart.name))),
      part.name === "effects",
    );
  const source = `${shown.dataset}, ${result.target}`;
  const figures = h("div", { class: "figures" });
  const choice = measureSwitch(charts, draw);
  const model = part.name === "model" ? [pixelOffer(shown, redraw), provenance(result, id)] : [];
  return h(
    "section",
    { class: "part", id: `part-${part.name}` },
    h("h2", {}, part.title),
    part.sentences.length
      ? h("ul", { class: "summary" }, ...part.sentences.map((s) => h("li", {}, unbroken(s))))
      : "",
    part.name === "answer" ? takeAway(result, id, fileName(source)) : "",
    choice,
    figures,
    ...tablesOf(part.name, result, fileName(source)),
    ...model,
  );
}
