// A live list, newest first. Only rows that changed are drawn again, so that focus stays where it is.

import { pause } from "./api.js";
import { button, h, say } from "./dom.js";
import { Pages } from "./pages.js";

const BUSY = 1000;
const QUIET = 4000;

export class LiveList {
  // `heads` are names and classes of columns, `row` draws an item, `empty` says that there is none.
  constructor({ heads, row, empty }, signal) {
    Object.assign(this, { row, empty, signal });
    this.drawn = new Map();
    this.body = h("tbody", {});
    this.table = h("div", { class: "scroll" }, h("table", { class: "list live-list" },
      h("thead", {}, h("tr", {}, heads.map(([name, kind]) =>
        h("th", { scope: "col", class: kind }, name)))), this.body));
    this.older = button("Older", () => this.extend(), "quiet older");
    this.element = h("div", {});
  }

  // Until the view is left, or something else is asked for.
  async follow(path, query = {}) {
    const pages = (this.pages = new Pages(path, query, this.signal));
    while (this.pages === pages) {
      if (!document.hidden) {
        await pages.refresh();
        if (this.pages === pages) this.draw();
      }
      await pause(pages.items.some((item) => !item.finished_at) ? BUSY : QUIET, this.signal);
    }
  }

  async extend() {
    const { pages } = this;
    const shown = this.body.children.length;
    this.older.disabled = true;
    try {
      say(`${await pages.extend()} older ones`);
    } finally {
      this.older.disabled = false;
    }
    if (this.pages !== pages) return;
    this.draw();
    this.body.children[shown]?.querySelector("a")?.focus();
  }

  draw() {
    const { items } = this.pages;
    replaceChanged(this.element, items.length ? [this.table, this.older] : [this.empty()]);
    replaceChanged(this.body, items.map((item) => this.rowOf(item)));
    this.older.hidden = !this.pages.token;
  }

  rowOf(item) {
    const state = JSON.stringify(item);
    const known = this.drawn.get(item.id);
    if (known?.state === state) return known.row;
    const row = this.row(item);
    this.drawn.set(item.id, { state, row });
    return row;
  }
}

function replaceChanged(parent, children) {
  const isSame = (child, i) => parent.children[i] === child;
  if (children.length !== parent.children.length || !children.every(isSame)) parent.replaceChildren(...children);
}
