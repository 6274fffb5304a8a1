// A table whose first rows are shown; the rest is one click away.

import { button, h } from "./dom.js";
import { count } from "./format.js";

/** @typedef {{ name: string, kind?: string | null }} Head */

/** @template Item */
export class LongTable {
  /**
   * @param {{ heads: Head[], row: (item: Item) => HTMLElement, first: number, noun?: string, kind?: string }} parts
   */
  constructor({ heads, row, first, noun = "", kind = "list" }) {
    this.row = row;
    this.first = first;
    this.noun = noun;
    this.body = h("tbody", {});
    this.more = h("div", {});
    const names = heads.map((head) => h("th", { scope: "col", class: head.kind }, head.name));
    const table = h("table", { class: kind }, h("thead", {}, h("tr", {}, names)), this.body);
    this.element = h("div", {}, h("div", { class: "scroll" }, table), this.more);
  }

  /** @param {Item[]} items */
  show(items, limit = this.first) {
    this.body.replaceChildren(...items.slice(0, limit).map(this.row));
    const rest = items.length - limit;
    const label = ["Show", count(rest), "more", this.noun].join(" ").trim();
    this.more.replaceChildren(rest > 0 ? button(label, () => this.show(items, Infinity), "quiet") : "");
  }
}
