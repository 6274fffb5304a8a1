// What a job found: in a sentence, in pictures, and in full.

import { button, h } from "../parts/dom.js";
import { figure, layOut } from "../parts/figure.js";
import { amount, count, cutName, percent } from "../parts/format.js";
import { csv, save, saveText } from "../parts/save.js";
import { LongTable } from "../parts/table.js";
import { warningList } from "../parts/warnings.js";
import { get, getBlob } from "../service/api.js";

/**
 * @import { ChartsRead, EncodedColumn, JobRead, ResultRead } from "contract"
 * @typedef {Record<string, string | number | boolean | null>} Item
 * @typedef {[key: string, name: string]} Column
 */

const FIRST = 20;
const UNSUPPORTED = "do not support it";

/** @type {Column[]} */
const SELECTED = [
  ["rank", "rank"],
  ["name", "feature"],
  ["held_out", "held out, nats"],
  ["held_out_error", "± s.e."],
  ["held_out_share", "of all there is"],
  ["support", "held-out rows"],
  ["gain", "model: gain"],
  ["mi_label", "model: I(X_S; Y)"],
  ["mi_label_se", "± s.e."],
  ["mi_latent", "model: I(X_S; Z)"],
  ["mi_latent_se", "± s.e."],
  ["runner_up", "runner-up"],
  ["margin", "margin"],
  ["decided_by", "decided by"],
];

/** @type {Column[]} */
const LEFT_OUT = [
  ["name", "feature"],
  ["gain", "could still add"],
  ["reason", "reason"],
  ["redundant_with", "redundant with"],
];

/** @type {Column[]} */
const DROPPED = [
  ["name", "column"],
  ["reason", "reason"],
];

/** @type {Column[]} */
const ENCODING = [
  ["name", "column"],
  ["kind", "kind"],
  ["strategy", "cut by"],
  ["n_levels", "levels"],
  ["missing", "missing"],
  ["information_lost", "nats lost by the cut"],
];

/** @type {(root: HTMLElement, job: JobRead, signal: AbortSignal) => Promise<void>} */
export async function showResult(root, { id }, signal) {
  const job = { job_id: id };
  const [result, shown] = await Promise.all([
    get("/v1/jobs/{job_id}/result", job, signal),
    get("/v1/jobs/{job_id}/charts", job, signal),
  ]);
  const figures = h("div", { class: "figures" });
  /** @type {(width: number) => Promise<void>} */
  const redraw = async (width) => {
    draw(await get("/v1/jobs/{job_id}/charts", { ...job, pixel_width: width }, signal));
    document.getElementById("chart-pixels")?.scrollIntoView();
  };
  /** @type {(shown: ChartsRead) => void} */
  const draw = ({ charts }) => {
    const tools = (/** @type {string} */ name) => (name === "pixels" ? [widthField(redraw)] : []);
    layOut(
      figures,
      charts.map((chart) => figure(chart, id, ...tools(chart.name))),
    );
  };
  draw(shown);
  const sentences = shown.summary.map((sentence) => h("li", {}, sentence));
  root.replaceChildren(
    h("p", { class: "headline" }, shown.headline),
    warningList(result.warnings ?? []), // results of earlier versions have none
    h("ul", { class: "summary" }, sentences),
    figures,
    ...section("Selected features", SELECTED, selectedRows(result), id),
    ...section("Left out", LEFT_OUT, result.left_out, id),
    ...section("Set aside before the search", DROPPED, result.dropped, id),
    ...section("How each column was read", ENCODING, result.encoding.map(readColumn), id),
    pixelOffer(shown, redraw),
    provenance(result, id),
  );
}

/**
 * Each with what the choice so far told on held-out rows, beside the model's own figures.
 * @type {(result: ResultRead) => Item[]}
 */
function selectedRows({ selected, held_out: held }) {
  return selected.map(({ supported, ...feature }) => {
    const told = held?.information[feature.rank] ?? null;
    return {
      ...feature,
      held_out: told,
      held_out_error: held?.standard_error[feature.rank] ?? null,
      held_out_share: told !== null && held?.entropy ? percent(told / held.entropy) : null,
      support: held && !supported ? UNSUPPORTED : null,
    };
  });
}

