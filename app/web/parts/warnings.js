// What a reader should know about the table, in sentences.

import { h } from "./dom.js";

/** @import { TableWarning } from "contract" */

/** @type {(warnings: TableWarning[]) => HTMLElement | string} */
export function warningList(warnings) {
  if (!warnings.length) return "";
  const items = warnings.map(({ message }) => h("li", {}, message));
  return h("ul", { class: "warnings", "aria-label": "Warnings" }, items);
}
