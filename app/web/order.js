// The fields of a job and the specification they make: what differs from the defaults.

import {
  boxesField, boxField, choiceField, listField, numberField, pairsField, parameterFields, same, textField, typed,
} from "./fields.js";
import { sentence } from "./api.js";
import { h } from "./dom.js";
import { methodName } from "./format.js";

const BINS = { bins: 5, strategy: "uniform" };
const STRATEGIES = [["uniform", "equal width"], ["quantile", "quantiles"]];
const N_SPLITS = 10;
const N_SAMPLES = 50;
export const COLUMN_NAMES = "column-names";

export class Order {
  constructor(methods, datasets, start) {
    this.methods = methods;
    this.start = start;
    this.parameters = h("div", { class: "grid-fields" });
    this.makeMain(datasets, start);
    this.makeExperiments(start);
    this.makeColumns(start);
    this.makeRest(start);
    this.chooseMethod(start.method);
    this.method.control.addEventListener("change", () => this.chooseMethod());
  }

  makeMain(datasets, start) {
    const names = this.methods.map(({ name }) => [name, methodName(name)]);
    const files = datasets.map(({ id, name }) => [id, name ?? id]);
    this.dataset = choiceField("/dataset_id", "Dataset", files, start.dataset_id);
    this.target = textField("/target", "Target", start.target,
      "The column to be informed about.", { list: COLUMN_NAMES });
    this.k = textField("/k", "K", start.k ?? "auto",
      "How many features; auto stops where they add nothing clear.");
    this.method = choiceField("/method", "Method", names, start.method?.name ?? "gsm_cpd");
    this.about = h("p", { class: "hint" });
    this.method.element.append(this.about);
  }

  makeExperiments({ compare, stability, evaluate }) {
    const names = this.methods.map(({ name }) => [name, methodName(name)]);
    const compared = (compare?.methods ?? []).map(({ name }) => name);
    this.compare = boxesField("/compare", "Compare with", names, compared);
    this.splits = numberField("/compare/n_splits", "comparison splits", compare?.n_splits ?? N_SPLITS);
    this.evaluate = boxField("/evaluate", "Measure accuracy on held-out rows for every K", Boolean(evaluate));
    this.stability = boxField("/stability", "Measure how stable the choice is", Boolean(stability));
    this.samples = numberField("/stability/n_samples", "stability samples",
      stability?.n_samples ?? N_SAMPLES);
  }

  makeColumns({ columns = {}, discretize = BINS, weight_column: weight }) {
    const list = (name, label, hint) => listField(`/columns/${name}`, label, columns[name], hint);
    this.include = list("include", "chosen first", "One column a line, in this order.");
    this.exclude = list("exclude", "never chosen", "One column a line.");
    this.candidates = list("candidates", "only these", "One column a line; all, when empty.");
    this.kinds = pairsField("/discretize/kinds", "kinds", discretize.kinds,
      "column = discrete or continuous, one a line, where the service should not decide.",
      (line) => line.lastIndexOf("="));
    this.bins = numberField("/discretize/bins", "bins", discretize.bins, "Levels of a continuous column.");
    this.strategy = choiceField("/discretize/strategy", "cut by", STRATEGIES, discretize.strategy);
    this.weight = textField("/weight_column", "weight column", weight ?? "",
      "Optional: how much each row counts.", { list: COLUMN_NAMES });
  }

  makeRest({ seed = 0, deadline_seconds: deadline, labels }) {
    this.seed = numberField("/seed", "seed", seed, "The same seed gives the same answer.");
    this.deadline = numberField("/deadline_seconds", "deadline in seconds", deadline,
      "From the submission on; the longest allowed, when empty.");
    this.labels = pairsField("/labels", "labels", labels, "key = value, one a line, to find the job by.",
      (line) => line.indexOf("="));
  }

