// A job under way: where it is, how long it will take, and what it has found so far.

import { bar, h, say } from "../parts/dom.js";
import { amount, duration, methodName, percent } from "../parts/format.js";
import { LiveLine } from "../parts/live.js";
import { asked, phaseName } from "../parts/record.js";
import { get } from "../service/api.js";
import { isLeaving, pause } from "../service/leaving.js";
import { events } from "../service/streams.js";

/** @import { Chosen, JobRead, Phase } from "contract" */

/** @typedef {"evaluate" | "compare" | "resample"} Experiment */

/** @type {Phase[]} */
const STEPS = ["encode", "rank", "fit", "select", "evaluate", "compare", "resample"];

const PREPARING = "Preparing the worker, once, about 10 s.";

export class Run {
  /**
   * @param {HTMLElement} root
   * @param {string} id
   * @param {AbortSignal} signal
   */
  constructor(root, id, signal) {
    this.phases = h("ol", { class: "phases" });
    this.meter = h("div", { class: "meter" });
    this.words = h("p", {});
    this.likelihood = new LiveLine("Log-likelihood", "nats per row", "seconds", [0]);
    this.information = new LiveLine("Information about the target", "nats", "features");
    this.chosen = h("ol", { class: "chosen", "aria-label": "Chosen so far" });
    this.found = h("h2", {});
    /** @type {Map<string, number[]>} */
    this.trials = new Map();
    this.compared = h("div", {});
    /** @type {Phase | null | undefined} */
    this.phase = undefined;
    const figures = h("div", { class: "figures" }, this.likelihood.element, this.information.element);
    root.replaceChildren(
      this.phases,
      this.meter,
      this.words,
      figures,
      this.compared,
      this.found,
      this.chosen,
    );
    this.isQueued = true;
    this.leaving = new AbortController();
    signal.addEventListener("abort", () => this.stop());
    for (const listening of [this.follow(id), this.queue(id)]) {
      listening.catch((error) => {
        if (!isLeaving(error)) throw error;
      });
    }
  }

  stop() {
    this.leaving.abort();
  }

  /** @param {JobRead} job */
  show(job) {
    if (job.phase !== this.phase) say(phaseName(job.phase) ?? "Waiting for a worker");
    this.phase = job.phase;
    const { evaluate, compare, stability } = asked(job);
    const isAsked = { evaluate, compare, resample: stability };
    const steps = STEPS.filter((step) => !(step in isAsked) || isAsked[/** @type {Experiment} */ (step)]);
    const at = job.phase ? steps.indexOf(job.phase) : -1;
    this.phases.replaceChildren(...steps.map((step, i) => phaseItem(step, i - at, at)));
    this.meter.replaceChildren(bar(job.progress, percent(job.progress)));
    this.isQueued = job.status === "queued";
    if (!this.isQueued || job.attempts) this.words.textContent = sentence(job);
  }

  /**
   * Others before it come and go, by which the job itself does not change.
   * @param {string} id
   */
  async queue(id) {
    while (this.isQueued) {
      const { position } = await get("/v1/jobs/{job_id}/place", { job_id: id });
      if (this.isQueued && position) this.words.textContent = waiting(position);
      await pause(1000, this.leaving.signal);
    }
  }

  /** @param {string} id */
  async follow(id) {
    let start = null;
    for await (const { kind, at, data } of events(id, this.leaving.signal)) {
      const time = Date.parse(at);
      if (kind === "started") start ??= time; // another attempt goes on along the line
      if (kind === "loglik") this.likelihood.add((time - (start ?? time)) / 1000, data.loglik);
      if (kind === "selected") this.choose(data);
      if (kind === "unit_succeeded" && data.method && data.accuracy !== undefined) {
        this.compare(data.method, data.accuracy);
      }
    }
  }

  /** @type {(method: string, accuracy: number) => void} */
  compare(method, accuracy) {
    this.trials.set(method, [...(this.trials.get(method) ?? []), accuracy]);
    const rows = [...this.trials].map(([name, found]) => ({
      name,
      n: found.length,
      mean: found.reduce((a, b) => a + b) / found.length,
    }));
    rows.sort((a, b) => b.mean - a.mean);
    const items = rows.map(({ name, n, mean }) =>
      noted(methodName(name), `${amount(mean)}, ${n} ${n === 1 ? "split" : "splits"}`),
    );
    this.compared.replaceChildren(h("h2", {}, "Accuracy so far"), h("ol", { class: "chosen" }, items));
  }

  /** Once more, when another attempt begins anew. */
  startChoosing() {
    this.chosen.replaceChildren();
    this.information.clear();
  }

  /** @param {Chosen} feature */
  choose(feature) {
    if (feature.rank === 1) this.startChoosing();
    this.found.textContent = "Chosen so far";
    const value = feature.mi_label ?? feature.gain;
    if (value !== null) this.information.add(feature.rank, value);
    this.chosen.append(noted(feature.name, amount(feature.gain)));
  }
}

/** @type {(job: JobRead) => string} */
function sentence(job) {
  if (job.cancel_requested_at) return "Stopping at the next step.";
  if (job.keep_requested_at) return "Ending with what is done.";
  if (job.status === "queued") return "Waiting to be tried again.";
  if (job.phase === "prepare") return PREPARING;
  const units = job.units ? `, ${job.units.done} of ${job.units.total} parts` : "";
  const done = `${percent(job.progress)} done${units}`;
  const left = job.seconds_left;
  return typeof left === "number" ? `${done}, about ${duration(left)} left.` : `${done}.`;
}

/** @type {(position: number) => string} */
function waiting(position) {
  if (position === 1) return "Waiting for a worker; no other job comes before it.";
  const before = position - 1;
  return `Waiting for a worker; ${before} ${before === 1 ? "job comes" : "jobs come"} before it.`;
}

/** @type {(step: Phase, distance: number, at: number) => HTMLElement} */
function phaseItem(step, distance, at) {
  const name = phaseName(step);
  if (at >= 0 && distance === 0) return h("li", { class: "now", "aria-current": "step" }, name);
  return h("li", { class: distance < 0 && at >= 0 ? "done" : "" }, name);
}

/** @type {(name: string, note: string) => HTMLElement} */
function noted(name, note) {
  return h("li", {}, name, " ", h("span", { class: "muted" }, note));
}
