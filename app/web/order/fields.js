// Form fields that know their place in the specification (a JSON pointer) and show its mistakes.

import { h } from "../parts/dom.js";

/**
 * @import { Attributes } from "../parts/dom.js"
 * @typedef {{ at: string, label: string, hint?: string }} About
 * @typedef {[key: string, name: string]} Choice
 */

let numbered = 0;

/**
 * @template [Value=unknown]
 * @template {HTMLElement} [Control=HTMLElement]
 */
export class Field {
  /**
   * @param {About} about
   * @param {Control} control
   * @param {() => Value} read
   */
  constructor({ at, label, hint }, control, read) {
    this.pointer = at;
    this.control = control;
    this.read = read;
    control.id = `field-${++numbered}`;
    this.mistake = h("p", { class: "mistake", id: `${control.id}-mistake` });
    control.setAttribute("aria-describedby", this.mistake.id);
    const name = h("label", { for: control.id }, label);
    const isBox = control instanceof HTMLInputElement && control.type === "checkbox";
    this.element = h(
      "div",
      { class: isBox ? "field check" : "field" },
      ...(isBox ? [control, name] : [name, control]),
      hint ? h("p", { class: "hint" }, hint) : null,
      this.mistake,
    );
  }

  /** @type {(sentence: string) => void} */
  complain(sentence) {
    this.mistake.textContent = sentence;
    if (sentence) this.control.setAttribute("aria-invalid", "true");
    else this.control.removeAttribute("aria-invalid");
  }
}

/**
 * What was typed as the number it is; anything else goes to the service as it is, which explains.
 * @type {(text: string) => string | number}
 */
export function typed(text) {
  const trimmed = text.trim();
  return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

/** @type {(value: unknown, options?: Attributes) => HTMLInputElement} */
function input(value, options = {}) {
  const control = h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...options });
  control.value = String(value ?? "");
  return control;
}

/**
 * @param {About} about
 * @param {unknown} value
 * @param {Attributes} [options]
 */
export function textField(about, value, options) {
  const control = input(value, options);
  return new Field(about, control, () => control.value || undefined);
}

/** @type {(about: About, value: string) => Field<string | undefined>} */
export function textArea(about, value) {
  const control = h("textarea", { rows: 4, spellcheck: "false", class: "code" });
  control.value = value;
  return new Field(about, control, () => control.value || undefined);
}

/** @type {(about: About, value: unknown) => Field<string | number | undefined>} */
export function numberField(about, value) {
  const control = input(value, { inputmode: "decimal" });
  return new Field(about, control, () => (control.value.trim() === "" ? undefined : typed(control.value)));
}

/** @type {(about: About, values: unknown[]) => Field<(string | number)[]>} */
export function numbersField(about, values) {
  const control = input(values.join(", "));
  return new Field(about, control, () => control.value.split(",").map(typed));
}

/** @type {(about: About, choices: Choice[], value: unknown) => Field<string>} */
export function choiceField(about, choices, value) {
  const options = choices.map(([key, name]) => h("option", { value: key, selected: key === value }, name));
  const control = h("select", {}, options);
  return new Field(about, control, () => control.value);
}

/** @type {(about: About, value: boolean) => Field<boolean>} */
export function boxField(about, value) {
  const control = h("input", { type: "checkbox" });
  control.checked = value;
  return new Field(about, control, () => control.checked);
}

/** @type {(lines: string[]) => { control: HTMLTextAreaElement, read: () => string[] }} */
function linesOfText(lines) {
  const control = h("textarea", { rows: 2, spellcheck: "false" });
  control.value = lines.join("\n");
  const trimmed = () => control.value.split("\n").map((line) => line.trim());
  return { control, read: () => trimmed().filter(Boolean) };
}

/**
 * Lines of name = value; `cut` finds the sign between them in a line.
 * @param {About} about
 * @param {Record<string, string>} pairs
 * @param {(line: string) => number} cut
 */
export function pairsField(about, pairs, cut) {
  const { control, read } = linesOfText(Object.entries(pairs).map((pair) => pair.join(" = ")));
  /** @type {(line: string) => Choice} */
  const parted = (line) => {
    const at = cut(line);
    return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  };
  return new Field(about, control, () => Object.fromEntries(read().map(parted)));
}

/**
 * Several of a few: a box for each; one of them can be hidden.
 * @param {About} about
 * @param {Choice[]} choices
 * @param {string[]} chosen
 */
export function boxesField(about, choices, chosen) {
  const boxes = choices.map(([key, name]) => {
    const box = h("input", { type: "checkbox", value: key });
    box.checked = chosen.includes(key);
    return { box, label: h("label", {}, box, name) };
  });
  const labels = boxes.map(({ label }) => label);
  const group = h("div", { class: "boxes", role: "group", "aria-label": about.label }, labels);
  const read = () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
  /** @type {(key: string) => void} */
  const hide = (key) => {
    for (const { box, label } of boxes) label.hidden = box.value === key;
  };
  return Object.assign(new Field(about, group, read), { hide });
}

/** @type {(a: unknown, b: unknown) => boolean} */
export function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
