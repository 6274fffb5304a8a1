// One dataset: what reading it found in every column.

import { labelEditor, nameHead } from "../parts/described.js";
import { bar, button, h, pill } from "../parts/dom.js";
import { count, counted, exact, moments, size, when } from "../parts/format.js";
import { histogram } from "../parts/live.js";
import { LongTable } from "../parts/table.js";
import { warningList } from "../parts/warnings.js";
import { get, Problem, patch, post, remove } from "../service/api.js";
import { ColumnEditor } from "./columns.js";
import { whenRead } from "./datasets.js";

/**
 * @import { ColumnProfile, DatasetRead, Place, Source } from "contract"
 * @import { Change } from "../parts/described.js"
 */

const FIRST = 200;
const HEADS = ["column", "values", "kind", "levels", "missing", "range or most frequent", ""];

/** @type {(root: HTMLElement, place: Place) => Promise<void>} */
export async function showDataset(root, { id, signal }) {
  const waiting = h("p", { class: "muted" }, "Reading the dataset …");
  root.append(waiting);
  const dataset = await whenRead(id, signal);
  waiting.remove();
  root.append(head(dataset));
  if (dataset.status === "rejected") {
    root.append(h("p", { class: "failure" }, `This file cannot be used: ${dataset.reason}.`));
    return;
  }
  const editor = new ColumnEditor(dataset);
  const alerts = h("div", {}, warningList(dataset.warnings));
  root.append(alerts, ...ignored(dataset, editor), editor.element, ...columnTable(dataset, editor));
  const found = await get("/v1/datasets/{dataset_id}/warnings", { dataset_id: id }, signal).catch(noSample);
  if (found) alerts.replaceChildren(warningList(found.warnings));
}

/**
 * One that an older version read has none; its profile has warned already.
 * @type {(error: unknown) => null}
 */
function noSample(error) {
  if (error instanceof Problem && error.status === 409) return null;
  throw error;
}

/** @type {(dataset: DatasetRead, editor: ColumnEditor) => HTMLElement[]} */
function ignored({ ignored: names = [] }, editor) {
  if (!names.length) return [];
  const items = names.map((name) => editor.bringBack(name));
  return [
    h("details", {}, h("summary", {}, `${counted(names.length, "column")} left out`), h("ul", {}, items)),
  ];
}

/** @type {(dataset: DatasetRead) => HTMLElement} */
function head(dataset) {
  const facts = [
    dataset.n_rows !== null ? counted(dataset.n_rows, "row") : null,
    dataset.n_columns !== null ? counted(dataset.n_columns, "column") : null,
    size(dataset.n_bytes),
    when(dataset.created_at),
  ];
  /** @type {Change} */
  const change = (values) => patch("/v1/datasets/{dataset_id}", { dataset_id: dataset.id }, values);
  const before = dataset.previous_id
    ? h("a", { href: `#/datasets/${dataset.previous_id}` }, ` · version ${dataset.version}, after this one`)
    : "";
  const use = h("a", { class: "button primary", href: `#/new?dataset=${dataset.id}` }, "Select features");
  return h(
    "div",
    { class: "head" },
    h(
      "div",
      {},
      nameHead(dataset.name ?? "Dataset", change, [pill(dataset.status)]),
      h("p", { class: "muted" }, facts.filter(Boolean).join(" · "), before),
      dataset.source ? h("p", { class: "muted" }, originOf(dataset, dataset.source)) : null,
      h("p", { class: "muted code" }, dataset.id),
      labelEditor(dataset.labels ?? {}, change, "#/datasets"),
    ),
    h("div", { class: "actions" }, dataset.status === "ready" ? use : null, ...more(dataset)),
  );
}

/** @type {(dataset: DatasetRead) => HTMLElement[]} */
function more({ id, source }) {
  return source ? [...refreshed(id), deleteButton(id)] : [deleteButton(id)];
}

/**
 * Where it was read, which of it, and when.
 * @type {(dataset: DatasetRead, source: Source) => string}
 */
