// Stopping a job: at once or, when its features are chosen, with what is done.

import { button, h } from "../parts/dom.js";
import { post } from "../service/api.js";

/** @import { JobRead, JobSummary } from "contract" */

const CHOSEN = ["evaluate", "compare", "resample"];

/** @type {(job: JobRead | JobSummary, kind?: string) => HTMLElement} */
export function cancelButton(job, kind) {
  const isAsked = Boolean(job.cancel_requested_at ?? job.keep_requested_at);
  const canKeep = job.status === "running" && CHOSEN.includes(job.phase ?? "");
  const stop = button(
    isAsked ? "Stopping …" : "Cancel",
    () => (canKeep ? ask(job) : cancel(job, false)),
    kind,
  );
  stop.disabled = isAsked;
  return stop;
}

/** @type {(job: JobRead | JobSummary, keep: boolean) => Promise<unknown>} */
function cancel(job, keep) {
  return post("/v1/jobs/{job_id}/cancel", { job_id: job.id, keep });
}

/** @type {(job: JobRead | JobSummary) => void} */
function ask(job) {
  const dialog = h("dialog", { "aria-labelledby": "cancel-title" });
  const close = () => dialog.close();
  /** @type {(keep: boolean) => () => Promise<unknown>} */
  const end = (keep) => () => {
    close();
    return cancel(job, keep);
  };
  const words =
    "The features are chosen. They can be kept with all that is measured so far, as a partial result.";
  dialog.append(
    h("h2", { id: "cancel-title" }, "Keep what is done?"),
    h("p", {}, words),
    h(
      "div",
      { class: "actions" },
      button("Keep it", end(true), "primary"),
      button("Discard it", end(false)),
      button("Go on", close, "quiet"),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  addEventListener("hashchange", close, { once: true });
  document.body.append(dialog);
  dialog.showModal();
}
