// New job: a form filled with the defaults, checked by the service itself while it is filled in.

import { COLUMN_NAMES } from "../order/form.js";
import { Order } from "../order/order.js";
import { curl, python } from "../order/snippets.js";
import { guarded, h, say } from "../parts/dom.js";
import { duration, size } from "../parts/format.js";
import { asked } from "../parts/record.js";
import { copyButton } from "../parts/save.js";
import { warningList } from "../parts/warnings.js";
import { get, Problem, post } from "../service/api.js";
import { tryButton } from "./example.js";

/**
 * @import { DatasetSummary, JobCheck, JobEstimate, Place, ProblemField, TableWarning } from "contract"
 * @import { Problem as ProblemDocument } from "contract"
 * @import { Field } from "../order/fields.js"
 * @import { Draft } from "../order/order.js"
 * @import { Start } from "../order/form.js"
 */

const PATIENCE = 250;

/** Warnings that leaving the columns out does away with. */
const HELPED = new Set([
  "id_like",
  "nearly_constant",
  "mostly_missing",
  "copy",
  "leaks_target",
  "missing_tells",
  "tells_nothing",
  "many_levels",
]);

/** @type {(root: HTMLElement, place: Place) => Promise<void>} */
export async function showNewJob(root, { query, signal }) {
  const [{ methods }, { connections }, start] = await Promise.all([
    get("/v1/methods", {}, signal),
    get("/v1/connections", {}, signal),
    startOf(query, signal),
  ]);
  const datasets = await usableDatasets(start.dataset_id, signal);
  const [newest] = datasets;
  root.append(h("h1", {}, "New job"));
  if (!newest) {
    const words = "A job needs a dataset with a column to predict.";
    const own = h("a", { class: "button primary", href: "#/datasets" }, "Upload a dataset");
    root.append(h("div", { class: "welcome" }, h("p", {}, words), own, " ", tryButton()));
    return;
  }
  const from = { ...start, dataset_id: start.dataset_id || newest.id };
  const order = new Order(methods, datasets, from, connections);
  new JobForm(order, datasets, signal).show(root);
}

/**
 * What an earlier job asked for, or what the address names.
 * @type {(query: URLSearchParams, signal: AbortSignal) => Promise<Start>}
 */
async function startOf(query, signal) {
  if (history.state?.draft) return history.state.draft; // back to what was entered
  const like = query.get("like");
  if (like) return asked(await get("/v1/jobs/{job_id}", { job_id: like }, signal));
  return { dataset_id: query.get("dataset") ?? "", target: query.get("target") ?? "" };
}

/**
 * The newest, and the wanted one if it is older; one that is gone leaves the choice among the others.
 * @type {(wanted: string, signal: AbortSignal) => Promise<DatasetSummary[]>}
 */
async function usableDatasets(wanted, signal) {
  const { items } = await get("/v1/datasets", { page_size: 100 }, signal);
  const usable = items.filter((dataset) => dataset.status !== "rejected");
  if (!wanted || items.some(({ id }) => id === wanted)) return usable;
  try {
    return [...usable, await get("/v1/datasets/{dataset_id}", { dataset_id: wanted }, signal)];
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return usable;
    throw error;
  }
}

class JobForm {
  /**
   * @param {Order} order
   * @param {DatasetSummary[]} datasets
   * @param {AbortSignal} signal
   */
  constructor(order, datasets, signal) {
    this.order = order;
    this.datasets = datasets;
    this.signal = signal;
    this.names = h("datalist", { id: COLUMN_NAMES });
    this.warnings = h("div", {});
    this.verdict = h("p", { class: "verdict", role: "status" });
    this.cost = h("p", { class: "hint" });
    this.submit = h("button", { class: "primary" }, "Run");
    this.curl = h("pre", {});
    this.python = h("pre", {});
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {Draft | undefined} */
    this.latest = undefined;
    /** @type {TableWarning[] | undefined} */
    this.found = undefined;
    /** @type {TableWarning[]} */
    this.ofTable = [];
    this.ready = false;
    this.written = "";
    this.key = "";
  }

