// Conditions on rows: a column, a comparison and what it is compared with, one a line.

import { button, h } from "../parts/dom.js";
import { choiceField, textField, typed } from "./fields.js";

/**
 * @import { Condition } from "contract"
 * @import { Choice, Field } from "./fields.js"
 * @import { Listed } from "./ticked.js"
 * @typedef {{ column: Field<string | undefined>, op: Field<string>, value: Field<string | undefined> }} Line
 */

const NAMES = "source-columns";
const VALUELESS = new Set(["is_null", "is_not_null"]);

/** @type {Choice[]} */
const COMPARISONS = [
  ["==", "is"],
  ["!=", "is not"],
  ["<", "is less than"],
  ["<=", "is at most"],
  [">", "is more than"],
  [">=", "is at least"],
  ["in", "is one of"],
  ["is_null", "is missing"],
  ["is_not_null", "is not missing"],
];

export class Conditions {
  constructor() {
    /** @type {Line[]} */
    this.lines = [];
    /** @type {Map<string, string>} */
    this.kinds = new Map();
    this.names = h("datalist", { id: NAMES });
    this.rows = h("div", {});
    this.element = h(
      "div",
      { class: "conditions" },
      this.names,
      this.rows,
      button("Add a condition", () => this.add(), "small"),
    );
  }

  /** @type {(columns: Listed[]) => void} */
  offer(columns) {
    this.kinds = new Map(columns.map(({ name, kind }) => [name, kind]));
    this.names.replaceChildren(...columns.map(({ name }) => h("option", { value: name })));
  }

  add() {
    const at = `/source/filter/${this.lines.length}`;
    const several = "Several with commas between them.";
    const line = {
      column: textField({ at: `${at}/column`, label: "Column" }, "", { list: NAMES }),
      op: choiceField({ at: `${at}/op`, label: "Comparison" }, COMPARISONS, "=="),
      value: textField({ at: `${at}/value`, label: "Value", hint: several }, ""),
    };
    const hint = line.value.element.querySelector(".hint");
    const fit = () => {
      line.value.element.hidden = VALUELESS.has(line.op.read());
      if (hint instanceof HTMLElement) hint.hidden = line.op.read() !== "in";
    };
    line.op.control.addEventListener("change", fit);
    fit();
    const drop = button("Remove", () => this.drop(line, row), "quiet small");
    const row = h("div", { class: "condition" }, ...Object.values(line).map(({ element }) => element), drop);
    this.lines.push(line);
    this.rows.append(row);
    line.column.control.focus();
  }

  /** @type {(line: Line, row: HTMLElement) => void} */
  drop(line, row) {
    row.remove();
    this.lines = this.lines.filter((one) => one !== line);
    for (const [n, fields] of this.lines.entries()) {
      for (const [name, field] of Object.entries(fields)) field.pointer = `/source/filter/${n}/${name}`;
    }
  }

  /** @returns {Field[]} */
  get fields() {
    return this.lines.flatMap((line) => Object.values(line));
  }

  read() {
    return this.lines.map(({ column, op, value }) => {
      const name = column.read() ?? "";
      const compared = this.compared(name, op.read(), value.read() ?? "");
      return { column: name, op: op.read(), ...compared };
    });
  }

  /** @type {(name: string, op: string, text: string) => { value?: unknown }} */
  compared(name, op, text) {
    if (VALUELESS.has(op)) return {};
    const kind = this.kinds.get(name);
    return { value: op === "in" ? text.split(",").map((one) => valued(one, kind)) : valued(text, kind) };
  }
}

/**
 * As columns of this kind have values; a number may be one where the kind is not known.
 * @type {(text: string, kind: string | undefined) => Condition["value"]}
 */
function valued(text, kind) {
  const trimmed = text.trim();
  if (kind === "boolean" && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === "true";
  return kind === "text" || kind === "time" ? trimmed : typed(trimmed);
}
