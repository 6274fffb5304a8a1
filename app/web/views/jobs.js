// Jobs: a live list.

import { get, post } from "../api.js";
import { bar, button, h, pill } from "../dom.js";
import { duration, methodName, PHASES, when } from "../format.js";
import { LiveList } from "../list.js";

const STATUSES = ["queued", "running", "succeeded", "failed", "cancelled", "expired"];

const HEADS = [["job"], ["status"], ["progress"], ["dataset"], ["submitted"], ["time", "number"], [""]];

export async function showJobs(root, { query, signal }) {
  const filter = h("select", { id: "status" }, h("option", { value: "" }, "all"),
    STATUSES.map((status) => h("option", { value: status, selected: status === query.get("status") }, status)));
  root.append(
    h("div", { class: "head" }, h("h1", {}, "Jobs"),
      h("div", { class: "actions" },
        h("label", { for: "status" }, "Status"), filter,
        h("a", { class: "button primary", href: "#/new" }, "New job"))));
  const names = await datasetNames(signal);
  const empty = () => (filter.value ? h("p", { class: "muted" }, `No ${filter.value} jobs.`) : welcome());
  const list = new LiveList({ heads: HEADS, row: (job) => jobRow(job, names), empty }, signal);
  root.append(list.element);
  const follow = () => list.follow("/v1/jobs", filter.value ? { status: filter.value } : {});
  filter.addEventListener("change", () => {
    history.replaceState(null, "", filter.value ? `#/jobs?status=${filter.value}` : "#/jobs");
    follow();
  });
  await follow();
}

async function datasetNames(signal) {
  const page = await get("/v1/datasets?page_size=100", signal);
  return new Map(page.items.map((dataset) => [dataset.id, dataset.name]));
}

function jobRow(job, names) {
  const { target, k, method, compare } = job.specification;
  const ask = `${methodName(method.name)}, K ${k}${compare ? `, ${compare.methods.length} methods` : ""}`;
  return h("tr", {},
    h("td", { class: "name" },
      h("a", { href: `#/jobs/${job.id}` }, target), h("span", { class: "muted" }, ` ${ask}`)),
    h("td", {}, pill(job.status)),
    h("td", { class: "progress-cell" }, progress(job)),
    h("td", {}, datasetLink(job.dataset_id, names)),
    h("td", {}, when(job.created_at)),
    h("td", { class: "number" }, time(job)),
    h("td", {}, job.finished_at ? ""
      : button("Cancel", () => post(`/v1/jobs/${job.id}/cancel`), "quiet small")));
}

function datasetLink(id, names) {
  return h("a", { class: "muted", href: `#/datasets/${id}` }, names.get(id) ?? `${id.slice(0, 11)}…`);
}

function progress(job) {
  if (job.status !== "running") {
    return job.error ? h("span", { class: "muted" }, job.error.message) : job.chosen.slice(0, 4).join(", ");
  }
  const words = job.cancel_requested_at ? "Stopping" : PHASES[job.phase] ?? "Starting";
  return h("span", { class: "running" }, bar(job.progress, `${Math.round(100 * job.progress)} %`), words);
}

function time(job) {
  if (!job.started_at || !job.finished_at) return "";
  return duration((Date.parse(job.finished_at) - Date.parse(job.started_at)) / 1000);
}

function welcome() {
  return h("div", { class: "welcome" },
    h("h2", {}, "Which columns tell most about the one you care about?"),
    h("p", {}, "Upload a table, name the column to predict, and read the few columns that inform about it, ",
      "in order, with how sure that is and why the others were left out."),
    h("a", { class: "button primary", href: "#/datasets" }, "Upload a dataset"));
}