function originOf({ origin }, { connection, path, table, version, query }) {
  const which = Number.isSafeInteger(version) ? `, version ${version}` : "";
  const at = typeof origin?.read_at === "string" ? `, read at ${when(origin.read_at)}` : "";
  return `From ${connection}: ${path ?? table ?? query}${which}${at}`;
}

/** @type {(id: string) => HTMLElement[]} */
function refreshed(id) {
  const words = h("span", { class: "muted", role: "status" });
  const refresh = async () => {
    const newest = await post("/v1/datasets/{dataset_id}/refresh", { dataset_id: id });
    if (newest.id === id) words.textContent = "Nothing has changed there.";
    else location.hash = `#/datasets/${newest.id}`;
  };
  return [words, button("Refresh", refresh)];
}

/** @type {(id: string) => HTMLElement} */
function deleteButton(id) {
  const drop = async () => {
    if (!confirm("Delete this dataset? Results of finished jobs stay.")) return;
    await remove("/v1/datasets/{dataset_id}", { dataset_id: id });
    location.hash = "#/datasets";
  };
  return button("Delete", drop, "quiet");
}

/** @type {(dataset: DatasetRead, editor: ColumnEditor) => HTMLElement[]} */
function columnTable(dataset, editor) {
  const heads = HEADS.map((name) => ({ name, kind: name === "levels" ? "number" : null }));
  /** @type {LongTable<ColumnProfile>} */
  const table = new LongTable({
    heads,
    row: (column) => row(column, dataset, editor),
    first: FIRST,
    noun: "columns",
    kind: "list columns live-list",
  });
  const search = h("input", { type: "search", id: "search", placeholder: "Find a column" });
  const draw = () => {
    const wanted = search.value.toLowerCase();
    table.show(dataset.columns.filter(({ name }) => name.toLowerCase().includes(wanted)));
  };
  search.addEventListener("input", draw);
  draw();
  const label = h("label", { for: "search", class: "unseen" }, "Find a column");
  return [h("div", { class: "bar-above" }, label, search), table.element];
}

/** @type {(column: ColumnProfile, dataset: DatasetRead, editor: ColumnEditor) => HTMLElement} */
function row(column, dataset, editor) {
  const query = new URLSearchParams({ dataset: dataset.id, target: column.name });
  return h(
    "tr",
    {},
    h("th", { scope: "row", class: "name" }, column.name),
    h("td", {}, histogram(column)),
    h("td", { class: "kind" }, editor.control(column), ...reasons(column)),
    h("td", { class: "number", "data-unit": column.levels === 1 ? "level" : "levels" }, count(column.levels)),
    h("td", {}, missing(column, dataset.n_rows ?? 0)),
    h(
      "td",
      { class: column.values ? "range" : "range whole", title: column.values?.join(", ") },
      column.values ? column.values.slice(0, 4).join(", ") : span(column),
      ...(column.notes ?? []).map((note) => h("p", { class: "muted" }, note)),
    ),
    h("td", {}, h("a", { href: `#/new?${query}` }, "Predict")),
  );
}

/** @type {(column: ColumnProfile) => HTMLElement[]} */
function reasons({ why, unfit, unfit_values: unfitValues }) {
  const said = why ? h("p", { class: "muted" }, why) : null;
  const examples = (unfitValues ?? []).map((value) => `“${value}”`).join(", ");
  const lost = unfit
    ? h("p", { class: "unfit" }, `${counted(unfit, "value")} did not fit: ${examples}`)
    : null;
  return [said, lost].filter((element) => element !== null);
}

/** @type {(column: ColumnProfile, nRows: number) => HTMLElement} */
function missing(column, nRows) {
  if (!column.missing) return h("span", { class: "muted missing" }, "none");
  const share = column.missing / nRows;
  const words = `${count(column.missing)} (${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %)`;
  return h("span", { class: "missing" }, words, bar(share, words));
}

/** @type {(column: ColumnProfile) => string} */
function span(column) {
  if (column.min === null) return "";
  const infinite = column.infinite ? `, ${count(column.infinite)} infinite` : "";
  if (column.kind === "time") return moments(column.min, column.max);
  return `${exact(column.min)} to ${exact(column.max)}${infinite}`;
}
