// A job's record, for people: what was asked, how far it is, how long it took.

import { pill } from "./dom.js";
import { duration } from "./format.js";

/** @import { Completed, JobRead, JobSummary, Phase } from "contract" */

/**
 * The contract calls it an object; it is a specification with every part.
 * @type {(job: JobRead) => Completed}
 */
export function asked(job) {
  return /** @type {Completed} */ (job.specification);
}

/** @type {Record<Phase, string>} */
const PHASES = {
  prepare: "Preparing the worker",
  encode: "Encoding columns",
  rank: "Searching cuts and states",
  fit: "Fitting the model",
  select: "Choosing features",
  evaluate: "Measuring accuracy",
  compare: "Comparing methods",
  resample: "Drawing samples",
};

/** @type {(phase: Phase | null) => string | null} */
export function phaseName(phase) {
  return phase && PHASES[phase];
}

/**
 * Where it stands, and whether what it found is not all that was asked.
 * @type {(job: JobRead | JobSummary) => HTMLElement[]}
 */
export function pills({ status, partial }) {
  return [pill(status), ...(partial ? [pill("partial")] : [])];
}

/** @type {(job: JobRead | JobSummary) => string} */
export function took(job) {
  if (!job.started_at || !job.finished_at) return "";
  return duration((Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000);
}
