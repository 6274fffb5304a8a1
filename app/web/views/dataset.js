// One dataset: what reading it found in every column.

import { remove } from "../api.js";
import { bar, button, h, pill } from "../dom.js";
import { amount, count, size, when } from "../format.js";
import { histogram } from "../live.js";
import { whenRead } from "./datasets.js";

const FIRST = 200;

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
  root.append(...columnTable(dataset));
}

function head(dataset) {
  const facts = [
    dataset.n_rows !== null ? `${count(dataset.n_rows)} rows` : null,
    dataset.n_columns !== null ? `${count(dataset.n_columns)} columns` : null,
    size(dataset.n_bytes),
    when(dataset.created_at),
  ].filter(Boolean).join(" · ");
  const drop = button("Delete", async () => {
    if (!confirm("Delete this dataset? Results of finished jobs stay.")) return;
    await remove(`/v1/datasets/${dataset.id}`);
    location.hash = "#/datasets";
  }, "quiet");
  const use = h("a", { class: "button primary", href: `#/new?dataset=${dataset.id}` }, "Select features");
  return h("div", { class: "head" },
    h("div", {}, h("h1", {}, dataset.name ?? "Dataset", " ", pill(dataset.status)),
      h("p", { class: "muted" }, facts), h("p", { class: "muted code" }, dataset.id)),
    h("div", { class: "actions" }, dataset.status === "ready" ? use : null, drop));
}

function columnTable(dataset) {
  const body = h("tbody", {});
  const more = h("p", {});
  const search = h("input", { type: "search", id: "search", placeholder: "Find a column" });
  const draw = (limit) => {
    const wanted = search.value.toLowerCase();
    const found = dataset.columns.filter((column) => column.name.toLowerCase().includes(wanted));
    body.replaceChildren(...found.slice(0, limit).map((column) => row(column, dataset)));
    const rest = found.length - limit;
    more.replaceChildren(rest > 0
      ? button(`Show ${count(rest)} more columns`, () => draw(Infinity), "quiet") : "");
  };
  search.addEventListener("input", () => draw(FIRST));
  draw(FIRST);
  const heads = ["column", "values", "kind", "levels", "missing", "range or most frequent", ""];
  return [
    h("div", { class: "bar-above" }, h("label", { for: "search", class: "unseen" }, "Find a column"), search),
    h("div", { class: "scroll" }, h("table", { class: "list columns" },
      h("thead", {}, h("tr", {}, heads.map((name) =>
        h("th", { scope: "col", class: name === "levels" ? "number" : null }, name)))),
      body)),
    more,
  ];
}

function row(column, dataset) {
  const query = new URLSearchParams({ dataset: dataset.id, target: column.name });
  return h("tr", {},
    h("th", { scope: "row", class: "name" }, column.name),
    h("td", {}, histogram(column)),
    h("td", { class: "muted" }, column.kind),
    h("td", { class: "number" }, count(column.levels)),
    h("td", {}, missing(column, dataset.n_rows)),
    h("td", { class: "range" }, column.values ? column.values.slice(0, 4).join(", ") : span(column)),
    h("td", {}, h("a", { href: `#/new?${query}` }, "Predict")));
}

function missing(column, nRows) {
  if (!column.missing) return h("span", { class: "muted" }, "none");
  const share = column.missing / nRows;
  const words = `${count(column.missing)} (${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %)`;
  return h("span", { class: "missing" }, words, bar(share, words));
}

function span(column) {
  if (column.min === null) return "";
  const infinite = column.infinite ? `, ${count(column.infinite)} infinite` : "";
  return `${amount(column.min)} to ${amount(column.max)}${infinite}`;
}
