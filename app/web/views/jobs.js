// Jobs: a live list.

import { labelChips } from "../parts/described.js";
import { bar, h } from "../parts/dom.js";
import { Finder } from "../parts/finder.js";
import { methodName, percent, sentence, when } from "../parts/format.js";
import { LiveList } from "../parts/list.js";
import { phaseName, pills, took } from "../parts/record.js";
import { Ticks } from "../parts/ticks.js";
import { get } from "../service/api.js";
import { cancelButton } from "./cancel.js";
import { tryButton } from "./example.js";

/**
 * @import { JobSummary, Place, Status } from "contract"
 * @import { Child } from "../parts/dom.js"
 * @import { Head } from "../parts/list.js"
 * @typedef {Map<string, string | null>} Names
 */

/** @type {Status[]} */
const STATUSES = ["queued", "running", "succeeded", "failed", "cancelled", "expired"];

/** @type {["newest" | "oldest" | "name", string][]} */
const SORTS = [
  ["newest", "newest first"],
  ["oldest", "oldest first"],
  ["name", "by name"],
];

const SHOWN = 4;

/** @type {Head[]} */
const HEADS = [[""], ["job"], ["status"], ["outcome"], ["dataset"], ["submitted"], ["time", "number"], [""]];

/** @type {(root: HTMLElement, place: Place) => Promise<void>} */
export async function showJobs(root, { query, signal }) {
  const options = STATUSES.map((status) =>
    h("option", { value: status, selected: status === query.get("status") }, status),
  );
  const every = h("option", { value: "" }, "every status");
  const filter = h("select", { "aria-label": "Status" }, every, options);
  const placeholder = "Find by title or target";
  const finder = new Finder("#/jobs", query, { sorts: SORTS, placeholder, filters: { status: filter } });
  const start = h("a", { class: "button primary", href: "#/new" }, "New job");
  const ticks = new Ticks();
  const actions = h("div", { class: "actions" }, ticks.go, start);
  root.append(h("div", { class: "head" }, h("h1", {}, "Jobs"), actions));
  const names = await datasetNames(signal);
  const chosen = () => STATUSES.find((status) => status === filter.value);
  const none = () => (chosen() && !finder.wanted.search ? `No ${chosen()} jobs.` : "No job fits.");
  const empty = () => (finder.isNarrow ? h("p", { class: "muted" }, none()) : welcome());
  /** @type {LiveList<JobSummary>} */
  const list = new LiveList(HEADS, (job) => jobRow(job, names, ticks), empty, signal);
  root.append(finder.element, list.element);
  const follow = () => {
    const wanted = { status: chosen(), ...finder.wanted };
    return list.follow((part) => get("/v1/jobs", { ...wanted, ...part }, signal), !wanted.sort);
  };
  finder.listen(follow);
  await follow();
}

/** @type {(signal: AbortSignal) => Promise<Names>} */
async function datasetNames(signal) {
  const { items } = await get("/v1/datasets", { page_size: 100 }, signal);
  return new Map(items.map((dataset) => [dataset.id, dataset.name]));
}

/** @type {(job: JobSummary, names: Names, ticks: Ticks) => HTMLElement} */
function jobRow(job, names, ticks) {
  const { target, k, method, compared } = job;
  const order = `${methodName(method)}, K ${k}${compared ? `, ${compared.length} methods` : ""}`;
  return h(
    "tr",
    {},
    h(
      "td",
      { class: "tick" },
      job.status === "succeeded" ? ticks.box(job.id, `Compare ${target}, ${order}`) : "",
    ),
    h(
      "td",
      { class: "name" },
      h("a", { href: `#/jobs/${job.id}` }, job.title ?? target),
      h("span", { class: "muted" }, ` ${job.title ? `${target}, ` : ""}${order} `),
      labelChips(job.labels, "#/jobs"),
    ),
    h("td", {}, pills(job)),
    h("td", { class: "progress-cell" }, progress(job)),
    h("td", {}, datasetLink(job.dataset_id, names)),
    h("td", {}, when(job.created_at)),
    h("td", { class: "number" }, took(job)),
    h("td", {}, job.finished_at ? "" : cancelButton(job, "quiet small")),
  );
}

/** @type {(id: string, names: Names) => HTMLElement} */
function datasetLink(id, names) {
  return h("a", { class: "muted", href: `#/datasets/${id}` }, names.get(id) ?? `${id.slice(0, 11)}…`);
}

/** @type {(job: JobSummary) => Child} */
function progress(job) {
  if (job.status !== "running") return outcome(job);
  const isAsked = job.cancel_requested_at ?? job.keep_requested_at;
  const words = isAsked ? "Stopping" : (phaseName(job.phase) ?? "Starting");
  return h("span", { class: "running" }, bar(job.progress, percent(job.progress)), words);
}

/** @type {(job: JobSummary) => Child} */
function outcome({ status, error, chosen }) {
  if (error) return h("span", { class: "muted" }, sentence(error.message));
  if (status === "succeeded" && !chosen.length)
    return h("span", { class: "muted" }, "No column tells anything.");
  const names = chosen.slice(0, SHOWN).join(", ") + (chosen.length > SHOWN ? ", …" : "");
  return names && h("span", { class: "outcome", title: chosen.join(", ") }, names);
}

function welcome() {
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, "Which columns tell most about the one you care about?"),
    h(
      "p",
      {},
      "Upload a table, name the column to predict, and read the few columns that inform about it, ",
      "in order, with how sure that is and why the others were left out.",
    ),
    h("a", { class: "button primary", href: "#/datasets" }, "Upload a dataset"),
    " ",
    tryButton(),
  );
}