  /** @param {HTMLElement} root */
  show(root) {
    const form = this.form();
    form.addEventListener("input", () => this.changed());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      guarded(() => this.run())();
    });
    const load = guarded(() => this.loadNames());
    this.order.main.dataset.control.addEventListener("change", load);
    this.order.main.target.control.addEventListener(
      "change",
      guarded(() => (this.ready ? this.loadWarnings() : this.loadNames())),
    );
    const elsewhere = { "aria-label": "The same request elsewhere" };
    const aside = h("aside", elsewhere, snippet("curl", this.curl), snippet("Python", this.python));
    root.append(h("div", { class: "two" }, form, aside));
    load();
    this.changed();
  }

  form() {
    const { main, experiments, columns, rest, parameters } = this.order;
    const { compare, evaluate, stability, splits, samples } = experiments;
    return h(
      "form",
      { novalidate: true },
      inGrid("pair", [main.dataset, main.target]),
      this.names,
      this.warnings,
      inGrid("pair", [main.k, main.method]),
      compare.element,
      evaluate.element,
      stability.element,
      folded("Parameters of the method", parameters),
      folded("Columns", this.order.picker.field.element),
      folded("Bins and weights", inGrid("grid-fields", Object.values(columns))),
      folded(
        "Title, splits, seed, deadline and labels",
        inGrid("grid-fields", [splits, samples, ...Object.values(rest)]),
      ),
      folded("Files of the result", inGrid("grid-fields", Object.values(this.order.destination))),
      this.verdict,
      this.cost,
      h("div", { class: "actions" }, this.submit),
    );
  }

  async loadNames() {
    const { dataset, target } = this.order.main;
    const { columns, warnings, status } = await get(
      "/v1/datasets/{dataset_id}",
      { dataset_id: dataset.read() },
      this.signal,
    );
    this.order.picker.offer(columns);
    this.ofTable = warnings;
    this.warnings.replaceChildren(warningList(warnings));
    this.names.replaceChildren(...columns.map(({ name }) => h("option", { value: name })));
    const last = columns.at(-1);
    if (!target.control.value && last) {
      target.control.value = last.name;
    }
    this.changed();
    this.ready = status === "ready";
    if (this.ready) await this.loadWarnings();
  }

  /** What a sample of the rows tells about the table and about this target. */
  async loadWarnings() {
    const { dataset, target } = this.order.main;
    const wanted = { dataset_id: dataset.read(), target: target.read() };
    const isColumn = this.order.picker.columns.some(({ name }) => name === wanted.target);
    if (!isColumn) return this.warn(this.ofTable); // the check says so
    try {
      const { warnings } = await get("/v1/datasets/{dataset_id}/warnings", wanted, this.signal);
      if (wanted.target === target.read()) this.warn(warnings);
    } catch (error) {
      // No sample, as an older version left none.
      if (!(error instanceof Problem)) throw error;
      if (wanted.target === target.read()) this.warn(this.ofTable);
    }
  }

  /** @param {TableWarning[]} warnings */
  warn(warnings) {
    this.found = warnings;
    const { picker } = this.order;
    const others = warnings.filter((warning) => !isOfTarget(warning, picker.target));
    this.warnings.replaceChildren(
      warningList(others, (warning) => (HELPED.has(warning.code) ? picker.remedy(warning) : "")),
    );
  }

  changed() {
    this.order.picker.spare(this.order.main.target.control.value);
    if (this.found) this.warn(this.found);
    const specification = this.order.specification();
    history.replaceState({ draft: specification }, "");
    const dataset = this.datasets.find(({ id }) => id === specification.dataset_id);
    this.curl.textContent = curl(specification);
    this.python.textContent = python(specification, dataset?.name ?? "data.csv");
    clearTimeout(this.timer);
    this.timer = setTimeout(
      guarded(() => this.check(specification)),
      PATIENCE,
    );
  }

  /** @param {Draft} specification */
  async check(specification) {
    this.latest = specification;
    const checked = await this.ask(specification);
    if (this.latest === specification) this.judge(checked);
  }

  /** @type {(specification: Draft) => Promise<JobCheck>} */
  ask(specification) {
    return post("/v1/jobs/check", {}, specification, { signal: this.signal });
  }

  /** @param {JobCheck} checked */
  judge({ problem, estimate }) {
    this.cost.textContent = estimate ? cost(estimate) : "";
    const errors = problem ? mistakes(problem) : [];
    const unplaced = this.order.complain(errors);
    const many = errors.length === 1 ? "One field needs" : `${errors.length} fields need`;
    const words = errors.length ? `${many} your attention.` : "Ready to run.";
    this.verdict.className = errors.length ? "verdict bad" : "verdict good";
    this.verdict.textContent = unplaced.join(" ") || words;
  }

  async run() {
    const specification = this.order.specification();
    this.submit.disabled = true;
    try {
      const checked = await this.ask(specification);
      if (checked.problem) return this.judge(checked);
      const job = await post("/v1/jobs", {}, specification, { key: this.keyFor(specification) });
      say("Submitted");
      location.hash = `#/jobs/${job.id}`;
    } finally {
      this.submit.disabled = false;
    }
  }

  /**
   * The same key for the same order: a second click is not a second job.
   * @param {Draft} specification
   */
  keyFor(specification) {
    const written = JSON.stringify(specification);
    if (this.written !== written) Object.assign(this, { written, key: randomKey() });
    return this.key;
  }
}

/** @type {(problem: ProblemDocument) => ProblemField[]} */
function mistakes(problem) {
  return problem.errors?.length ? problem.errors : [{ pointer: "", place: "body", detail: problem.detail }];
}

/** @type {(estimate: JobEstimate) => string} */
function cost({ seconds, memory_bytes, why }) {
  return `About ${duration(seconds)} and ${size(memory_bytes)} of memory. ${why}`;
}

/** @type {(kind: string, fields: Field[]) => HTMLElement} */
function inGrid(kind, fields) {
  return h(
    "div",
    { class: kind },
    fields.map((field) => field.element),
  );
}

/** @type {(title: string, content: HTMLElement) => HTMLElement} */
function folded(title, content) {
  return h("details", {}, h("summary", {}, title), content);
}

/** @type {(title: string, pre: HTMLElement) => HTMLElement} */
function snippet(title, pre) {
  const head = h(
    "div",
    { class: "figure-head" },
    h("h3", {}, title),
    copyButton(() => pre.textContent ?? ""),
  );
  return h("div", { class: "snippet" }, head, pre);
}

/** crypto.randomUUID is only there with TLS or on loopback. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * That nothing tells a key is said of it as a target.
 * @type {(warning: TableWarning, target: string) => boolean}
 */
function isOfTarget({ code, columns }, target) {
  return code === "id_like" && columns.length === 1 && columns[0] === target;
}
