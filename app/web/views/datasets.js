// Datasets: drop a file, watch it being read, and the list of what is there.

import { get, pause, upload } from "../api.js";
import { bar, guarded, h, pill, say } from "../dom.js";
import { count, size, when } from "../format.js";
import { LiveList } from "../list.js";

const HEADS = [
  ["name"], ["status"], ["rows", "number"], ["columns", "number"], ["size", "number"], ["uploaded"], [""],
];

export async function showDatasets(root, { signal }) {
  const empty = () =>
    h("p", { class: "muted" }, "Nothing here yet. CSV, Parquet and Arrow files can be read.");
  const list = new LiveList({ heads: HEADS, row, empty }, signal);
  root.append(h("h1", {}, "Datasets"), dropZone((file, box) => take(file, box, signal)), list.element);
  await list.follow("/v1/datasets");
}

export function dropZone(onFile) {
  const input = h("input", { type: "file", id: "file", class: "unseen",
    accept: ".csv,.tsv,.txt,.parquet,.arrow,.feather,.arrows" });
  const state = h("div", { class: "upload-state" });
  const zone = h("div", { class: "drop" }, input,
    h("p", {}, "Drop a CSV, Parquet or Arrow file here, or ",
      h("label", { for: "file", class: "link" }, "choose one"), "."), state);
  const take = (files) => files.length && guarded(() => onFile(files[0], state))();
  input.addEventListener("change", () => take(input.files));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files);
  });
  return zone;
}

async function take(file, box, signal) {
  const show = (words, share) =>
    box.replaceChildren(h("span", {}, words), share === null ? "" : bar(share, words));
  try {
    const stored = await upload(file, (share) => show(`Sending ${file.name}: ${percent(share)}`, share));
    show(`Reading ${file.name}`, null);
    const dataset = await whenRead(stored.id, signal);
    say(dataset.status === "ready" ? `${file.name} is ready` : dataset.reason);
    location.hash = `#/datasets/${dataset.id}`;
  } catch (error) {
    box.replaceChildren();
    throw error;
  }
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

export async function whenRead(id, signal) {
  for (;;) {
    const dataset = await get(`/v1/datasets/${id}`, signal);
    if (dataset.status !== "processing") return dataset;
    await pause(400, signal);
  }
}

function row(dataset) {
  return h("tr", {},
    h("td", { class: "name" }, h("a", { href: `#/datasets/${dataset.id}` }, dataset.name ?? dataset.id)),
    h("td", {}, pill(dataset.status)),
    h("td", { class: "number", "data-unit": dataset.n_rows && "rows" }, count(dataset.n_rows)),
    h("td", { class: "number", "data-unit": dataset.n_columns && "columns" }, count(dataset.n_columns)),
    h("td", { class: "number" }, size(dataset.n_bytes)),
    h("td", {}, when(dataset.created_at)),
    h("td", {}, dataset.status === "ready"
      ? h("a", { href: `#/new?dataset=${dataset.id}` }, "Select features") : ""));
}
