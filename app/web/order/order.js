// What is asked for: the specification that the fields of a job make, without what is usual.

import { h } from "../parts/dom.js";
import { same, typed } from "./fields.js";
import {
  BINS,
  columnFields,
  destinationFields,
  experimentFields,
  mainFields,
  N_SAMPLES,
  N_SPLITS,
  restFields,
} from "./form.js";
import { complain } from "./mistakes.js";
import { parameterFields, propertiesOf } from "./parameters.js";
import { ColumnPicker } from "./picker.js";

/**
 * @import { ConnectionRead, DatasetSummary, MethodRead, ProblemField } from "contract"
 * @import { Field } from "./fields.js"
 * @import { Start } from "./form.js"
 * @typedef {string | number | undefined} Typed
 * @typedef {Record<string, unknown> & { name: string }} MethodDraft
 * @typedef {{
 *   compare?: { methods: MethodDraft[], n_splits?: Typed },
 *   evaluate?: object,
 *   stability?: { n_samples?: Typed },
 * }} Experiments
 * @typedef {{
 *   columns?: object,
 *   discretize?: object,
 *   weight_column?: string,
 *   seed?: Typed,
 *   title?: string,
 *   deadline_seconds?: Typed,
 *   labels?: Record<string, string>,
 *   destination?: object,
 * }} Details
 * @typedef {Experiments & Details & {
 *   dataset_id: string,
 *   target: string,
 *   k: string | number,
 *   method?: MethodDraft,
 * }} Draft what was typed may be wrong: the service checks it and explains
 */

export class Order {
  /**
   * @param {MethodRead[]} methods
   * @param {DatasetSummary[]} datasets
   * @param {Start} start
   * @param {ConnectionRead[]} connections
   */
  constructor(methods, datasets, start, connections) {
    this.methods = methods;
    this.start = start;
    this.main = mainFields(methods, datasets, start);
    this.experiments = experimentFields(methods, start);
    this.columns = columnFields(start);
    this.rest = restFields(start);
    this.destination = destinationFields(connections, start.destination);
    this.picker = new ColumnPicker(start.columns ?? {});
    this.parameters = h("div", { class: "grid-fields" });
    this.about = h("p", { class: "hint" });
    this.main.method.element.append(this.about);
    this.methodFields = this.chooseMethod(start.method);
    this.main.method.control.addEventListener("change", () => {
      this.methodFields = this.chooseMethod();
    });
  }

  /** @type {(name: string) => MethodRead} */
  method(name) {
    const method = this.methods.find((one) => one.name === name);
    if (!method) throw new Error(`There is no method ${name}.`);
    return method;
  }

  /** @param {Record<string, unknown>} [given] */
  chooseMethod(given = {}) {
    const method = this.method(this.main.method.read());
    const fields = parameterFields(method, given);
    const none = h("p", { class: "muted" }, "This method has no parameters.");
    this.about.textContent = method.summary;
    this.experiments.compare.hide(method.name);
    this.parameters.replaceChildren(...(fields.length ? fields.map(({ element }) => element) : [none]));
    return fields;
  }

  /** @returns {Field[]} */
  get fields() {
    const parts = [this.main, this.experiments, this.columns, this.rest, this.destination, this.methodFields];
    return [...parts.flatMap((part) => Object.values(part)), this.picker.field];
  }

  /** @returns {Draft} */
  specification() {
    const { dataset, target, k } = this.main;
    const method = this.methodDraft();
    return {
      dataset_id: dataset.read(),
      target: target.read() ?? "",
      k: typed(k.control.value),
      ...(same(method, { name: "gsm_cpd" }) ? {} : { method }),
      ...this.experimentsOf(method),
      ...this.details(),
    };
  }

  methodDraft() {
    /** @type {MethodDraft} */
    const method = { name: this.main.method.read() };
    for (const field of this.methodFields) {
      if (!same(field.read(), field.standard)) method[field.name] = field.read();
    }
    return method;
  }

  /** @type {(method: MethodDraft) => Experiments} */
  experimentsOf(method) {
    const { compare, splits, evaluate, stability, samples } = this.experiments;
    /** @type {Experiments} */
    const written = {};
    const others = compare.read().filter((name) => name !== method.name);
    if (others.length) {
      written.compare = { methods: [method, ...others.map((name) => this.compared(name))] };
      if (splits.read() !== N_SPLITS) written.compare.n_splits = splits.read();
    }
    if (evaluate.read()) written.evaluate = this.start.evaluate ?? {};
    if (stability.read()) {
      const nSamples = samples.read();
      written.stability = nSamples === N_SAMPLES ? {} : { n_samples: nSamples };
    }
    return written;
  }

  /**
   * With the parameters it was compared with before, unless they are the usual ones.
   * @type {(name: string) => MethodDraft}
   */
  compared(name) {
    const given = this.start.compare?.methods.find((method) => method.name === name) ?? {};
    const properties = propertiesOf(this.method(name));
    const unusual = Object.entries(given).filter(([key, value]) => !same(value, properties[key]?.default));
    return { ...Object.fromEntries(unusual), name };
  }

  /** @returns {Details} */
  details() {
    const { kinds, bins, strategy, missing, targetBins, weight } = this.columns;
    const { seed, deadline, labels, title } = this.rest;
    const cut = {
      bins: bins.read(),
      strategy: strategy.read(),
      missing: missing.read(),
      target_bins: targetBins.read(),
      ...filled({ kinds: kinds.read() }),
    };
    return filled({
      columns: filled(this.picker.read()),
      discretize: same(cut, BINS) ? {} : cut,
      weight_column: weight.read(),
      seed: seed.read() === 0 ? undefined : seed.read(),
      deadline_seconds: deadline.read(),
      title: title.read(),
      labels: labels.read(),
      destination: this.way(),
    });
  }

  /** Where the files go; nowhere, unless a connection is chosen. */
  way() {
    const { connection, path, data } = this.destination;
    if (!connection.read()) return {};
    const place = { connection: connection.read(), path: path.read() ?? "" };
    return data.read() ? { ...place, data: true } : place;
  }

  /**
   * Each mistake at the field it points to; those that point nowhere are returned.
   * @type {(errors: ProblemField[]) => string[]}
   */
  complain(errors) {
    return complain(this.fields, errors);
  }
}

/**
 * Without what says nothing.
 * @type {<Parts extends object>(parts: Parts) => Partial<Parts>}
 */
function filled(parts) {
  const speaks = (/** @type {unknown} */ value) =>
    value !== undefined && !(typeof value === "object" && value && !Object.keys(value).length);
  const entries = Object.entries(parts).filter(([, value]) => speaks(value));
  return /** @type {Partial<typeof parts>} */ (Object.fromEntries(entries));
}
