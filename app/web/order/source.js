// Data where it lies: which of it, of what connection, and which part. Only what fits its type is asked.

import { h } from "../parts/dom.js";
import { Conditions } from "./conditions.js";
import { choiceField, numberField, textArea, textField } from "./fields.js";
import { TickedColumns } from "./ticked.js";

/**
 * @import { ConnectionRead, SchemaRead } from "contract"
 * @import { Choice, Field } from "./fields.js"
 * @typedef {"path" | "table" | "query"} Way
 */

/** @type {Choice[]} */
const FORMATS = [
  ["", "by the name of the file"],
  ["csv", "CSV"],
  ["parquet", "Parquet"],
  ["arrow_file", "Arrow file"],
  ["arrow_stream", "Arrow stream"],
];

/** @type {Choice[]} */
const ROWS = [
  ["", "all"],
  ["limit", "the first"],
  ["sample", "some, drawn at random"],
];

/** @type {(connection: ConnectionRead) => Choice[]} */
function waysOf({ type, queries }) {
  if (type === "https") return [["path", "a file"]];
  if (type !== "postgres") {
    return [
      ["path", "files"],
      ["table", "a Delta or Iceberg table"],
    ];
  }
  return queries
    ? [
        ["table", "a table"],
        ["query", "a query"],
      ]
    : [["table", "a table"]];
}

export class SourceForm {
  /** @param {ConnectionRead[]} connections */
  constructor(connections) {
    this.connections = connections;
    /** @type {Choice[]} */
    const names = connections.map(({ name, description }) => [
      name,
      description ? `${name}: ${description}` : name,
    ]);
    this.connection = choiceField({ at: "/source/connection", label: "Connection" }, names, names[0]?.[0]);
    this.ways = h("div", {});
    this.placeFields = h("div", { class: "pair" });
    this.way = this.chooseConnection();
    this.place = this.chooseWay();
    this.name = textField({ at: "/name", label: "Name", hint: "What you call the dataset." }, "");
    this.rows = rowFields();
    this.conditions = new Conditions();
    this.columns = new TickedColumns({ at: "/source/columns", label: "Columns" }, "Find a column to read");
    this.columns.field.element.hidden = true;
    this.connection.control.addEventListener("change", () => {
      this.way = this.chooseConnection();
      this.place = this.chooseWay();
    });
  }

  get chosen() {
    const found = this.connections.find(({ name }) => name === this.connection.read());
    if (!found) throw new Error("There is no such connection.");
    return found;
  }

  chooseConnection() {
    const ways = waysOf(this.chosen);
    const way = choiceField({ at: "/way", label: "What is read" }, ways, ways[0]?.[0]);
    way.element.hidden = ways.length === 1;
    way.control.addEventListener("change", () => {
      this.place = this.chooseWay();
    });
    this.ways.replaceChildren(way.element);
    return way;
  }

  chooseWay() {
    const fields = placeFields(this.chosen, /** @type {Way} */ (this.way.read()));
    this.placeFields.replaceChildren(...fields.map(({ element }) => element));
    return fields;
  }

  /** @type {(schema: SchemaRead | null) => void} */
  offer(schema) {
    this.columns.offer(schema?.columns ?? []);
    this.conditions.offer(schema?.columns ?? []);
    this.columns.field.element.hidden = !schema;
  }

  /** @returns {Field[]} */
  get fields() {
    const { connection, name, columns, rows, conditions, place } = this;
    return [connection, name, columns.field, ...place, ...Object.values(rows), ...conditions.fields];
  }

  /** Where it is, without which part of it: what was typed may be wrong, as the service says. */
  whole() {
    const [main, detail] = this.place.map((field) => field.read());
    const way = this.way.read();
    const more = way === "path" ? { format: detail || undefined } : { version: detail };
    return { connection: this.connection.read(), [way]: main ?? "", ...more };
  }

  part() {
    const isAll = this.columns.ticked().length === this.columns.columns.length;
    const { which, limit, sample, seed } = this.rows;
    const drawn = { rows: sample.read() ?? "", seed: seed.read() };
    return {
      columns: isAll ? undefined : this.columns.ticked(),
      filter: this.conditions.read(),
      limit: which.read() === "limit" ? (limit.read() ?? "") : undefined,
      sample: which.read() === "sample" ? drawn : undefined,
    };
  }

  body() {
    const [main] = this.place.map((field) => field.read());
    const usual = this.way.read() === "query" ? "query" : main;
    const name = this.name.read() ?? (usual === undefined ? undefined : String(usual).slice(-255));
    return { source: { ...this.whole(), ...this.part() }, name };
  }
}

/**
 * What is named, and what may be said besides.
 * @type {(connection: ConnectionRead, way: Way) => Field<string | undefined>[]}
 */
function placeFields(connection, way) {
  const at = `/source/${way}`;
  if (way === "query") {
    const hint = "One SELECT, in a transaction that only reads.";
    return [textArea({ at, label: "Query", hint }, "")];
  }
  if (connection.type === "postgres") {
    const hint = `In ${(connection.schemas ?? []).join(" or ")}.`;
    return [textField({ at, label: "Table", hint }, "")];
  }
  if (way === "table") {
    const version = { at: "/source/version", label: "Version or snapshot", hint: "The newest, when empty." };
    const hint = `The folder of the table.${below(connection)}`;
    return [textField({ at, label: "Table", hint }, ""), textField(version, "", { inputmode: "numeric" })];
  }
  const format = choiceField({ at: "/source/format", label: "Format" }, FORMATS, "");
  const isAddress = connection.type === "https";
  const hint = isAddress
    ? `At ${(connection.hosts ?? []).join(" or ")}.`
    : `Such as sales/2026/*.parquet, or sales/** for all below.${below(connection)}`;
  return [textField({ at, label: isAddress ? "Address" : "Path", hint }, ""), format];
}

/** @type {(connection: ConnectionRead) => string} */
function below({ read = [] }) {
  const folders = read.filter(Boolean);
  return folders.length ? ` Folders that may be read: ${folders.join(", ")}.` : "";
}

/** Which rows: those that are not asked for are hidden. */
function rowFields() {
  const which = choiceField({ at: "/rows", label: "Rows" }, ROWS, "");
  const limit = numberField({ at: "/source/limit", label: "How many" }, "");
  const sample = numberField({ at: "/source/sample/rows", label: "How many" }, "");
  const seed = numberField(
    { at: "/source/sample/seed", label: "Seed", hint: "The same seed draws the same rows." },
    0,
  );
  const fit = () => {
    limit.element.hidden = which.read() !== "limit";
    sample.element.hidden = which.read() !== "sample";
    seed.element.hidden = which.read() !== "sample";
  };
  which.control.addEventListener("change", fit);
  fit();
  return { which, limit, sample, seed };
}
