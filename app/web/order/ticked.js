// Columns with a box each, in a list that can be searched, and some at once.

import { button, h } from "../parts/dom.js";
import { count } from "../parts/format.js";
import { Field } from "./fields.js";

/**
 * @import { About } from "./fields.js"
 * @typedef {{ name: string, kind: string }} Listed
 */

const SHOWN = 200;

/** @type {[label: string, kinds: string[]][]} */
const KINDS = [
  ["numbers", ["integer", "number"]],
  ["categories", ["text"]],
  ["yes or no", ["boolean"]],
  ["times", ["time"]],
];

export class TickedColumns {
  /**
   * @param {About} about
   * @param {string} finding what the search is for
   */
  constructor(about, finding) {
    /** @type {Listed[]} */
    this.columns = [];
    /** @type {Set<string>} */
    this.out = new Set();
    this.search = h("input", { type: "search", placeholder: "Find a column", "aria-label": finding });
    this.rows = h("ul", { class: "picks" });
    this.words = h("p", { class: "hint", role: "status" });
    this.kinds = h("span", { class: "chips" });
    const all = button("All", () => this.put(this.found(), true), "quiet small");
    const none = button("None", () => this.put(this.found(), false), "quiet small");
    const tools = h("div", { class: "finder" }, this.search, all, none, this.kinds);
    this.box = h("div", { role: "group", "aria-label": about.label }, tools, this.rows, this.words);
    this.field = new Field(about, this.box, () => this.read());
    this.search.addEventListener("input", (event) => {
      event.stopPropagation();
      this.draw();
    });
  }

  /** @type {(columns: Listed[]) => void} */
  offer(columns) {
    this.columns = columns;
    const names = new Set(columns.map(({ name }) => name));
    for (const name of this.out) if (!names.has(name)) this.out.delete(name);
    const kinds = KINDS.filter(([, some]) => columns.some(({ kind }) => some.includes(kind)));
    this.kinds.replaceChildren(
      ...(kinds.length > 1 ? kinds.map(([label, some]) => this.onlyKinds(label, some)) : []),
    );
    this.draw();
  }

  /** @type {(label: string, kinds: string[]) => HTMLElement} */
  onlyKinds(label, kinds) {
    const keep = () => {
      this.put(this.columns, false);
      this.put(
        this.columns.filter(({ kind }) => kinds.includes(kind)),
        true,
      );
    };
    return button(`Only ${label}`, keep, "quiet small");
  }

  found() {
    const wanted = this.search.value.toLowerCase();
    return this.columns.filter(({ name }) => name.toLowerCase().includes(wanted));
  }

  /** @type {(columns: { name: string }[], isIn: boolean) => void} */
  put(columns, isIn) {
    for (const { name } of columns) {
      if (isIn) this.out.delete(name);
      else this.out.add(name);
    }
    this.changed();
  }

  changed() {
    this.draw();
    this.box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  draw() {
    const found = this.found();
    const held = document.activeElement;
    const at = [...this.rows.children].findIndex((row) => row.contains(held));
    this.rows.replaceChildren(...found.slice(0, SHOWN).map((column) => this.row(column)));
    const again = held && this.rows.children[at]?.querySelector(held.localName);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    const rest = found.length - SHOWN;
    const more = rest > 0 ? ` ${count(rest)} more are found by searching.` : "";
    this.words.textContent = this.columns.length ? `${this.told()}${more}` : "";
  }

  /** How many there are, in a sentence. */
  told() {
    return `${count(this.ticked().length)} of ${count(this.columns.length)} columns.`;
  }

  ticked() {
    return this.columns.map(({ name }) => name).filter((name) => !this.out.has(name));
  }

  /** @type {(column: Listed) => HTMLElement} */
  row(column) {
    const { name, kind } = column;
    const box = h("input", { type: "checkbox", name });
    box.checked = !this.out.has(name);
    box.addEventListener("change", () => this.put([column], box.checked));
    return h(
      "li",
      {},
      h("label", { class: "pick" }, box, name, h("span", { class: "muted kind-name" }, ` ${kind}`)),
    );
  }

  /** @returns {unknown} */
  read() {
    return this.ticked();
  }
}
