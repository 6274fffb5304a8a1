// What a mark of a chart says: on hover, on touch, and with the arrow keys once the chart has the focus.

import { h } from "./dom.js";

/**
 * Marks carry a title; the browser's own hint comes late, and neither by touch nor by key.
 * @type {(svg: SVGElement) => void}
 */
export function explainMarks(svg) {
  const marks = [...svg.querySelectorAll("title")].flatMap((title) => {
    /** @type {Node | null} */
    const mark = title.parentNode;
    if (!(mark instanceof SVGElement) || mark === svg || !title.textContent) return [];
    mark.setAttribute("aria-label", title.textContent);
    mark.classList.add("says");
    title.remove();
    return [mark];
  });
  if (!marks.length) return;
  const hint = h("div", { class: "hint-box", role: "status", hidden: true });
  let at = -1;
  /** @type {(mark?: SVGElement) => void} */
  const show = (mark) => {
    for (const one of marks) one.classList.toggle("said", one === mark);
    hint.hidden = !mark;
    if (!mark) return;
    at = marks.indexOf(mark);
    hint.textContent = mark.getAttribute("aria-label");
    place(hint, mark, svg);
  };
  const found = (/** @type {Event} */ { target }) =>
    target instanceof Element ? marks.find((mark) => mark.contains(target)) : undefined;
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("pointerover", (event) => show(found(event)));
  svg.addEventListener("pointerdown", (event) => show(found(event)));
  svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && show());
  svg.addEventListener("blur", () => show());
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show();
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(marks[(at + step + marks.length) % marks.length]);
  });
  svg.after(hint);
}

/** @type {(hint: HTMLElement, mark: SVGElement, svg: SVGElement) => void} */
function place(hint, mark, svg) {
  const frame = svg.getBoundingClientRect();
  const box = mark.getBoundingClientRect();
  const middle = box.left + box.width / 2 - frame.left;
  const left = Math.max(0, Math.min(middle - hint.offsetWidth / 2, frame.width - hint.offsetWidth));
  const above = box.top - frame.top - hint.offsetHeight - 6;
  hint.style.left = `${left}px`;
  hint.style.top = `${above > 0 ? above : box.bottom - frame.top + 6}px`;
}
