// Data where it lies: what columns there are before anything is read, and reading it.

import { complain } from "../order/mistakes.js";
import { SourceForm } from "../order/source.js";
import { button, h, say } from "../parts/dom.js";
import { count, counted, size } from "../parts/format.js";
import { get, Problem, post } from "../service/api.js";

/**
 * @import { DatasetRead, SchemaRead } from "contract"
 * @typedef {(id: string, signal: AbortSignal) => Promise<DatasetRead>} WhenRead
 */

/**
 * Nothing, where no connection can be used.
 * @type {(root: HTMLElement, whenRead: WhenRead, signal: AbortSignal) => Promise<void>}
 */
export async function offerReference(root, whenRead, signal) {
  const { connections } = await get("/v1/connections", {}, signal);
  if (connections.length)
    root.append(new ReferenceForm(new SourceForm(connections), whenRead, signal).element);
}

class ReferenceForm {
  /**
   * @param {SourceForm} form
   * @param {WhenRead} whenRead
   * @param {AbortSignal} signal
   */
  constructor(form, whenRead, signal) {
    this.form = form;
    this.whenRead = whenRead;
    this.signal = signal;
    this.facts = h("p", { class: "hint", role: "status" });
    this.words = h("p", { class: "verdict bad", role: "status" });
    this.look = button("Show columns", () => this.busy(this.look, () => this.show()));
    this.go = button("Read", () => this.busy(this.go, () => this.read()), "primary");
    /** @type {string | null} of which place the columns are shown */
    this.shown = null;
    this.element = this.drawn();
  }

  drawn() {
    const { connection, ways, placeFields, name, rows, conditions, columns } = this.form;
    const parts = Object.values(rows).map(({ element }) => element);
    const element = h(
      "details",
      { class: "reference" },
      h("summary", {}, "Or read data where it lies"),
      h("div", { class: "pair" }, connection.element, ways),
      placeFields,
      h("div", { class: "actions" }, this.look),
      this.facts,
      columns.field.element,
      h(
        "details",
        {},
        h("summary", {}, "Only some of its rows"),
        h("div", { class: "triple" }, parts),
        conditions.element,
      ),
      name.element,
      this.words,
      h("div", { class: "actions" }, this.go),
    );
    for (const event of ["input", "change"]) element.addEventListener(event, () => this.outdate());
    return element;
  }

  /** Columns are of the place that they were asked for. */
  outdate() {
    if (this.shown === null || this.shown === this.place) return;
    this.shown = null;
    this.form.offer(null);
    this.facts.textContent = "";
  }

  get place() {
    return JSON.stringify(this.form.whole());
  }

  /**
   * Mistakes stand at their fields, and what is about none of them above the button.
   * @type {(used: HTMLButtonElement, action: () => Promise<void>) => Promise<void>}
   */
  async busy(used, action) {
    this.look.disabled = this.go.disabled = true;
    used.setAttribute("aria-busy", "true");
    complain(this.form.fields, []);
    this.words.textContent = "";
    try {
      await action();
    } catch (error) {
      if (!(error instanceof Problem) || !error.errors.length) throw error;
      this.words.textContent = complain(this.form.fields, error.errors).join(" ");
    } finally {
      used.removeAttribute("aria-busy");
      this.look.disabled = this.go.disabled = false;
    }
  }

  async show() {
    const schema = await this.schemaOf({ source: this.form.whole() });
    this.shown = this.place;
    this.form.offer(schema);
    this.facts.textContent = described(schema);
  }

  /** @type {(body: object) => Promise<SchemaRead>} */
  schemaOf(body) {
    return post("/v1/datasets/schema", {}, body, { signal: this.signal });
  }

  /** What conditions are about is looked at before: mistakes in them are shown here. */
  async read() {
    if (this.form.conditions.lines.length) {
      if (this.shown === null) await this.show();
      await this.schemaOf(this.form.body());
    }
    const asked = await post("/v1/datasets", {}, this.form.body(), { signal: this.signal });
    const { id } = /** @type {{ id: string }} */ (asked);
    say("Reading");
    const dataset = await this.whenRead(id, this.signal);
    say(dataset.reason ?? "The data is ready");
    location.hash = `#/datasets/${id}`;
  }
}

/** @type {(schema: SchemaRead) => string} */
function described({ columns, n_objects: nObjects, n_bytes: nBytes, n_rows: nRows, snapshot }) {
  const facts = [
    counted(columns.length, "column"),
    nObjects ? counted(nObjects, "file") : "",
    nBytes ? size(nBytes) : "",
    nRows ? `${count(nRows)} rows` : "",
    snapshot ? versionOf(snapshot) : "",
  ];
  return `${facts.filter(Boolean).join(", ")}. Nothing has been read yet.`;
}

/**
 * Snapshots of Iceberg have more digits than numbers have here.
 * @type {(snapshot: NonNullable<SchemaRead["snapshot"]>) => string}
 */
function versionOf({ format, version }) {
  const name = format === "delta" ? "Delta" : "Iceberg";
  return Number.isSafeInteger(version) ? `version ${version} of a ${name} table` : `a table of ${name}`;
}
