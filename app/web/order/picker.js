// Which columns take part, which of them are chosen first, and which are left out with one click.

import { button, h } from "../parts/dom.js";
import { count } from "../parts/format.js";
import { TickedColumns } from "./ticked.js";

/**
 * @import { TableWarning } from "contract"
 * @import { Listed } from "./ticked.js"
 * @typedef {{ include?: string[], exclude?: string[], candidates?: string[] | null }} Chosen
 */

export class ColumnPicker extends TickedColumns {
  /** @param {Chosen} chosen */
  constructor({ include = [], exclude = [], candidates = null }) {
    super({ at: "/columns", label: "Columns that take part" }, "Find a column to use");
    this.first = [...include];
    this.out = new Set(exclude);
    this.only = candidates && new Set(candidates);
    this.target = "";
  }

  /**
   * @override
   * @type {(columns: Listed[]) => void}
   */
  offer(columns) {
    const { only, target } = this;
    const names = columns.map(({ name }) => name);
    if (only) this.out = new Set(names.filter((name) => !only.has(name) && name !== target));
    this.only = null;
    super.offer(columns);
  }

  /** @type {(target: string) => void} */
  spare(target) {
    this.target = target;
    this.draw();
  }

  /**
   * @override
   * @type {(columns: { name: string }[], isIn: boolean) => void}
   */
  put(columns, isIn) {
    for (const { name } of columns) {
      if (isIn || name === this.target) this.out.delete(name);
      else this.out.add(name);
    }
    this.first = this.first.filter((name) => !this.out.has(name));
    this.changed();
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

  /** @override */
  told() {
    const left = this.columns.filter(({ name }) => this.isCandidate(name)).length;
    return left === 1 ? "1 column takes part." : `${count(left)} columns take part.`;
  }

  /**
   * @override
   * @type {(column: Listed) => HTMLElement}
   */
  row(column) {
    const { name } = column;
    if (name === this.target) return h("li", { class: "muted" }, name, " is the target");
    const rank = this.first.indexOf(name);
    const ahead = h("button", {
      type: "button",
      class: "quiet small",
      "aria-pressed": rank >= 0 ? "true" : "false",
    });
    ahead.append(rank >= 0 ? `chosen as number ${rank + 1}` : "choose first");
    ahead.addEventListener("click", () => this.prefer(name, rank < 0));
    const row = super.row(column);
    row.append(ahead);
    return row;
  }

  /** @type {(name: string, isFirst: boolean) => void} */
  prefer(name, isFirst) {
    this.first = this.first.filter((one) => one !== name);
    if (isFirst) this.first.push(name);
    this.put(isFirst ? [{ name }] : [], true);
  }

  /**
   * What is left out or, where that is shorter, what is left.
   * @override
   * @returns {{ include: string[], exclude: string[], candidates: string[] }}
   */
  read() {
    const left = this.ticked().filter((name) => name !== this.target);
    const nOut = [...this.out].filter((name) => name !== this.target).length;
    const isShort = this.columns.length > 0 && left.length > 0 && left.length < nOut;
    return {
      include: this.first,
      exclude: isShort ? [...this.out].filter((name) => name === this.target) : [...this.out],
      candidates: isShort ? left : [],
    };
  }
}
