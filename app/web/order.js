// The fields of a job and the specification they make: what differs from the defaults.

import {
  boxesField, boxField, choiceField, listField, numberField, parameterFields, same, textField, typed,
} from "./fields.js";
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

  makeRest({ discretize = BINS, columns = {}, weight_column: weight, seed = 0 }) {
    this.bins = numberField("/discretize/bins", "bins", discretize.bins, "Levels of a continuous column.");
    this.strategy = choiceField("/discretize/strategy", "cut by", STRATEGIES, discretize.strategy);
    this.weight = textField("/weight_column", "weight column", weight ?? "",
      "Optional: how much each row counts.", { list: COLUMN_NAMES });
    this.seed = numberField("/seed", "seed", seed, "The same seed gives the same answer.");
    this.include = listField("/columns/include", "chosen first", columns.include, "One column a line.");
    this.exclude = listField("/columns/exclude", "never chosen", columns.exclude, "One column a line.");
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

  get rest() {
    return [this.splits, this.samples, this.bins, this.strategy, this.weight, this.seed,
      this.include, this.exclude];
  }

  get fields() {
    return [this.dataset, this.target, this.k, this.method, this.compare, this.evaluate,
      this.stability, ...this.rest, ...this.methodFields];
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
      written.compare = { methods: [method, ...others.map((name) => ({ name }))] };
      if (this.splits.read() !== N_SPLITS) written.compare.n_splits = this.splits.read();
    }
    if (this.evaluate.read()) written.evaluate = this.start.evaluate ?? {};
    if (this.stability.read()) {
      const nSamples = this.samples.read();
      written.stability = nSamples === N_SAMPLES ? {} : { n_samples: nSamples };
    }
    return written;
  }

  // What an earlier job was asked beyond the fields here is kept.
  details() {
    const { discretize: cut, columns: asked, labels } = this.start;
    const written = labels && !same(labels, {}) ? { labels } : {};
    const discretize = { bins: this.bins.read(), strategy: this.strategy.read() };
    if (cut?.kinds && !same(cut.kinds, {})) discretize.kinds = cut.kinds;
    if (!same(discretize, BINS)) written.discretize = discretize;
    const columns = { include: this.include.read(), exclude: this.exclude.read() };
    if (asked?.candidates) columns.candidates = asked.candidates;
    if (!same(columns, { include: [], exclude: [] })) written.columns = columns;
    if (this.weight.read()) written.weight_column = this.weight.read();
    if (this.seed.read() !== 0) written.seed = this.seed.read();
    return written;
  }

  // Each mistake at the field it points to; those that point nowhere are returned.
  complain(errors) {
    const mistakes = new Map();
    const unplaced = [];
    for (const { pointer, detail } of errors) {
      const field = this.fieldAt(pointer);
      if (field) mistakes.set(field, detail);
      else unplaced.push(detail);
    }
    for (const field of this.fields) field.complain(mistakes.get(field) ?? "");
    for (const field of mistakes.keys()) field.element.closest("details")?.setAttribute("open", "");
    return unplaced;
  }

  fieldAt(pointer) {
    const holds = (field) => pointer === field.pointer || pointer.startsWith(`${field.pointer}/`);
    return this.fields.filter(holds).sort((a, b) => b.pointer.length - a.pointer.length)[0];
  }
}
