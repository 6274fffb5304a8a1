// Everything that can be taken away: data as CSV and JSON, pictures as SVG and PNG.

import { button, h } from "./dom.js";

/** @type {(name: string, blob: Blob) => void} */
export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * A name that says what is in the file, of letters that every system takes.
 * @type {(...words: string[]) => string}
 */
export function fileName(...words) {
  const plain = words.map((word) => word.replace(/\.(csv|tsv|txt|parquet|pq|arrows?|feather|ipc)\b/i, ""));
  return plain
    .join("-")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 120);
}

/** @type {(name: string, text: string, type: string) => void} */
export function saveText(name, text, type) {
  save(name, new Blob([text], { type }));
}

/** @type {(columns: string[], rows: unknown[][]) => string} */
export function csv(columns, rows) {
  return [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/** @type {(value: unknown) => string} */
function cell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @type {(columns: string[], rows: unknown[][]) => Record<string, unknown>[]} */
export function records(columns, rows) {
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
}

/** @type {(svg: string, scale?: number) => Promise<Blob>} */
export async function png(svg, scale = 2) {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width * scale, image.height * scale);
    const context = canvas.getContext("2d");
    context?.scale(scale, scale);
    context?.drawImage(image, 0, 0);
    return await canvas.convertToBlob({ type: "image/png" });
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @type {(read: () => string, label?: string) => HTMLButtonElement} */
export function copyButton(read, label = "Copy") {
  const copying = button(
    label,
    async () => {
      await copy(read());
      copying.textContent = "Copied";
      setTimeout(() => {
        copying.textContent = label;
      }, 1500);
    },
    "quiet small",
  );
  return copying;
}

/**
 * Without TLS there is no clipboard to write to, except by way of a selection.
 * @type {(text: string) => Promise<void>}
 */
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = h("textarea", { class: "unseen" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
