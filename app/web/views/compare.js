// Two jobs side by side: what was asked, what was chosen, and both curves in one picture.

import { same } from "../order/fields.js";
import { propertiesOf } from "../order/parameters.js";
import { h } from "../parts/dom.js";
import { figure } from "../parts/figure.js";
import { methodName, unbroken, when } from "../parts/format.js";
import { asked } from "../parts/record.js";
import { LongTable } from "../parts/table.js";
import { get } from "../service/api.js";

/** @import { Difference, FeatureRanks, MethodRead, Place } from "contract" */

const FIRST = 50;

/** @type {(root: HTMLElement, place: Place) => Promise<void>} */
export async function showComparison(root, { query, signal }) {
  const a = query.get("a") ?? "";
  const b = query.get("b") ?? "";
  const job = { job_id: a, other_id: b };
  const found = await get("/v1/jobs/{job_id}/difference/{other_id}", job, signal);
  const [first, second] = await Promise.all([a, b].map((id) => jobLink(id, signal)));
  const { methods } = await get("/v1/methods", {}, signal);
  const sentences = found.sentences.map((sentence) => h("li", {}, unbroken(sentence)));
  root.append(
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, "Two jobs side by side"),
        h("p", { class: "muted" }, "A is ", first, ", B is ", second, "."),
      ),
      h("a", { class: "button quiet", href: `#/compare?${new URLSearchParams({ a: b, b: a })}` }, "Swap"),
    ),
    h("ul", { class: "summary" }, sentences),
    h("div", { class: "figures" }, ...found.charts.map((chart) => figure(chart, `${a}, ${b}`))),
    ...ranks(found.features),
    ...changes("What differs in the data", found.data),
    ...changes("What differs in the options", telling(found.options, methods)),
  );
}

/** @type {(id: string, signal: AbortSignal) => Promise<HTMLElement>} */
async function jobLink(id, signal) {
  const job = await get("/v1/jobs/{job_id}", { job_id: id }, signal);
  const { target, k, method } = asked(job);
  const order = `${methodName(method.name)}, K ${k}, ${when(job.created_at)}`;
  return h("a", { href: `#/jobs/${id}`, title: id }, `${job.title ?? target} (${order})`);
}

/** @type {(features: FeatureRanks[]) => HTMLElement[]} */
function ranks(features) {
  const heads = [
    { name: "feature" },
    { name: "rank in A", kind: "number" },
    { name: "rank in B", kind: "number" },
  ];
  /** @type {LongTable<FeatureRanks>} */
  const table = new LongTable({
    heads: [...heads, { name: "" }],
    row: ({ name, a, b }) =>
      h(
        "tr",
        {},
        h("td", { class: "name" }, name),
        h("td", { class: "number" }, String(a ?? "")),
        h("td", { class: "number" }, String(b ?? "")),
        h("td", { class: "muted" }, a && b ? "" : a ? "went" : "came"),
      ),
    first: FIRST,
  });
  table.show(features);
  return [h("h2", {}, "Features"), table.element];
}

/**
 * Of two methods with other parameters those count that are not the usual ones.
 * @type {(differences: Difference[], methods: MethodRead[]) => Difference[]}
 */
function telling(differences, methods) {
  const names = differences.find(({ name }) => name === "/method/name");
  if (!names) return differences;
  const usual = [names.a, names.b].map((name) => methods.find((method) => method.name === name));
  return differences.filter(({ name, a, b }) => {
    const [, first, parameter = ""] = name.split("/");
    if (first !== "method" || parameter === "name" || (a !== null && b !== null)) return true;
    const method = usual[a === null ? 1 : 0];
    return !method || !same(propertiesOf(method)[parameter]?.default, a ?? b);
  });
}

/** @type {(title: string, differences: Difference[]) => HTMLElement[]} */
function changes(title, differences) {
  if (!differences.length) return [h("h2", {}, title), h("p", { class: "muted" }, "Nothing.")];
  /** @type {LongTable<Difference>} */
  const table = new LongTable({
    heads: [{ name: "" }, { name: "A" }, { name: "B" }],
    kind: "list sides",
    row: ({ name, a, b }) =>
      h(
        "tr",
        {},
        h("td", { class: "name" }, named(name)),
        ...[a, b].map((value) => h("td", {}, shown(value))),
      ),
    first: FIRST,
  });
  table.show(differences);
  return [h("h2", {}, title), table.element];
}

/** @type {(path: string) => string} */
function named(path) {
  return path.replace(/^\//, "").replaceAll("/", " · ").replaceAll("_", " ");
}

/**
 * In words: what stands in a list or a record by itself, without the signs that JSON needs; a method by its name.
 * @type {(value: unknown) => string}
 */
function shown(value) {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map(shown).join(", ") || "none";
  if (typeof value !== "object") return String(value);
  if ("name" in value) return methodName(String(value.name));
  return Object.entries(value)
    .map(([name, one]) => `${named(name)} ${shown(one)}`)
    .join(", ");
}
