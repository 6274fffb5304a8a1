// Building elements. Text always enters as text: a column may be called <script>.

import { isLeaving } from "../service/leaving.js";

/**
 * @typedef {Node | string | null | undefined} Child
 * @typedef {string | number | boolean | null | undefined | ((event: Event) => unknown)} Value
 * @typedef {Record<string, Value>} Attributes
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 */
export function s(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/**
 * @template {Element} Kind
 * @param {Kind} element
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/**
 * An element that stands in the page from the start.
 * @type {<Kind extends HTMLElement>(id: string, kind: new () => Kind) => Kind}
 */
export function fixed(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`The page has no ${id}.`);
  return element;
}

/** @type {(sentence: string) => void} */
export function say(sentence) {
  fixed("said", HTMLElement).textContent = sentence;
}

/** @type {(sentence: string) => void} */
export function alarm(sentence) {
  const close = h("button", { type: "button", class: "quiet", "aria-label": "Close" }, "×");
  const box = h("div", { class: "alert" }, h("span", {}, sentence), close);
  close.addEventListener("click", () => box.remove());
  fixed("alerts", HTMLElement).replaceChildren(box);
}

/** @type {(away: boolean) => void} */
export function showAway(away) {
  const box = h("div", { class: "alert" }, "The service does not answer; trying again.");
  const shown = fixed("away", HTMLElement);
  if (away !== Boolean(shown.firstChild)) shown.replaceChildren(...(away ? [box] : []));
}

/** @type {(label: string, onclick: () => unknown, kind?: string) => HTMLButtonElement} */
export function button(label, onclick, kind = "") {
  return h("button", { type: "button", class: kind, onclick: guarded(onclick) }, label);
}

/**
 * An action that fails says so in a sentence.
 * @param {() => unknown} action
 */
export function guarded(action) {
  return async () => {
    try {
      await action();
    } catch (error) {
      if (!isLeaving(error)) alarm(reason(error));
    }
  };
}

/** @type {(error: unknown) => string} */
export function reason(error) {
  return error instanceof Error ? error.message : "Something went wrong.";
}

/** @type {(share: number, label: string) => SVGSVGElement} */
export function bar(share, label) {
  const fill = s("rect", { class: "fill", width: `${100 * share}%`, height: 6 });
  return s("svg", { class: "bar-line", role: "img", "aria-label": label }, fill);
}

/** @type {(status: string) => HTMLSpanElement} */
export function pill(status) {
  return h("span", { class: `pill ${status}` }, status);
}
