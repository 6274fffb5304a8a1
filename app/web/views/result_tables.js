// The tables of a result: what was chosen, left out and set aside, and how columns were read.

import { button, h } from "../parts/dom.js";
import { amount, count, cutName, percent } from "../parts/format.js";
import { csv, saveText } from "../parts/save.js";
import { LongTable } from "../parts/table.js";

/**
 * @import { EncodedColumn, ResultRead } from "contract"
 * @typedef {Record<string, string | number | boolean | null>} Item
 * @typedef {[key: string, name: string]} Column
 */

const FIRST = 20;
const UNSUPPORTED = "do not support it";
/** @type {Record<string, string>} */
const REASONS = {
  uninformative: "tells nothing by itself",
  outranked: "tells less than the chosen ones",
  constant: "the same value in every row",
  all_missing: "no value in any row",
  excluded: "you left it out",
  id_like: "another value in nearly every row, as in a key",
};

/** @type {Column[]} */
const SELECTED = [
  ["rank", "rank"],
  ["name", "feature"],
  ["held_out", "told so far, nats"],
  ["held_out_share", "of all there is"],
  ["support", "held-out rows"],
];

/** @type {Column[]} */
const DECIDED = [
  ["rank", "rank"],
  ["name", "feature"],
  ["gain", "gain"],
  ["mi_label", "I(X_S; Y)"],
  ["mi_label_se", "± s.e."],
  ["mi_latent", "I(X_S; Z)"],
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

/**
 * Those that belong to a part of the result.
 * @type {(part: string, result: ResultRead, fileName: string) => HTMLElement[]}
 */
export function tablesOf(part, result, fileName) {
  if (part === "answer") return section("Selected features", SELECTED, selectedRows(result), fileName);
  if (part === "alike") return section("Left out", LEFT_OUT, result.left_out, fileName);
  if (part !== "model") return [];
  return [
    ...section("How each feature was chosen", DECIDED, decisions(result), fileName),
    ...section("Set aside before the search", DROPPED, result.dropped, fileName),
    ...section("How each column was read", ENCODING, result.encoding.map(readColumn), fileName),
  ];
}

/**
 * Each with what it and those before it told on held-out rows.
 * @type {(result: ResultRead) => Item[]}
 */
function selectedRows({ selected, held_out: held }) {
  return selected.map(({ rank, name, supported }) => {
    const told = held?.information[rank] ?? null;
    return {
      rank,
      name,
      held_out: told,
      held_out_error: held?.standard_error[rank] ?? null,
      held_out_share: told !== null && held?.entropy ? told / held.entropy : null,
      support: held && !supported ? UNSUPPORTED : null,
    };
  });
}

/** @type {(result: ResultRead) => Item[]} */
function decisions({ selected }) {
  return selected.map(({ supported: _, ...feature }) => feature);
}

/** @type {(column: EncodedColumn) => Item} */
function readColumn({ levels, edges: _, merged: __, n_missing: n, missing_is_level: isLevel, ...column }) {
  const missing = `${n ? count(n) : "none"}${isLevel ? ", a level" : ""}`;
  return { ...column, strategy: cutName(column.strategy), n_levels: levels.length, missing };
}

/** @type {(title: string, columns: Column[], items: Item[], fileName: string) => HTMLElement[]} */
function section(title, columns, items, fileName) {
  const keys = Object.keys(items[0] ?? {});
  if (!keys.length) return [];
  const download = () => {
    const rows = items.map((item) => keys.map((key) => item[key]));
    saveText(`${fileName}-${title.toLowerCase().replaceAll(" ", "-")}.csv`, csv(keys, rows), "text/csv");
  };
  const known = columns.filter(([key]) => items.some((item) => item[key] !== null));
  const head = h("h3", {}, title);
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
      columns.map(([key]) => cell(key, item)),
    );
  const long = new LongTable({ heads, row, first: FIRST });
  long.show(items);
  return long.element;
}

/** @type {(key: string, item: Item) => HTMLElement} */
function cell(key, item) {
  const value = item[key];
  if (key.endsWith("_se") && value === 0) return h("td", { class: "number muted" }, "exact");
  if (key === "held_out_share" && typeof value === "number")
    return h("td", { class: "number" }, percent(value));
  if (key === "held_out") return h("td", { class: "number" }, measured(item));
  if (typeof value === "number") return h("td", { class: "number" }, amount(value));
  const text = key === "reason" ? reasonOf(item) : String(value ?? "");
  return h("td", { class: key === "name" ? "name" : null }, text);
}

/**
 * With two standard errors, as the bars of pictures show them.
 * @type {(item: Item) => string}
 */
function measured({ held_out: told, held_out_error: error }) {
  if (typeof told !== "number") return "";
  return typeof error === "number" ? `${told.toFixed(3)} ± ${(2 * error).toFixed(3)}` : told.toFixed(3);
}

/** @type {(item: Item) => string} */
function reasonOf({ reason, redundant_with: other }) {
  return other ? `tells what ${other} tells` : (REASONS[String(reason)] ?? String(reason));
}
