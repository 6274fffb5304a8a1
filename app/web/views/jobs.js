// Jobs: a live list.

import { get, pause, post } from "../api.js";
import { bar, button, h, pill } from "../dom.js";
import { duration, methodName, PHASES, when } from "../format.js";

const STATUSES = ["queued", "running", "succeeded", "failed", "cancelled", "expired"];

export async function showJobs(root, { signal }) {
  const filter = h("select", { id: "status" }, h("option", { value: "" }, "all"),
    STATUSES.map((status) => h("option", { value: status }, status)));
  const list = h("div", {});
  root.append(
    h("div", { class: "head" }, h("h1", {}, "Jobs"),
      h("div", { class: "actions" },
        h("label", { for: "status" }, "Status"), filter,
        h("a", { class: "button primary", href: "#/new" }, "New job"))),
    list);
  const names = await datasetNames(signal);
  const rows = new Rows(list, names);
  const refresh = async () => {
    rows.show(await get(`/v1/jobs?page_size=100${query(filter)}`, signal), filter.value);
  };
  filter.addEventListener("change", refresh);
  for (;;) {
    if (!document.hidden) await refresh();
    await pause(rows.live ? 1000 : 4000, signal);
  }
}

function query(filter) {
  return filter.value ? `&status=${filter.value}` : "";
}

async function datasetNames(signal) {
  const page = await get("/v1/datasets?page_size=100", signal);
  return new Map(page.items.map((dataset) => [dataset.id, dataset.name]));
}

// Only rows that changed are drawn again, so that focus stays where it is.
class Rows {
  constructor(list, names) {
    this.list = list;
    this.names = names;
    this.drawn = new Map();
    this.live = false;
  }

  show({ items }, filtered) {
    this.live = items.some((job) => !job.finished_at);
    if (!items.length) {
      this.body = null;
      this.list.replaceChildren(filtered ? h("p", { class: "muted" }, `No ${filtered} jobs.`) : welcome());
      return;
    }
    if (!this.body) this.start();
    const rows = items.map((job) => this.row(job));
    if (rows.some((row, i) => this.body.children[i] !== row) || this.body.children.length !== rows.length) {
      this.body.replaceChildren(...rows);
    }
  }

  start() {
    this.body = h("tbody", {});
    const heads = ["job", "status", "progress", "dataset", "submitted", "time", ""];
    this.list.replaceChildren(h("div", { class: "scroll" }, h("table", { class: "list" },
      h("thead", {}, h("tr", {}, heads.map((name) =>
        h("th", { scope: "col", class: name === "time" ? "number" : null }, name)))), this.body)));
  }

  row(job) {
    const state = JSON.stringify(job);
    const known = this.drawn.get(job.id);
    if (known?.state === state) return known.row;
    const row = jobRow(job, this.names);
    this.drawn.set(job.id, { state, row });
    return row;
  }
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
