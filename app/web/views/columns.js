// What the columns of a dataset are: changed here, tried on a sample, and read again as a new version.

import { button, guarded, h, say } from "../parts/dom.js";
import { count, counted } from "../parts/format.js";
import { patch } from "../service/api.js";

/**
 * @import { ColumnPreview, ColumnProfile, ColumnWish, DatasetRead } from "contract"
 * @typedef {Map<string, ColumnWish | null>} Wishes
 */

/** @type {[kind: string, name: string][]} */
const KINDS = [
  ["number", "number"],
  ["category", "category"],
  ["boolean", "yes or no"],
  ["time", "time"],
  ["ignore", "left out"],
];
const SIGNS = [
  ["", "as found"],
  [",|.", "1.234,5"],
  [".|,", "1,234.5"],
  [",| ", "1 234,5"],
  [".| ", "1 234.5"],
];

export class ColumnEditor {
  /** @param {DatasetRead} dataset */
  constructor(dataset) {
    this.dataset = dataset;
    /** @type {Wishes} */
    this.wishes = new Map();
    this.previews = h("div", { class: "previews" });
    this.words = h("p", { role: "status" });
    const read = button("Read again", () => this.read(), "primary");
    const drop = button("Leave as it is", () => this.forget(), "quiet");
    this.element = h("section", { class: "notice changes", "aria-label": "Changes", hidden: true });
    this.element.append(this.words, this.previews, h("div", { class: "actions" }, read, drop));
    /** @type {(() => void)[]} */
    this.resets = [];
  }

  /** @type {(column: ColumnProfile) => HTMLElement} */
  control(column) {
    const current = kindOf(column);
    const options = KINDS.map(([kind, name]) =>
      h("option", { value: kind, selected: kind === current }, name),
    );
    const found = column.chosen ? h("option", { value: "" }, `as detected: ${column.detected}`) : null;
    const kind = h("select", { "aria-label": `Kind of ${column.name}` }, options, found);
    const styles = SIGNS.map(([value, name]) => h("option", { value }, name));
    const signs = h(
      "select",
      { "aria-label": `Signs of ${column.name}`, hidden: current !== "number" },
      styles,
    );
    const change = guarded(() => {
      signs.hidden = kind.value !== "number";
      const isSame = kind.value === current && !signs.value;
      return this.wish(column.name, isSame ? undefined : wishOf(kind.value, signs.value));
    });
    kind.addEventListener("change", change);
    signs.addEventListener("change", change);
    this.resets.push(() => {
      kind.value = current;
      signs.value = "";
      signs.hidden = current !== "number";
    });
    return h("div", { class: "kind-choice" }, kind, signs);
  }

  /**
   * @param {string} name
   * @param {ColumnWish | null | undefined} wish
   */
  async wish(name, wish) {
    if (wish === undefined) this.wishes.delete(name);
    else this.wishes.set(name, wish);
    this.element.hidden = this.wishes.size === 0;
    if (this.element.hidden) return;
    this.words.textContent = `${counted(this.wishes.size, "column")} would be read in another way:`;
    const shown = await this.send({ dry_run: true });
    if ("columns" in shown) this.previews.replaceChildren(...shown.columns.map(previewOf));
  }

  /** @param {{ dry_run?: boolean }} how */
  send(how) {
    const body = { columns: Object.fromEntries(this.wishes) };
    return patch("/v1/datasets/{dataset_id}/columns", { dataset_id: this.dataset.id, ...how }, body);
  }

  async read() {
    const dataset = await this.send({});
    if (!("id" in dataset)) return;
    say("A new version is being read");
    location.hash = `#/datasets/${dataset.id}`;
  }

  forget() {
    this.wishes.clear();
    for (const reset of this.resets) reset();
    this.element.hidden = true;
  }

  /** @type {(name: string) => HTMLElement} */
  bringBack(name) {
    const back = () => this.wish(name, null);
    return h("li", {}, name, " ", button("Bring back", back, "quiet small"));
  }
}

/** @type {(column: ColumnProfile) => string} */
function kindOf({ kind }) {
  return kind === "integer" ? "number" : kind === "text" ? "category" : kind;
}

/** @type {(kind: string, signs: string) => ColumnWish | null} */
function wishOf(kind, signs) {
  if (!kind) return null;
  const [decimal, thousands] = signs.split("|");
  const written = kind === "number" && signs ? { decimal, thousands } : {};
  return /** @type {ColumnWish} */ ({ kind, ...written });
}

/** @type {(column: ColumnPreview) => HTMLElement} */
function previewOf({ name, why, cells, n_fit: nFit, n_looked_at: nLooked }) {
  const lost = nLooked - nFit;
  const fits = lost
    ? h("p", { class: "unfit" }, `${count(lost)} of ${count(nLooked)} values looked at would be missing.`)
    : null;
  const shown = cells.map(({ written, read }) =>
    h("li", {}, h("code", {}, written), " → ", read === null ? h("em", {}, "missing") : h("code", {}, read)),
  );
  return h(
    "div",
    {},
    h("h3", { class: "preview-name" }, name),
    h("p", { class: "muted preview-why" }, why),
    fits,
    h("ul", { class: "preview-cells" }, shown),
  );
}
