// What a job found: in a sentence, in pictures, and in full.

import { get, getBlob } from "../api.js";
import { button, h } from "../dom.js";
import { amount, count } from "../format.js";
import { figure, layOut } from "../figure.js";
import { csv, save, saveText } from "../save.js";

const FIRST = 20;
const SELECTED = [
  ["rank", "rank"], ["name", "feature"], ["gain", "gain"],
  ["mi_label", "I(X_S; Y)"], ["mi_label_se", "± s.e."],
  ["mi_latent", "I(X_S; Z)"], ["mi_latent_se", "± s.e."],
  ["runner_up", "runner-up"], ["margin", "margin"], ["decided_by", "decided by"],
];
const LEFT_OUT = [
  ["name", "feature"], ["gain", "could still add"],
  ["reason", "reason"], ["redundant_with", "redundant with"],
];
const DROPPED = [["name", "column"], ["reason", "reason"]];

export async function showResult(root, job, signal) {
  const address = `/v1/jobs/${job.id}`;
  const [result, shown] = await Promise.all([
    get(`${address}/result`, signal),
    get(`${address}/charts`, signal),
  ]);
  const figures = h("div", { class: "figures" });
  const redraw = async (width) => {
    draw(await get(`${address}/charts?pixel_width=${width}`, signal));
    document.getElementById("chart-pixels").scrollIntoView();
  };
  const draw = ({ charts }) => layOut(figures, charts.map((chart) =>
    figure(chart, job.id, ...(chart.name === "pixels" ? [widthField(redraw)] : []))));
  draw(shown);
  root.replaceChildren(
    h("p", { class: "headline" }, shown.headline),
    h("ul", { class: "summary" }, shown.summary.map((sentence) => h("li", {}, sentence))),
    figures,
    ...section("Selected features", SELECTED, result.selected, job),
    ...section("Left out", LEFT_OUT, result.left_out, job),
    ...section("Set aside before the search", DROPPED, result.dropped, job),
    pixelOffer(shown, redraw),
    provenance(result, job));
}

function section(title, columns, items, job) {
  if (!items.length) return [];
  const keys = Object.keys(items[0]);
  const download = () => {
    const rows = items.map((item) => keys.map((key) => item[key]));
    saveText(`${job.id}-${title.toLowerCase().replaceAll(" ", "-")}.csv`, csv(keys, rows), "text/csv");
  };
  const known = columns.filter(([key]) => items.some((item) => item[key] !== null));
  return [
    h("div", { class: "figure-head section" }, h("h2", {}, title),
      button("CSV", download, "quiet small")),
    table(known, items),
  ];
}

function table(columns, items) {
  const body = h("tbody", {});
  const more = h("div", {});
  const row = (item) => h("tr", {}, columns.map(([key]) => cell(item[key], key)));
  const draw = (limit) => {
    body.replaceChildren(...items.slice(0, limit).map(row));
    const rest = items.length - limit;
    more.replaceChildren(rest > 0
      ? button(`Show ${count(rest)} more`, () => draw(Infinity), "quiet") : "");
  };
  draw(FIRST);
  const isNumber = (key) => items.some((item) => typeof item[key] === "number");
  const heads = columns.map(([key, name]) =>
    h("th", { scope: "col", class: isNumber(key) ? "number" : null }, name));
  return h("div", {}, h("div", { class: "scroll" },
    h("table", { class: "list" }, h("thead", {}, h("tr", {}, heads)), body)), more);
}

function cell(value, key) {
  if (key.endsWith("_se") && value === 0) return h("td", { class: "number muted" }, "exact");
  if (typeof value === "number") return h("td", { class: "number" }, amount(value));
  return h("td", { class: key === "name" ? "name" : null }, value ?? "");
}

function pixelOffer({ charts }, redraw) {
  if (charts.some((chart) => chart.name === "pixels")) return "";
  return h("details", {}, h("summary", {}, "Are the columns pixels of an image?"), widthField(redraw));
}

function widthField(redraw) {
  const input = h("input", { type: "number", min: 1, max: 4096, class: "narrow",
    "aria-label": "Width of the image in pixels", placeholder: "width" });
  const show = button("Show as pixels", () => input.valueAsNumber > 0 && redraw(input.valueAsNumber),
    "quiet small");
  input.addEventListener("keydown", (event) => event.key === "Enter" && show.click());
  return h("span", { class: "width-field" }, input, show);
}

function provenance(result, job) {
  const { dataset, specification, versions } = result.provenance;
  const download = async () =>
    save(`${job.id}.npz`, await getBlob(`/v1/jobs/${job.id}/factors`, "application/x-npz"));
  const facts = {
    Dataset: dataset.id,
    "SHA-256": dataset.sha256,
    Versions: Object.entries(versions).map((pair) => pair.join(" ")).join(", "),
  };
  const listed = Object.entries(facts).flatMap(([name, value]) =>
    [h("dt", {}, name), h("dd", { class: "code" }, value)]);
  return h("section", {},
    h("div", { class: "figure-head section" }, h("h2", {}, "Provenance"),
      result.models.length ? button("Factors (.npz)", download, "quiet small") : null),
    h("dl", {}, listed),
    h("details", {}, h("summary", {}, "Specification"),
      h("pre", {}, JSON.stringify(specification, null, 2))));
}
