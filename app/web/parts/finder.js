// What a list is narrowed to and sorted by; it stands in the address, so that it can be kept and sent.

import { button, h } from "./dom.js";

/** @typedef {[key: string, name: string]} Choice */

const PATIENCE = 250;

/** @template {string} Sort */
export class Finder {
  /**
   * @param {string} here where in the page, such as #/jobs
   * @param {URLSearchParams} query
   * @param {{ sorts: [Sort, string][], placeholder: string, filters?: Record<string, HTMLSelectElement> }} parts
   */
  constructor(here, query, { sorts, placeholder, filters = {} }) {
    this.here = here;
    this.label = query.get("label");
    this.filters = filters;
    this.search = h("input", { type: "search", class: "finding", "aria-label": placeholder, placeholder });
    this.search.value = query.get("search") ?? "";
    const options = sorts.map(([key, name]) =>
      h("option", { value: key, selected: key === query.get("sort") }, name),
    );
    this.sort = h("select", { class: "sorting", "aria-label": "Sorted by" }, options);
    this.usual = sorts[0]?.[0];
    this.element = h("div", { class: "finder" }, this.search, Object.values(filters), this.sort, this.chip());
  }

  /** @param {() => void} onChange */
  listen(onChange) {
    /** @type {number | undefined} */
    let timer;
    const changed = () => {
      history.replaceState(null, "", this.address());
      onChange();
    };
    this.search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(changed, PATIENCE);
    });
    for (const select of [this.sort, ...Object.values(this.filters)]) {
      select.addEventListener("change", changed);
    }
  }

  /** @returns {{ search?: string, label?: string, sort?: Sort }} */
  get wanted() {
    const search = this.search.value.trim() || undefined;
    const sort = /** @type {Sort} */ (this.sort.value);
    return { search, label: this.label ?? undefined, sort: sort === this.usual ? undefined : sort };
  }

  get isNarrow() {
    const filtered = Object.values(this.filters).some(({ value }) => value);
    return Boolean(this.wanted.search || this.label || filtered);
  }

  address() {
    const filters = Object.entries(this.filters).map(([name, { value }]) => [name, value]);
    const entries = [...Object.entries(this.wanted), ...filters].filter(([, value]) => value);
    const query = new URLSearchParams(entries.map(([name, value]) => [String(name), String(value)]));
    return entries.length ? `${this.here}?${query}` : this.here;
  }

  chip() {
    if (!this.label) return "";
    const clear = () => {
      this.label = null;
      location.hash = this.address();
    };
    const off = button("×", clear, "quiet small");
    off.setAttribute("aria-label", "All labels");
    return h("span", { class: "chip" }, this.label.replace("=", ": "), " ", off);
  }
}
