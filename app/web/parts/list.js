// A live list, newest first. Only rows that changed are drawn again, so that focus stays where it is.

import { pause } from "../service/leaving.js";
import { Pages } from "../service/pages.js";
import { button, h, say } from "./dom.js";

/**
 * @import { Listed, Read } from "../service/pages.js"
 * @typedef {[name: string, kind?: string]} Head
 */

const BUSY = 1000;
const QUIET = 4000;

/** @template {Listed} Item */
export class LiveList {
  /**
   * @param {Head[]} heads
   * @param {(item: Item) => HTMLElement} row
   * @param {() => HTMLElement} empty says that there is none
   * @param {AbortSignal} signal
   */
  constructor(heads, row, empty, signal) {
    this.row = row;
    this.empty = empty;
    this.signal = signal;
    /** @type {Pages<Item> | undefined} */
    this.pages = undefined;
    /** @type {Map<string, { state: string, row: HTMLElement }>} */
    this.drawn = new Map();
    this.body = h("tbody", {});
    const names = heads.map(([name, kind]) => h("th", { scope: "col", class: kind }, name));
    const head = h("thead", {}, h("tr", {}, names));
    this.table = h("div", { class: "scroll" }, h("table", { class: "list live-list" }, head, this.body));
    this.older = button("Older", () => this.pages && this.extend(this.pages), "quiet older");
    this.element = h("div", {});
  }

  /**
   * Until the view is left, or something else is asked for.
   * @param {Read<Item>} read
   * @param {boolean} [byTime]
   */
  async follow(read, byTime) {
    const pages = new Pages(read, byTime);
    this.pages = pages;
    while (this.pages === pages) {
      if (!document.hidden) {
        await pages.refresh();
        if (this.pages === pages) this.draw(pages);
      }
      await pause(pages.items.some((item) => !item.finished_at) ? BUSY : QUIET, this.signal);
    }
  }

  /** @param {Pages<Item>} pages */
  async extend(pages) {
    const shown = this.body.children.length;
    this.older.disabled = true;
    try {
      say(`${await pages.extend()} older ones`);
    } finally {
      this.older.disabled = false;
    }
    if (this.pages !== pages) return;
    this.draw(pages);
    this.body.children[shown]?.querySelector("a")?.focus();
  }

  /** @param {Pages<Item>} pages */
  draw({ items, token }) {
    replaceChanged(this.element, items.length ? [this.table, this.older] : [this.empty()]);
    replaceChanged(
      this.body,
      items.map((item) => this.rowOf(item)),
    );
    this.older.hidden = !token;
  }

  /** @param {Item} item */
  rowOf(item) {
    const state = JSON.stringify(item);
    const known = this.drawn.get(item.id);
    if (known?.state === state) return known.row;
    const row = this.row(item);
    this.drawn.set(item.id, { state, row });
    return row;
  }
}

/** @type {(parent: HTMLElement, children: HTMLElement[]) => void} */
function replaceChanged(parent, children) {
  const isSame = children.every((child, i) => parent.children[i] === child);
  if (children.length !== parent.children.length || !isSame) parent.replaceChildren(...children);
}
