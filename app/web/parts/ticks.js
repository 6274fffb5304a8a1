// Two rows of a list, ticked to be looked at side by side.

import { button, h, say } from "./dom.js";

export class Ticks {
  constructor() {
    /** @type {Set<string>} */
    this.chosen = new Set();
    this.go = button("Compare", () => this.open(), "quiet");
    this.update();
  }

  /** @type {(id: string, label: string) => HTMLElement} */
  box(id, label) {
    const box = h("input", { type: "checkbox", "aria-label": label, checked: this.chosen.has(id) });
    box.addEventListener("change", () => {
      if (box.checked) this.chosen.add(id);
      else this.chosen.delete(id);
      this.update();
    });
    return box;
  }

  update() {
    const n = this.chosen.size;
    this.go.disabled = n !== 2;
    this.go.title = n === 2 ? "" : "Tick two jobs that succeeded";
    if (n === 2) say("Two jobs can be compared");
  }

  /** The one that was ticked first is A. */
  open() {
    const [a = "", b = ""] = this.chosen;
    location.hash = `#/compare?${new URLSearchParams({ a, b })}`;
  }
}
