// One job: its head, and below it how it runs or what it found.

import { labelChips, labelEditor, nameHead } from "../parts/described.js";
import { button, h, pill, say } from "../parts/dom.js";
import { methodName, sentence, when } from "../parts/format.js";
import { asked, pills, took } from "../parts/record.js";
import { fileName, save, saveText } from "../parts/save.js";
import { get, getBlob, Problem, patch, remove } from "../service/api.js";
import { watch } from "../service/streams.js";
import { cancelButton } from "./cancel.js";
import { deliveryOf, exportForm, followDelivery } from "./delivery.js";
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
      await showDelivery(head, job, signal);
    } else {
      run ??= new Run(body, id, signal);
      run.show(job);
    }
  }
}

/** @type {(head: HTMLElement, job: JobRead, signal: AbortSignal) => Promise<void>} */
async function showDelivery(head, job, signal) {
  const place = head.querySelector(".way-out");
  if (!place || job.status !== "succeeded") return;
  place.after(exportForm(place, job, signal));
  await followDelivery(place, job, signal);
}

/** @type {(body: HTMLElement, job: JobRead, signal: AbortSignal) => Promise<void>} */
async function showOutcome(body, job, signal) {
  if (job.status === "succeeded") return showResult(body, job, signal);
  const words = job.error ? sentence(job.error.message) : "The job was cancelled.";
  const retry = job.error?.retryable ? " Submitting it again can help." : "";
  body.replaceChildren(h("p", { class: job.error ? "failure" : "notice" }, words, retry));
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
      job.finished_at ? nameHead(title, change, pills(job)) : h("h1", {}, title, " ", pill(job.status)),
      h("p", { class: "muted" }, facts.filter(Boolean).join(" · "), " · ", dataset),
      h("p", { class: "muted code" }, job.id),
      deliveryOf(job),
      job.finished_at ? labelEditor(job.labels, change, "#/jobs") : labelChips(job.labels, "#/jobs"),
    ),
    h("div", { class: "actions" }, job.finished_at ? finalActions(job) : cancelButton(job)),
  );
}

/** @type {(job: JobRead) => HTMLElement[]} */
function finalActions(record) {
  const { id, status } = record;
  const job = { job_id: id };
  const again = h("a", { class: "button quiet", href: `#/new?like=${id}` }, "Change and run again");
  const drop = async () => {
    if (!confirm("Delete this job and its result?")) return;
    await remove("/v1/jobs/{job_id}", job);
    location.hash = "#/jobs";
  };
  const saveReport = async () =>
    save(`${await stem(record)}-report.html`, await getBlob("/v1/jobs/{job_id}/report", job));
  const saveResult = async () => {
    const text = JSON.stringify(await get("/v1/jobs/{job_id}/result", job), null, 1);
    saveText(`${await stem(record)}-result.json`, text, "application/json");
  };
  const results = [button("Report", saveReport, "primary"), button("JSON", saveResult, "quiet")];
  return [...(status === "succeeded" ? results : []), again, button("Delete", drop, "quiet")];
}

/**
 * What files of a job are called: after its table, which may be gone, and its target.
 * @type {(job: JobRead) => Promise<string>}
 */
async function stem(job) {
  try {
    const { name } = await get("/v1/datasets/{dataset_id}", { dataset_id: job.dataset_id });
    return fileName(name ?? job.dataset_id, asked(job).target);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return fileName(asked(job).target);
    throw error;
  }
}
