// One job: its head, and below it how it runs or what it found.

import { labelChips, labelEditor, nameHead } from "../parts/described.js";
import { button, h, pill, say } from "../parts/dom.js";
import { methodName, when } from "../parts/format.js";
import { asked, took } from "../parts/record.js";
import { save, saveText } from "../parts/save.js";
import { get, getBlob, patch, post, remove } from "../service/api.js";
import { pause } from "../service/leaving.js";
import { watch } from "../service/streams.js";
import { showResult } from "./result.js";
import { Run } from "./run.js";

/**
 * @import { JobRead, Place } from "contract"
 * @import { Change } from "../parts/described.js"
 */

/** @type {(root: HTMLElement, place: Place) => Promise<void>} */
export async function showJob(root, { id, signal }) {
  const head = h("div", {});
  const body = h("div", {});
  root.append(head, body);
  let run = null;
  for await (const job of watch(id, signal)) {
    head.replaceChildren(jobHead(job));
    if (job.finished_at) {
      run?.stop();
      say(`The job ${job.status}`);
      await showOutcome(body, job, signal);
      await followDelivery(head, job, signal);
    } else {
      run ??= new Run(body, id, signal);
      run.show(job);
    }
  }
}

/**
 * A final job changes no more, but its files may still be on their way.
 * @type {(head: HTMLElement, job: JobRead, signal: AbortSignal) => Promise<void>}
 */
async function followDelivery(head, job, signal) {
  let now = job;
  while (now.delivery?.status === "pending") {
    await pause(1000, signal);
    now = await get("/v1/jobs/{job_id}", { job_id: job.id }, signal);
    head.querySelector(".delivery")?.replaceWith(deliveryLine(now));
  }
}

/** @type {(job: JobRead) => HTMLElement | ""} */
function deliveryLine({ delivery }) {
  if (!delivery) return "";
  const { status, connection, path, n_files: nFiles, n_written: nWritten, error } = delivery;
  const far = status === "pending" && nFiles ? `, ${nWritten} of ${nFiles} files` : "";
  const why = error ? `: ${error}` : "";
  return h("p", { class: "muted delivery" }, `Files to ${connection}/${path} `, pill(status), `${far}${why}`);
}

/** @type {(body: HTMLElement, job: JobRead, signal: AbortSignal) => Promise<void>} */
async function showOutcome(body, job, signal) {
  if (job.status === "succeeded") return showResult(body, job, signal);
  const words = job.error ? `The job ${job.status}: ${job.error.message}.` : "The job was cancelled.";
  const retry = job.error?.retryable ? " Submitting it again can help." : "";
  body.replaceChildren(h("p", { class: job.error ? "failure" : "notice" }, words.replace("..", "."), retry));
}

/** @type {(actor: JobRead["submitted_by"]) => string} */
function submitter(actor) {
  return actor?.id ? ` by ${actor.name || actor.id}` : "";
}

/** @type {(job: JobRead) => HTMLElement} */
function jobHead(job) {
  const { target, k, method, seed, compare, stability } = asked(job);
  const title = job.title ?? target;
  /** @type {Change} */
  const change = ({ name, labels }) =>
    patch("/v1/jobs/{job_id}", { job_id: job.id }, name === undefined ? { labels } : { title: name });
  const facts = [
    job.title ? `about ${target}` : null,
    `${methodName(method.name)}, K ${k}`,
    compare ? `${compare.methods.length} methods compared` : null,
    stability ? `stability of ${stability.n_samples} samples` : null,
    `seed ${seed}`,
    `submitted ${when(job.created_at)}${submitter(job.submitted_by)}`,
    took(job) ? `took ${took(job)}` : null,
  ];
  const dataset = h("a", { href: `#/datasets/${job.dataset_id}` }, "dataset");
  return h(
    "div",
    { class: "head" },
    h(
      "div",
      {},
      job.finished_at
        ? nameHead(title, change, [pill(job.status)])
        : h("h1", {}, title, " ", pill(job.status)),
      h("p", { class: "muted" }, facts.filter(Boolean).join(" · "), " · ", dataset),
      h("p", { class: "muted code" }, job.id),
      deliveryLine(job),
      job.finished_at ? labelEditor(job.labels, change, "#/jobs") : labelChips(job.labels, "#/jobs"),
    ),
    h("div", { class: "actions" }, job.finished_at ? finalActions(job) : cancelButton(job)),
  );
}

/** @type {(job: JobRead) => HTMLElement} */
function cancelButton(job) {
  const words = job.cancel_requested_at ? "Stopping …" : "Cancel";
  const stop = button(words, () => post("/v1/jobs/{job_id}/cancel", { job_id: job.id }));
  stop.disabled = Boolean(job.cancel_requested_at);
  return stop;
}

/** @type {(job: JobRead) => HTMLElement[]} */
function finalActions({ id, status }) {
  const job = { job_id: id };
  const again = h("a", { class: "button quiet", href: `#/new?like=${id}` }, "Change and run again");
  const drop = async () => {
    if (!confirm("Delete this job and its result?")) return;
    await remove("/v1/jobs/{job_id}", job);
    location.hash = "#/jobs";
  };
  const saveReport = async () => save(`pith-${id}.html`, await getBlob("/v1/jobs/{job_id}/report", job));
  const saveResult = async () => {
    const text = JSON.stringify(await get("/v1/jobs/{job_id}/result", job), null, 1);
    saveText(`pith-${id}.json`, text, "application/json");
  };
  const results = [button("Report", saveReport, "primary"), button("JSON", saveResult, "quiet")];
  return [...(status === "succeeded" ? results : []), again, button("Delete", drop, "quiet")];
}
