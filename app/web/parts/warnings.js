// What a reader should know about the table, in sentences.

import { h } from "./dom.js";

/** @import { TableWarning } from "contract" */

/**
 * @param {TableWarning[]} warnings
 * @param {(warning: TableWarning) => HTMLElement | string} [remedy] what to do about one
 */
export function warningList(warnings, remedy = () => "") {
  if (!warnings.length) return "";
  const items = warnings.map((warning) => h("li", {}, warning.message, " ", remedy(warning)));
  return h("ul", { class: "warnings", "aria-label": "Warnings" }, items);
}
