// Which view is shown: the part of the address after #.

import { alarm, h, say, showAway } from "./dom.js";
import { installKey } from "./key.js";
import { installTheme } from "./theme.js";
import { showDataset } from "./views/dataset.js";
import { showDatasets } from "./views/datasets.js";
import { showJob } from "./views/job.js";
import { showJobs } from "./views/jobs.js";
import { showNewJob } from "./views/new_job.js";

const VIEWS = [
  [/^\/jobs$/, showJobs, "Jobs"],
  [/^\/jobs\/(job_\w+)$/, showJob, "Job"],
  [/^\/datasets$/, showDatasets, "Datasets"],
  [/^\/datasets\/(ds_\w+)$/, showDataset, "Dataset"],
  [/^\/new$/, showNewJob, "New job"],
];

let leaving = new AbortController();

async function show() {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [path, query] = (location.hash.slice(1) || "/jobs").split("?");
  const found = VIEWS.find(([pattern]) => pattern.test(path));
  const main = document.getElementById("content");
  const root = h("div", { class: "view" });
  main.replaceChildren(root);
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
    await view(root, { id: path.match(pattern)[1], query: new URLSearchParams(query), signal });
  } catch (error) {
    if (error.name !== "AbortError") showFailure(root, title, error);
  }
}

function showFailure(root, title, error) {
  if (!root.querySelector("h1")) root.append(h("h1", {}, title));
  root.append(h("p", { class: "failure" }, error.message),
    h("p", {}, h("a", { href: "#/jobs" }, "To the jobs"), " or ", h("a", { href: "#/datasets" }, "the datasets")));
}

function markCurrent(path) {
  for (const link of document.querySelectorAll("nav a")) {
    const here = path.startsWith(link.getAttribute("href").slice(1));
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

addEventListener("hashchange", () => {
  show();
  document.getElementById("content").focus();
});
addEventListener("unhandledrejection", (event) => {
  if (event.reason?.name === "AbortError") event.preventDefault();
  else alarm(event.reason?.message ?? "Something went wrong.");
});
addEventListener("service-away", () => showAway(true));
addEventListener("service-back", () => showAway(false));
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("content").focus();
});
installTheme();
installKey(show);
show();
