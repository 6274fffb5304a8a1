// Which view is shown: the part of the address after #.

import { installKey } from "./key.js";
import { alarm, fixed, h, reason, say, showAway } from "./parts/dom.js";
import { isLeaving } from "./service/leaving.js";
import { finishSignIn } from "./service/sign_in.js";
import { installTheme } from "./theme.js";
import { showComparison } from "./views/compare.js";
import { showDataset } from "./views/dataset.js";
import { showDatasets } from "./views/datasets.js";
import { showJob } from "./views/job.js";
import { showJobs } from "./views/jobs.js";
import { showNewJob } from "./views/new_job.js";

/**
 * @import { Place } from "contract"
 * @typedef {(root: HTMLElement, place: Place) => Promise<void>} View
 */

/** @type {[pattern: RegExp, view: View, title: string][]} */
const VIEWS = [
  [/^\/jobs$/, showJobs, "Jobs"],
  [/^\/jobs\/(job_\w+)$/, showJob, "Job"],
  [/^\/compare$/, showComparison, "Two jobs"],
  [/^\/datasets$/, showDatasets, "Datasets"],
  [/^\/datasets\/(ds_\w+)$/, showDataset, "Dataset"],
  [/^\/new$/, showNewJob, "New job"],
];

let leaving = new AbortController();

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [path = "", query] = (location.hash.slice(1) || "/jobs").split("?");
  const found = VIEWS.find(([pattern]) => pattern.test(path));
  const root = h("div", { class: "view" });
  fixed("content", HTMLElement).replaceChildren(root);
  markCurrent(path);
  if (!found) {
    root.append(h("h1", {}, "There is no such page"), h("a", { href: "#/jobs" }, "To the jobs"));
    return;
  }
  const [pattern, view, title] = found;
  document.title = `${title} · Pith`;
  say(title);
  scrollTo(0, 0);
  try {
    await view(root, { id: pattern.exec(path)?.[1] ?? "", query: new URLSearchParams(query), signal });
  } catch (error) {
    if (!isLeaving(error)) showFailure(root, title, error);
  }
}

/** @type {(root: HTMLElement, title: string, error: unknown) => void} */
function showFailure(root, title, error) {
  if (!root.querySelector("h1")) root.append(h("h1", {}, title));
  const jobs = h("a", { href: "#/jobs" }, "To the jobs");
  const datasets = h("a", { href: "#/datasets" }, "the datasets");
  root.append(h("p", { class: "failure" }, reason(error)), h("p", {}, jobs, " or ", datasets));
}

/** @type {(path: string) => void} */
function markCurrent(path) {
  for (const link of document.querySelectorAll("nav a")) {
    const here = path.startsWith(link.getAttribute("href")?.slice(1) ?? "");
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function focusContent() {
  fixed("content", HTMLElement).focus();
}

addEventListener("hashchange", () => {
  show();
  focusContent();
});
addEventListener("unhandledrejection", (event) => {
  if (isLeaving(event.reason)) event.preventDefault();
  else alarm(reason(event.reason));
});
addEventListener("service-away", () => showAway(true));
addEventListener("service-back", () => showAway(false));
fixed("skip", HTMLElement).addEventListener("click", (event) => {
  event.preventDefault();
  focusContent();
});
installTheme();
finishSignIn()
  .catch((error) => alarm(reason(error)))
  .then(() => {
    installKey(show);
    show();
  });