/** @type {(column: EncodedColumn) => Item} */
function readColumn({ levels, edges: _, merged: __, n_missing: n, missing_is_level: isLevel, ...column }) {
  const missing = `${n ? count(n) : "none"}${isLevel ? ", a level" : ""}`;
  return { ...column, strategy: cutName(column.strategy), n_levels: levels.length, missing };
}

/** @type {(title: string, columns: Column[], items: Item[], jobId: string) => HTMLElement[]} */
function section(title, columns, items, jobId) {
  const keys = Object.keys(items[0] ?? {});
  if (!keys.length) return [];
  const download = () => {
    const rows = items.map((item) => keys.map((key) => item[key]));
    saveText(`${jobId}-${title.toLowerCase().replaceAll(" ", "-")}.csv`, csv(keys, rows), "text/csv");
  };
  const known = columns.filter(([key]) => items.some((item) => item[key] !== null));
  const head = h("h2", {}, title);
  return [
    h("div", { class: "figure-head section" }, head, button("CSV", download, "quiet small")),
    table(known, items),
  ];
}

/** @type {(columns: Column[], items: Item[]) => HTMLElement} */
function table(columns, items) {
  const isNumber = (/** @type {string} */ key) => items.some((item) => typeof item[key] === "number");
  const heads = columns.map(([key, name]) => ({ name, kind: isNumber(key) ? "number" : null }));
  const row = (/** @type {Item} */ item) =>
    h(
      "tr",
      { class: item.support === UNSUPPORTED ? "unsupported" : null },
      columns.map(([key]) => cell(item[key], key)),
    );
  const long = new LongTable({ heads, row, first: FIRST });
  long.show(items);
  return long.element;
}

/** @type {(value: Item[string] | undefined, key: string) => HTMLElement} */
function cell(value, key) {
  if (key.endsWith("_se") && value === 0) return h("td", { class: "number muted" }, "exact");
  if (typeof value === "number") return h("td", { class: "number" }, amount(value));
  return h("td", { class: key === "name" ? "name" : null }, String(value ?? ""));
}

/** @type {(shown: ChartsRead, redraw: (width: number) => Promise<void>) => HTMLElement | string} */
function pixelOffer({ charts }, redraw) {
  if (charts.some((chart) => chart.name === "pixels")) return "";
  const question = h("summary", {}, "Are the columns pixels of an image?");
  return h("details", {}, question, widthField(redraw));
}

/** @type {(redraw: (width: number) => Promise<void>) => HTMLElement} */
function widthField(redraw) {
  const input = h("input", {
    type: "number",
    min: 1,
    max: 4096,
    class: "narrow",
    "aria-label": "Width of the image in pixels",
    placeholder: "width",
  });
  const apply = () => (input.valueAsNumber > 0 ? redraw(input.valueAsNumber) : undefined);
  const show = button("Show as pixels", apply, "quiet small");
  input.addEventListener("keydown", (event) => event.key === "Enter" && show.click());
  return h("span", { class: "width-field" }, input, show);
}

/** @type {(result: ResultRead, jobId: string) => HTMLElement} */
function provenance(result, jobId) {
  const { dataset, specification, versions } = result.provenance;
  const download = async () => {
    const factors = await getBlob("/v1/jobs/{job_id}/factors", { job_id: jobId }, "application/x-npz");
    save(`${jobId}.npz`, factors);
  };
  const facts = {
    Dataset: dataset.id,
    "SHA-256": dataset.sha256,
    Versions: Object.entries(versions)
      .map((pair) => pair.join(" "))
      .join(", "),
  };
  const listed = Object.entries(facts).flatMap(([name, value]) => [
    h("dt", {}, name),
    h("dd", { class: "code" }, value),
  ]);
  const factors = result.models.length ? button("Factors (.npz)", download, "quiet small") : null;
  return h(
    "section",
    {},
    h("div", { class: "figure-head section" }, h("h2", {}, "Provenance"), factors),
    h("dl", {}, listed),
    h("details", {}, h("summary", {}, "Specification"), h("pre", {}, JSON.stringify(specification, null, 2))),
  );
}
