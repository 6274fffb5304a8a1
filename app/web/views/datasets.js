// Datasets: drop a file, watch it being read, and the list of what is there.

import { labelChips } from "../parts/described.js";
import { bar, guarded, h, pill, say } from "../parts/dom.js";
import { Finder } from "../parts/finder.js";
import { count, percent, size, when } from "../parts/format.js";
import { LiveList } from "../parts/list.js";
import { get, upload } from "../service/api.js";
import { pause } from "../service/leaving.js";
import { tryButton } from "./example.js";
import { offerReference } from "./reference.js";

/**
 * @import { DatasetRead, DatasetSummary, Place } from "contract"
 * @import { Head } from "../parts/list.js"
 */

/** @type {["newest" | "oldest" | "name" | "largest", string][]} */
const SORTS = [
  ["newest", "newest first"],
  ["oldest", "oldest first"],
  ["name", "by name"],
  ["largest", "largest first"],
];

/** @type {Head[]} */
const HEADS = [
  ["name"],
  ["status"],
  ["rows", "number"],
  ["columns", "number"],
  ["size", "number"],
  ["uploaded"],
  [""],
];

/** @type {(root: HTMLElement, place: Place) => Promise<void>} */
export async function showDatasets(root, { query, signal }) {
  const finder = new Finder("#/datasets", query, { sorts: SORTS, placeholder: "Find by name" });
  const empty = () =>
    finder.isNarrow
      ? h("p", { class: "muted" }, "No dataset fits.")
      : h("div", { class: "welcome" }, h("p", {}, "Nothing here yet."), tryButton());
  /** @type {LiveList<DatasetSummary>} */
  const list = new LiveList(HEADS, row, empty, signal);
  const reference = h("div", {});
  root.append(
    h("h1", {}, "Datasets"),
    dropZone((file, box) => take(file, box, signal)),
    reference,
    finder.element,
    list.element,
  );
  const follow = () => {
    const wanted = finder.wanted;
    return list.follow((part) => get("/v1/datasets", { ...wanted, ...part }, signal), !wanted.sort);
  };
  finder.listen(follow);
  await offerReference(reference, whenRead, signal);
  await follow();
}

/** @type {(onFile: (file: File, box: HTMLElement) => Promise<void>) => HTMLElement} */
function dropZone(onFile) {
  const accept = ".csv,.tsv,.txt,.parquet,.arrow,.feather,.arrows";
  const input = h("input", { type: "file", id: "file", class: "unseen", accept });
  const state = h("div", { class: "upload-state" });
  const choose = h("label", { for: "file", class: "link" }, "choose one");
  const words = h("p", {}, "Drop a CSV, Parquet or Arrow file here, or ", choose, ".");
  const zone = h("div", { class: "drop" }, input, words, state);
  /** @type {(files?: FileList | null) => void} */
  const takeFirst = (files) => {
    const file = files?.[0];
    if (file) guarded(() => onFile(file, state))();
  };
  input.addEventListener("change", () => takeFirst(input.files));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    takeFirst(event.dataTransfer?.files);
  });
  return zone;
}

/** @type {(file: File, box: HTMLElement, signal: AbortSignal) => Promise<void>} */
async function take(file, box, signal) {
  /** @type {(words: string, share?: number) => void} */
  const show = (words, share) =>
    box.replaceChildren(h("span", {}, words), share === undefined ? "" : bar(share, words));
  try {
    const stored = await upload(file, (share) => show(`Sending ${file.name}: ${percent(share)}`, share));
    show(`Reading ${file.name}`);
    const dataset = await whenRead(stored.id, signal);
    say(dataset.reason ?? `${file.name} is ready`);
    location.hash = `#/datasets/${dataset.id}`;
  } catch (error) {
    box.replaceChildren();
    throw error;
  }
}

/** @type {(id: string, signal: AbortSignal) => Promise<DatasetRead>} */
export async function whenRead(id, signal) {
  for (;;) {
    const dataset = await get("/v1/datasets/{dataset_id}", { dataset_id: id }, signal);
    if (dataset.status !== "processing") return dataset;
    await pause(400, signal);
  }
}

/** @type {(dataset: DatasetSummary) => HTMLElement} */
function row(dataset) {
  const { id, status, n_rows: nRows, n_columns: nColumns } = dataset;
  const use = status === "ready" ? h("a", { href: `#/new?dataset=${id}` }, "Select features") : "";
  return h(
    "tr",
    {},
    h(
      "td",
      { class: "name" },
      h("a", { href: `#/datasets/${id}` }, dataset.name ?? id),
      (dataset.version ?? 1) > 1 ? h("span", { class: "muted" }, ` version ${dataset.version}`) : "",
      " ",
      labelChips(dataset.labels ?? {}, "#/datasets"),
    ),
    h("td", {}, pill(status)),
    h("td", { class: "number", "data-unit": nRows && "rows" }, count(nRows)),
    h("td", { class: "number", "data-unit": nColumns && "columns" }, count(nColumns)),
    h("td", { class: "number" }, size(dataset.n_bytes)),
    h("td", {}, when(dataset.created_at)),
    h("td", {}, use),
  );
}