  chooseMethod(given = {}) {
    const method = this.methods.find(({ name }) => name === this.method.read());
    this.methodFields = parameterFields(method.parameters, given);
    this.about.textContent = method.summary;
    for (const label of this.compare.control.children) {
      label.hidden = label.firstChild.value === method.name;
    }
    const none = h("p", { class: "muted" }, "This method has no parameters.");
    const shown = this.methodFields.map((field) => field.element);
    this.parameters.replaceChildren(...(shown.length ? shown : [none]));
  }

  get columns() {
    return [this.include, this.exclude, this.candidates, this.kinds, this.bins, this.strategy, this.weight];
  }

  get rest() {
    return [this.splits, this.samples, this.seed, this.deadline, this.labels];
  }

  get fields() {
    return [this.dataset, this.target, this.k, this.method, this.compare, this.evaluate,
      this.stability, ...this.columns, ...this.rest, ...this.methodFields];
  }

  specification() {
    const method = { name: this.method.read() };
    for (const field of this.methodFields) {
      if (!same(field.read(), field.standard)) method[field.name] = field.read();
    }
    return {
      dataset_id: this.dataset.read(),
      target: this.target.read() ?? "",
      k: typed(this.k.control.value),
      ...(same(method, { name: "gsm_cpd" }) ? {} : { method }),
      ...this.experiments(method),
      ...this.details(),
    };
  }

  experiments(method) {
    const written = {};
    const others = this.compare.read().filter((name) => name !== method.name);
    if (others.length) {
      written.compare = { methods: [method, ...others.map((name) => this.compared(name))] };
      if (this.splits.read() !== N_SPLITS) written.compare.n_splits = this.splits.read();
    }
    if (this.evaluate.read()) written.evaluate = this.start.evaluate ?? {};
    if (this.stability.read()) {
      const nSamples = this.samples.read();
      written.stability = nSamples === N_SAMPLES ? {} : { n_samples: nSamples };
    }
    return written;
  }

  // With the parameters it was compared with before, unless they are the usual ones.
  compared(name) {
    const given = this.start.compare?.methods.find((method) => method.name === name) ?? {};
    const { properties } = this.methods.find((method) => method.name === name).parameters;
    const unusual = Object.entries(given).filter(([key, value]) => !same(value, properties[key].default));
    return { ...Object.fromEntries(unusual), name };
  }

  details() {
    const { include, exclude, candidates, kinds, bins, strategy } = this;
    const columns = filled({ include: include.read(), exclude: exclude.read(), candidates: candidates.read() });
    const cut = { bins: bins.read(), strategy: strategy.read(), ...filled({ kinds: kinds.read() }) };
    return filled({
      columns,
      discretize: same(cut, BINS) ? {} : cut,
      weight_column: this.weight.read(),
      seed: this.seed.read() === 0 ? undefined : this.seed.read(),
      deadline_seconds: this.deadline.read(),
      labels: this.labels.read(),
    });
  }

  // Each mistake at the field it points to; those that point nowhere are returned.
  complain(errors) {
    const mistakes = new Map();
    const unplaced = [];
    for (const { pointer, detail } of errors) {
      const field = this.fieldAt(pointer);
      if (field) mistakes.set(field, [...(mistakes.get(field) ?? []), sentence(detail)]);
      else unplaced.push(sentence(detail));
    }
    for (const field of this.fields) field.complain((mistakes.get(field) ?? []).join("\n"));
    for (const field of mistakes.keys()) field.element.closest("details")?.setAttribute("open", "");
    return unplaced;
  }

  fieldAt(pointer) {
    const holds = (field) => pointer === field.pointer || pointer.startsWith(`${field.pointer}/`);
    return this.fields.filter(holds).sort((a, b) => b.pointer.length - a.pointer.length)[0];
  }
}

// Without what says nothing.
function filled(parts) {
  const speaks = (value) => value !== undefined && !(typeof value === "object" && !Object.keys(value).length);
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => speaks(value)));
}
