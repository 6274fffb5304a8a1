// One job: its head, and below it how it runs or what it found.

import { get, getBlob, post, remove, watch } from "../api.js";
import { button, h, pill, say } from "../dom.js";
import { duration, methodName, when } from "../format.js";
import { save } from "../save.js";
import { Run } from "./run.js";
import { showResult } from "./result.js";

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
    } else {
      run ??= new Run(body, id, signal);
      run.show(job);
    }
  }
}

async function showOutcome(body, job, signal) {
  if (job.status === "succeeded") return showResult(body, job, signal);
  const words = {
    failed: `The job failed: ${job.error?.message}.`,
    expired: `The job expired: ${job.error?.message}.`,
    cancelled: "The job was cancelled.",
  }[job.status];
  const retry = job.error?.retryable ? " Submitting it again can help." : "";
  body.replaceChildren(h("p", { class: job.error ? "failure" : "notice" }, words.replace("..", "."), retry));
}

function jobHead(job) {
  const { target, k, method, seed, compare, stability } = job.specification;
  const facts = [
    `${methodName(method.name)}, K ${k}`,
    compare ? `${compare.methods.length} methods compared` : null,
    stability ? `stability of ${stability.n_samples} samples` : null,
    `seed ${seed}`,
    `submitted ${when(job.created_at)}`,
    job.finished_at && job.started_at
      ? `took ${duration((Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000)}` : null,
  ].filter(Boolean).join(" · ");
  return h("div", { class: "head" },
    h("div", {}, h("h1", {}, target, " ", pill(job.status)), h("p", { class: "muted" }, facts,
      " · ", h("a", { href: `#/datasets/${job.dataset_id}` }, "dataset")),
      h("p", { class: "muted code" }, job.id)),
    h("div", { class: "actions" }, ...actions(job)));
}

function actions(job) {
  if (!job.finished_at) {
    const words = job.cancel_requested_at ? "Stopping …" : "Cancel";
    const stop = button(words, () => post(`/v1/jobs/${job.id}/cancel`));
    stop.disabled = Boolean(job.cancel_requested_at);
    return [stop];
  }
  const again = h("a", { class: "button quiet", href: `#/new?like=${job.id}` }, "Change and run again");
  const drop = button("Delete", async () => {
    if (!confirm("Delete this job and its result?")) return;
    await remove(`/v1/jobs/${job.id}`);
    location.hash = "#/jobs";
  }, "quiet");
  if (job.status !== "succeeded") return [again, drop];
  const report = button("Report", async () =>
    save(`pith-${job.id}.html`, await getBlob(`/v1/jobs/${job.id}/report`)), "primary");
  const result = button("JSON", async () => {
    const text = JSON.stringify(await get(`/v1/jobs/${job.id}/result`), null, 1);
    save(`pith-${job.id}.json`, new Blob([text], { type: "application/json" }));
  }, "quiet");
  return [report, result, again, drop];
}
