// New job: a form filled with the defaults, checked by the service itself while it is filled in.

import { get, post } from "../api.js";
import { guarded, h, say } from "../dom.js";
import { COLUMN_NAMES, Order } from "../order.js";
import { copyButton } from "../save.js";
import { curl, python } from "../snippets.js";

const PATIENCE = 250;

export async function showNewJob(root, { query, signal }) {
  const [{ methods }, earlier] = await Promise.all([
    get("/v1/methods", signal),
    query.get("like") ? get(`/v1/jobs/${query.get("like")}`, signal) : null,
  ]);
  const asked = earlier?.specification ?? { dataset_id: query.get("dataset"), target: query.get("target") ?? "" };
  const datasets = await usableDatasets(asked.dataset_id, signal);
  root.append(h("h1", {}, "New job"));
  if (!datasets.length) {
    root.append(h("p", {}, "A job needs a dataset: ", h("a", { href: "#/datasets" }, "upload one"), "."));
    return;
  }
  const order = new Order(methods, datasets, { ...asked, dataset_id: asked.dataset_id ?? datasets[0].id });
  new JobForm(order, datasets, signal).show(root);
}

// The newest, and the wanted one if it is older; one that is gone leaves the choice among the others.
async function usableDatasets(wanted, signal) {
  const { items } = await get("/v1/datasets?page_size=100", signal);
  const usable = items.filter((dataset) => dataset.status !== "rejected");
  if (!wanted || items.some(({ id }) => id === wanted)) return usable;
  try {
    return [...usable, await get(`/v1/datasets/${wanted}`, signal)];
  } catch (error) {
    if (error.status !== 404) throw error;
    return usable;
  }
}

class JobForm {
  constructor(order, datasets, signal) {
    Object.assign(this, { order, datasets, signal });
    this.names = h("datalist", { id: COLUMN_NAMES });
    this.verdict = h("p", { class: "verdict", role: "status" });
    this.submit = h("button", { class: "primary" }, "Run");
    this.curl = h("pre", {});
    this.python = h("pre", {});
  }

  show(root) {
    const form = this.form();
    form.addEventListener("input", () => this.changed());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      guarded(() => this.run())();
    });
    const load = guarded(() => this.loadNames());
    this.order.dataset.control.addEventListener("change", load);
    root.append(h("div", { class: "two" }, form,
      h("aside", { "aria-label": "The same request elsewhere" },
        snippet("curl", this.curl), snippet("Python", this.python))));
    load();
    this.changed();
  }

  form() {
    const { dataset, target, k, method, compare, evaluate, stability, parameters } = this.order;
    const grid = (fields) => h("div", { class: "grid-fields" }, fields.map((field) => field.element));
    const pair = (...fields) => h("div", { class: "pair" }, fields.map((field) => field.element));
    return h("form", { novalidate: true },
      pair(dataset, target), this.names, pair(k, method),
      compare.element, evaluate.element, stability.element,
      h("details", {}, h("summary", {}, "Parameters of the method"), parameters),
      h("details", {}, h("summary", {}, "Columns and bins"), grid(this.order.columns)),
      h("details", {}, h("summary", {}, "Splits, seed, deadline and labels"), grid(this.order.rest)),
      this.verdict, h("div", { class: "actions" }, this.submit));
  }

  async loadNames() {
    const { target } = this.order;
    const { columns } = await get(`/v1/datasets/${this.order.dataset.read()}`, this.signal);
    this.names.replaceChildren(...columns.map(({ name }) => h("option", { value: name })));
    if (!target.control.value && columns.length) {
      target.control.value = columns.at(-1).name;
      this.changed();
    }
  }

  changed() {
    const specification = this.order.specification();
    const dataset = this.datasets.find(({ id }) => id === specification.dataset_id);
    this.curl.textContent = curl(specification);
    this.python.textContent = python(specification, dataset?.name ?? "data.csv");
    clearTimeout(this.timer);
    this.timer = setTimeout(guarded(() => this.check(specification)), PATIENCE);
  }

  async check(specification) {
    this.latest = specification;
    const mistakes = await this.mistakes(specification);
    if (this.latest === specification) this.judge(mistakes);
  }

  async mistakes(specification) {
    const { problem } = await post("/v1/jobs/check", specification, { signal: this.signal });
    if (!problem) return [];
    return problem.errors ?? [{ pointer: "", detail: problem.detail }];
  }

  judge(errors) {
    const unplaced = this.order.complain(errors);
    const many = errors.length === 1 ? "One field needs" : `${errors.length} fields need`;
    this.verdict.className = errors.length ? "verdict bad" : "verdict good";
    this.verdict.textContent = unplaced.join(" ")
      || (errors.length ? `${many} your attention.` : "Ready to run.");
  }

  async run() {
    const specification = this.order.specification();
    this.submit.disabled = true;
    try {
      const mistakes = await this.mistakes(specification);
      if (mistakes.length) return this.judge(mistakes);
      const job = await post("/v1/jobs", specification, { key: this.keyFor(specification) });
      say("Submitted");
      location.hash = `#/jobs/${job.id}`;
    } finally {
      this.submit.disabled = false;
    }
  }

  // The same key for the same order: a second click is not a second job.
  keyFor(specification) {
    const written = JSON.stringify(specification);
    if (this.written !== written) Object.assign(this, { written, key: randomKey() });
    return this.key;
  }
}

function snippet(title, pre) {
  return h("div", { class: "snippet" },
    h("div", { class: "figure-head" }, h("h3", {}, title), copyButton(() => pre.textContent)), pre);
}

// crypto.randomUUID is only there with TLS or on loopback.
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
