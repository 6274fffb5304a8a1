// Which columns take part: a box for each in a list that can be searched, and some at once.

import { button, h } from "../parts/dom.js";
import { count, counted } from "../parts/format.js";
import { Field } from "./fields.js";

/**
 * @import { ColumnProfile, TableWarning } from "contract"
 * @typedef {{ include?: string[], exclude?: string[], candidates?: string[] | null }} Chosen
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

export class ColumnPicker {
  /** @param {Chosen} chosen */
  constructor({ include = [], exclude = [], candidates = null }) {
    /** @type {Listed[]} */
    this.columns = [];
    this.first = [...include];
    this.out = new Set(exclude);
    this.only = candidates && new Set(candidates);
    this.target = "";
    this.search = h("input", {
      type: "search",
      placeholder: "Find a column",
      "aria-label": "Find a column to use",
    });
    this.rows = h("ul", { class: "picks" });
    this.words = h("p", { class: "hint", role: "status" });
    this.kinds = h("span", { class: "chips" });
    const all = button("All", () => this.put(this.found(), true), "quiet small");
    const none = button("None", () => this.put(this.found(), false), "quiet small");
    const tools = h("div", { class: "finder" }, this.search, all, none, this.kinds);
    this.box = h(
      "div",
      { role: "group", "aria-label": "Columns that take part" },
      tools,
      this.rows,
      this.words,
    );
    this.field = new Field({ at: "/columns", label: "Columns that take part" }, this.box, () => this.read());
    this.search.addEventListener("input", (event) => {
      event.stopPropagation();
      this.draw();
    });
  }

  /** @type {(columns: ColumnProfile[]) => void} */
  offer(columns) {
    this.columns = columns;
    const names = new Set(columns.map(({ name }) => name));
    const { only, target } = this;
    if (only) this.out = new Set([...names].filter((name) => !only.has(name) && name !== target));
    this.only = null;
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

  /** @type {(target: string) => void} */
  spare(target) {
    this.target = target;
    this.draw();
  }

  found() {
    const wanted = this.search.value.toLowerCase();
    return this.columns.filter(({ name }) => name.toLowerCase().includes(wanted));
  }

  /** @type {(columns: { name: string }[], isIn: boolean) => void} */
  put(columns, isIn) {
    for (const { name } of columns) {
      if (isIn || name === this.target) this.out.delete(name);
      else this.out.add(name);
    }
    this.first = this.first.filter((name) => !this.out.has(name));
    this.draw();
    this.box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /**
   * One click for what a warning is about.
   * @type {(warning: TableWarning) => HTMLElement | string}
   */
  remedy({ columns }) {
    const names = columns.filter((name) => this.isCandidate(name));
    const stays = this.columns.some(({ name }) => !names.includes(name) && this.isCandidate(name));
    if (!names.length || !stays) return "";
    const words = names.length === 1 ? "Leave it out" : `Leave these ${count(names.length)} out`;
    return button(
      words,
      () =>
        this.put(
          names.map((name) => ({ name })),
          false,
        ),
      "small",
    );
  }

  /** @param {string} name */
  isCandidate(name) {
    return name !== this.target && !this.out.has(name);
  }

  draw() {
    const found = this.found();
    this.rows.replaceChildren(...found.slice(0, SHOWN).map((column) => this.row(column)));
    const rest = found.length - SHOWN;
    const features = this.columns.filter(({ name }) => name !== this.target).length;
    const more = rest > 0 ? ` ${count(rest)} more are found by searching.` : "";
    const left = this.columns.length ? `${counted(features - this.nOut, "column")} take part.` : "";
    this.words.textContent = `${left}${more}`;
  }

  get nOut() {
    return [...this.out].filter((name) => name !== this.target).length;
  }

  /** @type {(column: Listed) => HTMLElement} */
  row(column) {
    const { name } = column;
    if (name === this.target) return h("li", { class: "muted" }, name, " is the target");
    const box = h("input", { type: "checkbox", name });
    box.checked = !this.out.has(name);
    box.addEventListener("change", () => this.put([column], box.checked));
    const rank = this.first.indexOf(name);
    const ahead = h("button", {
      type: "button",
      class: "quiet small",
      "aria-pressed": rank >= 0 ? "true" : "false",
    });
    ahead.append(rank >= 0 ? `chosen as number ${rank + 1}` : "choose first");
    ahead.addEventListener("click", () => this.prefer(name, rank < 0));
    return h(
      "li",
      {},
      h("label", { class: "pick" }, box, name, h("span", { class: "muted" }, ` ${column.kind}`)),
      ahead,
    );
  }

  /** @type {(name: string, isFirst: boolean) => void} */
  prefer(name, isFirst) {
    this.first = this.first.filter((one) => one !== name);
    if (isFirst) this.first.push(name);
    this.put(isFirst ? [{ name }] : [], true);
  }

  /**
   * What is left out or, where that is shorter, what is left.
   * @returns {{ include: string[], exclude: string[], candidates: string[] }}
   */
  read() {
    const names = this.columns.map(({ name }) => name);
    const left = names.filter((name) => !this.out.has(name) && name !== this.target);
    const isShort = this.columns.length > 0 && left.length > 0 && left.length < this.nOut;
    return {
      include: this.first,
      exclude: isShort ? [...this.out].filter((name) => name === this.target) : [...this.out],
      candidates: isShort ? left : [],
    };
  }
}
