// A name that can be changed where it stands, and labels beside it.

import { button, h, say } from "./dom.js";

/** @typedef {(change: { name?: string, labels?: Record<string, string> }) => Promise<unknown>} Change */

/**
 * @param {string} name
 * @param {Change} change
 * @param {(Node | string)[]} [beside]
 */
export function nameHead(name, change, beside = []) {
  const shown = h("span", {}, name);
  const edit = button("Rename", () => open(), "quiet small");
  const head = h("h1", {}, shown, " ", ...beside, " ", edit);
  const input = h("input", { type: "text", "aria-label": "Name", maxlength: 255 });
  const open = () => {
    input.value = shown.textContent ?? "";
    head.replaceChildren(form);
    input.select();
  };
  const close = () => {
    head.replaceChildren(shown, " ", ...beside, " ", edit);
    edit.focus();
  };
  const save = async () => {
    const wanted = input.value.trim();
    if (wanted && wanted !== shown.textContent) {
      await change({ name: wanted });
      shown.textContent = wanted;
      say("Renamed");
    }
    close();
  };
  const form = h(
    "form",
    { class: "rename" },
    input,
    button("Save", save, "primary small"),
    button("Leave it", close, "quiet small"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    form.querySelector("button")?.click();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  return head;
}

/** @type {(labels: Record<string, string>, here: string) => HTMLElement | string} */
export function labelChips(labels, here) {
  const entries = Object.entries(labels);
  if (!entries.length) return "";
  const chips = entries.map(([key, value]) => {
    const query = new URLSearchParams({ label: `${key}=${value}` });
    return h("a", { class: "chip", href: `${here}?${query}` }, value ? `${key}: ${value}` : key);
  });
  return h("span", { class: "chips" }, chips);
}

/**
 * Labels as lines, to be changed.
 * @param {Record<string, string>} labels
 * @param {Change} change
 * @param {string} here
 */
export function labelEditor(labels, change, here) {
  const box = h("div", { class: "labels" });
  const lines = h("textarea", { rows: 2, "aria-label": "Labels", placeholder: "key = value, one a line" });
  /** @type {(current: Record<string, string>) => void} */
  const show = (current) => {
    const edit = () => {
      lines.value = Object.entries(current)
        .map((pair) => pair.join(" = "))
        .join("\n");
      box.replaceChildren(
        lines,
        button("Save labels", save, "small"),
        button("Leave them", () => show(current), "quiet small"),
      );
      lines.focus();
    };
    const word = Object.keys(current).length ? "Change labels" : "Add labels";
    box.replaceChildren(labelChips(current, here), button(word, edit, "quiet small"));
  };
  const save = async () => {
    const parted = lines.value
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
      .map((line) => line.split(/\s*=\s*(.*)/s).slice(0, 2));
    const wanted = Object.fromEntries(parted.map(([key, value]) => [key, value ?? ""]));
    await change({ labels: wanted });
    show(wanted);
    say("Labels saved");
  };
  show(labels);
  return box;
}
