// The fields of a job, filled with what an earlier one asked for or with the usual values.

import { CUTS, methodName } from "../parts/format.js";
import {
  boxesField,
  boxField,
  choiceField,
  listField,
  numberField,
  pairsField,
  textField,
} from "./fields.js";

/**
 * @import { Completed, DatasetSummary, MethodRead } from "contract"
 * @import { Choice } from "./fields.js"
 * @typedef {Partial<Completed> & { dataset_id: string, target: string }} Start
 */

export const COLUMN_NAMES = "column-names";
export const BINS = { bins: 5, strategy: "auto", missing: "auto", target_bins: 5 };
export const N_SPLITS = 10;
export const N_SAMPLES = 50;

/** @type {Choice[]} */
const STRATEGIES = [["auto", "what held-out rows favour"], ...CUTS];

/** @type {Choice[]} */
const MISSING = [
  ["auto", "a level where they inform"],
  ["level", "a level everywhere"],
  ["ignore", "left out"],
];

/** @type {(methods: MethodRead[]) => Choice[]} */
function named(methods) {
  return methods.map(({ name }) => [name, methodName(name)]);
}

/**
 * @param {MethodRead[]} methods
 * @param {DatasetSummary[]} datasets
 * @param {Start} start
 */
export function mainFields(methods, datasets, start) {
  /** @type {Choice[]} */
  const files = datasets.map(({ id, name }) => [id, name ?? id]);
  const target = { at: "/target", label: "Target", hint: "The column to be informed about." };
  const k = { at: "/k", label: "K", hint: "How many features; auto stops where they add nothing clear." };
  return {
    dataset: choiceField({ at: "/dataset_id", label: "Dataset" }, files, start.dataset_id),
    target: textField(target, start.target, { list: COLUMN_NAMES }),
    k: textField(k, start.k ?? "auto"),
    method: choiceField({ at: "/method", label: "Method" }, named(methods), start.method?.name ?? "gsm_cpd"),
  };
}

/**
 * @param {MethodRead[]} methods
 * @param {Start} start
 */
export function experimentFields(methods, { compare, stability, evaluate }) {
  const compared = (compare?.methods ?? []).map(({ name }) => name);
  const measure = "Measure accuracy on held-out rows for every K";
  const nSplits = { at: "/compare/n_splits", label: "comparison splits" };
  const nSamples = { at: "/stability/n_samples", label: "stability samples" };
  return {
    compare: boxesField({ at: "/compare", label: "Compare with" }, named(methods), compared),
    evaluate: boxField({ at: "/evaluate", label: measure }, Boolean(evaluate)),
    stability: boxField({ at: "/stability", label: "Measure how stable the choice is" }, Boolean(stability)),
    splits: numberField(nSplits, compare?.n_splits ?? N_SPLITS),
    samples: numberField(nSamples, stability?.n_samples ?? N_SAMPLES),
  };
}

/** @type {(line: string) => number} */
const lastSign = (line) => line.lastIndexOf("=");

/** @type {(line: string) => number} */
const firstSign = (line) => line.indexOf("=");

/** @param {Start} start */
export function columnFields({ columns, discretize, weight_column: weight }) {
  const kinds = "column = discrete or continuous, one a line, where the service should not decide.";
  return {
    include: listField(
      { at: "/columns/include", label: "chosen first", hint: "One column a line, in this order." },
      columns?.include ?? [],
    ),
    exclude: listField(
      { at: "/columns/exclude", label: "never chosen", hint: "One column a line." },
      columns?.exclude ?? [],
    ),
    candidates: listField(
      { at: "/columns/candidates", label: "only these", hint: "One column a line; all, when empty." },
      columns?.candidates ?? [],
    ),
    kinds: pairsField(
      { at: "/discretize/kinds", label: "kinds", hint: kinds },
      discretize?.kinds ?? {},
      lastSign,
    ),
    bins: numberField(
      { at: "/discretize/bins", label: "bins", hint: "Levels of a continuous column." },
      discretize?.bins ?? BINS.bins,
    ),
    strategy: choiceField(
      { at: "/discretize/strategy", label: "cut by" },
      STRATEGIES,
      discretize?.strategy ?? BINS.strategy,
    ),
    missing: choiceField(
      { at: "/discretize/missing", label: "missing values" },
      MISSING,
      discretize?.missing ?? BINS.missing,
    ),
    targetBins: numberField(
      { at: "/discretize/target_bins", label: "target bins", hint: "Ranges of a target that is a number." },
      discretize?.target_bins ?? BINS.target_bins,
    ),
    weight: textField(
      { at: "/weight_column", label: "weight column", hint: "Optional: how much each row counts." },
      weight,
      { list: COLUMN_NAMES },
    ),
  };
}

/** @param {Start} start */
export function restFields({ seed, deadline_seconds: seconds, labels }) {
  const deadline = "From the submission on; the longest allowed, when empty.";
  return {
    seed: numberField(
      { at: "/seed", label: "seed", hint: "The same seed gives the same answer." },
      seed ?? 0,
    ),
    deadline: numberField({ at: "/deadline_seconds", label: "deadline in seconds", hint: deadline }, seconds),
    labels: pairsField(
      { at: "/labels", label: "labels", hint: "key = value, one a line, to find the job by." },
      labels ?? {},
      firstSign,
    ),
  };
}
