// Form fields that know their place in the specification (a JSON pointer) and show its mistakes.

import { h } from "./dom.js";

let numbered = 0;

export class Field {
  constructor(pointer, label, control, read, hint = "") {
    this.pointer = pointer;
    this.control = control;
    this.read = read;
    control.id = `field-${++numbered}`;
    this.mistake = h("p", { class: "mistake", id: `${control.id}-mistake` });
    control.setAttribute("aria-describedby", this.mistake.id);
    const name = h("label", { for: control.id }, label);
    const isBox = control.type === "checkbox";
    this.element = h("div", { class: isBox ? "field check" : "field" },
      ...(isBox ? [control, name] : [name, control]),
      hint ? h("p", { class: "hint" }, hint) : null, this.mistake);
  }

  complain(sentence) {
    this.mistake.textContent = sentence;
    if (sentence) this.control.setAttribute("aria-invalid", "true");
    else this.control.removeAttribute("aria-invalid");
  }
}

// What was typed as the number it is; anything else goes to the service as it is, which explains.
export function typed(text) {
  const trimmed = text.trim();
  return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

export function textField(pointer, label, value = "", hint = "", options = {}) {
  const control = h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...options });
  control.value = value;
  return new Field(pointer, label, control, () => control.value || undefined, hint);
}

export function numberField(pointer, label, value, hint = "") {
  const field = textField(pointer, label, value ?? "", hint, { inputmode: "decimal" });
  field.read = () => (field.control.value.trim() === "" ? undefined : typed(field.control.value));
  return field;
}

export function choiceField(pointer, label, choices, value, hint = "") {
  const control = h("select", {}, choices.map(([key, name]) =>
    h("option", { value: key, selected: key === value }, name)));
  return new Field(pointer, label, control, () => control.value, hint);
}

export function boxField(pointer, label, value, hint = "") {
  const control = h("input", { type: "checkbox" });
  control.checked = value;
  return new Field(pointer, label, control, () => control.checked, hint);
}

export function listField(pointer, label, value, hint = "") {
  const control = h("textarea", { rows: 2, spellcheck: "false" });
  control.value = (value ?? []).join("\n");
  const read = () => control.value.split("\n").map((line) => line.trim()).filter(Boolean);
  return new Field(pointer, label, control, read, hint);
}

// Lines of name = value; `cut` finds the sign between them in a line.
export function pairsField(pointer, label, value, hint, cut) {
  const lines = Object.entries(value ?? {}).map(([name, given]) => `${name} = ${given}`);
  const field = listField(pointer, label, lines, hint);
  const readLines = field.read;
  field.read = () => Object.fromEntries(readLines().map((line) => {
    const at = cut(line);
    return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  }));
  return field;
}

// Several of a few: a box for each.
export function boxesField(pointer, label, choices, chosen) {
  const boxes = choices.map(([key, name]) => {
    const box = h("input", { type: "checkbox", value: key });
    box.checked = chosen.includes(key);
    return h("label", {}, box, name);
  });
  const group = h("div", { class: "boxes", role: "group", "aria-label": label }, boxes);
  const read = () => [...group.querySelectorAll(":checked")].map((box) => box.value);
  return new Field(pointer, label, group, read);
}

function numbersField(pointer, label, value, hint) {
  const field = textField(pointer, label, value.join(", "), hint);
  field.read = () => field.control.value.split(",").map(typed);
  return field;
}

// The fields of a method, from the JSON schema of its parameters.
export function parameterFields(schema, given = {}) {
  return Object.entries(schema.properties)
    .filter(([name]) => name !== "name")
    .map(([name, property]) => {
      const pointer = `/method/${name}`;
      const value = given[name] ?? property.default;
      const field = parameterField(pointer, name, property, value);
      return Object.assign(field, { name, standard: property.default });
    });
}

function parameterField(pointer, name, property, value) {
  if (property.enum) return choiceField(pointer, name, property.enum.map((v) => [v, v]), value);
  if (property.type === "boolean") return boxField(pointer, name, value);
  const limits = property.items ?? property;
  const hint = `${limits.minimum} to ${limits.maximum.toLocaleString("en")}`;
  if (property.type === "array") return numbersField(pointer, name, value, `${hint}, by commas`);
  return numberField(pointer, name, value, hint);
}

export function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
