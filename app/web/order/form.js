// The fields of a job, filled with what an earlier one asked for or with the usual values.

import { CUTS, methodName } from "../parts/format.js";
import { boxesField, boxField, choiceField, numberField, pairsField, textField } from "./fields.js";

/**
 * @import { Completed, ConnectionRead, DatasetSummary, MethodRead } from "contract"
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
  const target = {
    at: "/target",
    label: "Target",
    hint: "The column you want to know about; the others are chosen for what they tell about it.",
  };
  const k = {
    at: "/k",
    label: "K",
    hint: "How many columns to choose. auto stops where one more tells nothing that held-out rows confirm.",
  };
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
    compare: boxesField(
      {
        at: "/compare",
        label: "Compare with",
        hint: "Each chooses on the same rows; held-out rows tell which choice is best.",
      },
      named(methods),
      compared,
    ),
    evaluate: boxField(
      { at: "/evaluate", label: measure, hint: "Learns on some rows and predicts the others." },
      Boolean(evaluate),
    ),
    stability: boxField(
      {
        at: "/stability",
        label: "Measure how stable the choice is",
        hint: "Chooses again on random halves of the rows, and counts how often each column comes back.",
      },
      Boolean(stability),
    ),
    splits: numberField(nSplits, compare?.n_splits ?? N_SPLITS),
    samples: numberField(nSamples, stability?.n_samples ?? N_SAMPLES),
  };
}

/** @type {(line: string) => number} */
const lastSign = (line) => line.lastIndexOf("=");

/** @type {(line: string) => number} */
const firstSign = (line) => line.indexOf("=");

/** @param {Start} start */
export function columnFields({ discretize, weight_column: weight }) {
  const kinds =
    "column = discrete or continuous, one a line. Discrete values are levels of their own; continuous ones are cut into bins.";
  return {
    kinds: pairsField(
      { at: "/discretize/kinds", label: "kinds", hint: kinds },
      discretize?.kinds ?? {},
      lastSign,
    ),
    bins: numberField(
      { at: "/discretize/bins", label: "bins", hint: "Into how many levels a column of numbers is cut." },
      discretize?.bins ?? BINS.bins,
    ),
    strategy: choiceField(
      { at: "/discretize/strategy", label: "cut by", hint: "Where the borders between the bins lie." },
      STRATEGIES,
      discretize?.strategy ?? BINS.strategy,
    ),
    missing: choiceField(
      { at: "/discretize/missing", label: "missing values", hint: "Whether having no value counts as one." },
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

/**
 * Where the files of the result go, if anywhere.
 * @param {ConnectionRead[]} connections
 * @param {Partial<NonNullable<Start["destination"]>> | null} [destination]
 */
export function destinationFields(connections, destination) {
  const writable = connections.filter(({ write }) => write?.length);
  /** @type {Choice[]} */
  const places = [["", "nowhere"], ...writable.map(({ name }) => /** @type {Choice} */ ([name, name]))];
  const [first] = writable;
  const usual = first ? `${first.write?.[0] ? `${first.write[0]}/` : ""}{name}/{job_id}/` : "";
  return {
    connection: choiceField(
      { at: "/destination/connection", label: "files go to", hint: "A connection that may be written." },
      places,
      destination?.connection ?? "",
    ),
    path: textField(
      { at: "/destination/path", label: "folder", hint: "{name} and {job_id} are filled in." },
      destination?.path ?? usual,
    ),
    data: boxField({ at: "/destination/data", label: "with the reduced table" }, destination?.data ?? false),
  };
}

/** @param {Start} start */
export function restFields({ seed, deadline_seconds: seconds, labels, title }) {
  const deadline = "From the submission on; the longest allowed, when empty.";
  return {
    seed: numberField(
      { at: "/seed", label: "seed", hint: "The same seed gives the same answer." },
      seed ?? 0,
    ),
    deadline: numberField({ at: "/deadline_seconds", label: "deadline in seconds", hint: deadline }, seconds),
    title: textField(
      { at: "/title", label: "title", hint: "What you call this job; its target, when empty." },
      title,
    ),
    labels: pairsField(
      { at: "/labels", label: "labels", hint: "key = value, one a line, to find the job by." },
      labels ?? {},
      firstSign,
    ),
  };
}
