// Pictures of several measures, of which one is looked at.

import { h } from "./dom.js";

/** @import { ChartRead } from "contract" */

/** @type {[measure: string, name: string][]} */
const MEASURES = [
  ["information", "information"],
  ["accuracy", "accuracy"],
  ["balanced_accuracy", "balanced accuracy"],
  ["auc", "AUC"],
  ["log_loss", "log-loss"],
  ["r2", "R²"],
  ["rank_correlation", "rank correlation"],
];

/**
 * Draws the charts of the first measure, and of another when it is chosen; those without always.
 * @type {(charts: ChartRead[], draw: (some: ChartRead[]) => void) => HTMLElement | string}
 */
export function measureSwitch(charts, draw) {
  const known = MEASURES.filter(([measure]) => charts.some((chart) => chart.measure === measure));
  const show = (/** @type {string} */ measure) =>
    draw(charts.filter((chart) => !chart.measure || chart.measure === measure));
  show(known[0]?.[0] ?? "");
  if (known.length < 2) return "";
  const buttons = known.map(([measure, name], i) =>
    h(
      "button",
      { type: "button", class: "quiet small", "data-measure": measure, "aria-pressed": String(!i) },
      name,
    ),
  );
  const group = h("div", { class: "switch", role: "group", "aria-label": "Score" }, buttons);
  group.addEventListener("click", ({ target }) => {
    if (!(target instanceof HTMLElement) || !target.dataset.measure) return;
    for (const one of buttons) one.setAttribute("aria-pressed", String(one === target));
    show(target.dataset.measure);
  });
  return group;
}
