// A job under way: where it is, how long it will take, and what it has found so far.

import { events } from "../api.js";
import { bar, h, say } from "../dom.js";
import { amount, duration, methodName, PHASES } from "../format.js";
import { LiveLine } from "../live.js";

export class Run {
  constructor(root, id, signal) {
    this.phases = h("ol", { class: "phases" });
    this.meter = h("div", { class: "meter" });
    this.words = h("p", {});
    this.likelihood = new LiveLine("Log-likelihood", "nats per row", "seconds");
    this.information = new LiveLine("Information about the target", "nats", "features");
    this.chosen = h("ol", { class: "chosen", "aria-label": "Chosen so far" });
    this.found = h("h2", {});
    this.trials = new Map();
    this.compared = h("div", {});
    root.replaceChildren(
      this.phases, this.meter, this.words,
      h("div", { class: "figures" }, this.likelihood.element, this.information.element),
      this.compared,
      this.found, this.chosen);
    this.leaving = new AbortController();
    signal.addEventListener("abort", () => this.stop());
    this.follow(id).catch((error) => {
      if (error.name !== "AbortError") throw error;
    });
  }

  stop() {
    this.leaving.abort();
  }

  show(job) {
    const phase = PHASES[job.phase];
    if (job.phase !== this.phase) say(phase ?? "Waiting for a worker");
    this.phase = job.phase;
    const names = Object.keys(PHASES).filter((name) => name !== "evaluate" || job.specification.evaluate);
    const at = names.indexOf(job.phase);
    this.phases.replaceChildren(...names.map((name, i) => phaseItem(PHASES[name], i - at, at)));
    this.meter.replaceChildren(bar(job.progress, `${Math.round(100 * job.progress)} %`));
    this.words.textContent = this.sentence(job);
  }

  sentence(job) {
    if (job.cancel_requested_at) return "Stopping at the next step.";
    if (job.status === "queued") return job.attempts ? "Waiting to be tried again." : "Waiting for a worker.";
    const done = `${Math.round(100 * job.progress)} %`;
    const units = job.units ? `, ${job.units.done} of ${job.units.total} parts` : "";
    const elapsed = (job.seen - Date.parse(job.started_at)) / 1000;
    if (job.progress < 0.03 || elapsed < 1) return `${done} done${units}.`;
    return `${done} done${units}, about ${duration((elapsed / job.progress) * (1 - job.progress))} left.`;
  }

  async follow(id) {
    let start = null;
    for await (const { kind, at, data } of events(id, this.leaving.signal)) {
      if (kind === "started") start ??= Date.parse(at); // another attempt goes on along the line
      if (kind === "loglik") this.likelihood.add((Date.parse(at) - start) / 1000, data.loglik);
      if (kind === "selected") this.choose(data);
      if (kind === "unit_succeeded" && data.accuracy !== undefined) this.compare(data);
    }
  }

  compare({ method, accuracy }) {
    this.trials.set(method, [...(this.trials.get(method) ?? []), accuracy]);
    const rows = [...this.trials].map(([name, found]) =>
      ({ name, n: found.length, mean: found.reduce((a, b) => a + b) / found.length }));
    rows.sort((a, b) => b.mean - a.mean);
    this.compared.replaceChildren(h("h2", {}, "Accuracy so far"),
      h("ol", { class: "chosen" }, rows.map(({ name, n, mean }) =>
        h("li", {}, methodName(name), " ",
          h("span", { class: "muted" }, `${amount(mean)}, ${n} ${n === 1 ? "split" : "splits"}`)))));
  }

  // Once more, when another attempt begins anew.
  startChoosing() {
    this.chosen.replaceChildren();
    this.information.clear();
  }

  choose(feature) {
    if (feature.rank === 1) this.startChoosing();
    this.found.textContent = "Chosen so far";
    const value = feature.mi_label ?? feature.gain;
    if (value !== null) this.information.add(feature.rank, value);
    this.chosen.append(h("li", {}, feature.name, " ", h("span", { class: "muted" }, amount(feature.gain))));
  }
}

function phaseItem(name, distance, at) {
  if (at >= 0 && distance === 0) return h("li", { class: "now", "aria-current": "step" }, name);
  return h("li", { class: distance < 0 && at >= 0 ? "done" : "" }, name);
}
