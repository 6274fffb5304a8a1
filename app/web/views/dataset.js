// One dataset: what reading it found in every column.

import { bar, button, h, pill } from "../parts/dom.js";
import { amount, count, counted, size, when } from "../parts/format.js";
import { histogram } from "../parts/live.js";
import { LongTable } from "../parts/table.js";
import { warningList } from "../parts/warnings.js";
import { remove } from "../service/api.js";
import { whenRead } from "./datasets.js";

/** @import { ColumnProfile, DatasetRead, Place } from "contract" */

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
  root.append(warningList(dataset.warnings), ...columnTable(dataset));
}

/** @type {(dataset: DatasetRead) => HTMLElement} */
function head(dataset) {
  const facts = [
    dataset.n_rows !== null ? counted(dataset.n_rows, "row") : null,
    dataset.n_columns !== null ? counted(dataset.n_columns, "column") : null,
    size(dataset.n_bytes),
    when(dataset.created_at),
  ];
  const use = h("a", { class: "button primary", href: `#/new?dataset=${dataset.id}` }, "Select features");
  return h(
    "div",
    { class: "head" },
    h(
      "div",
      {},
      h("h1", {}, dataset.name ?? "Dataset", " ", pill(dataset.status)),
      h("p", { class: "muted" }, facts.filter(Boolean).join(" · ")),
      h("p", { class: "muted code" }, dataset.id),
    ),
    h("div", { class: "actions" }, dataset.status === "ready" ? use : null, deleteButton(dataset.id)),
  );
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

/** @type {(dataset: DatasetRead) => HTMLElement[]} */
function columnTable(dataset) {
  const heads = HEADS.map((name) => ({ name, kind: name === "levels" ? "number" : null }));
  /** @type {LongTable<ColumnProfile>} */
  const table = new LongTable({
    heads,
    row: (column) => row(column, dataset),
    first: FIRST,
    noun: "columns",
    kind: "list columns",
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

/** @type {(column: ColumnProfile, dataset: DatasetRead) => HTMLElement} */
function row(column, dataset) {
  const query = new URLSearchParams({ dataset: dataset.id, target: column.name });
  return h(
    "tr",
    {},
    h("th", { scope: "row", class: "name" }, column.name),
    h("td", {}, histogram(column)),
    h("td", { class: "muted" }, column.kind),
    h("td", { class: "number" }, count(column.levels)),
    h("td", {}, missing(column, dataset.n_rows ?? 0)),
    h(
      "td",
      { class: "range" },
      column.values ? column.values.slice(0, 4).join(", ") : span(column),
      ...(column.notes ?? []).map((note) => h("p", { class: "muted" }, note)),
    ),
    h("td", {}, h("a", { href: `#/new?${query}` }, "Predict")),
  );
}

/** @type {(column: ColumnProfile, nRows: number) => HTMLElement} */
function missing(column, nRows) {
  if (!column.missing) return h("span", { class: "muted" }, "none");
  const share = column.missing / nRows;
  const words = `${count(column.missing)} (${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %)`;
  return h("span", { class: "missing" }, words, bar(share, words));
}

/** @type {(column: ColumnProfile) => string} */
function span(column) {
  if (column.min === null) return "";
  const infinite = column.infinite ? `, ${count(column.infinite)} infinite` : "";
  return `${amount(column.min)} to ${amount(column.max)}${infinite}`;
}
