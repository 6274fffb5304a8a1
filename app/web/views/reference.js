// Data where it lies: a connection and a path, and what columns there are before anything is read.

import { choiceField, textField } from "../order/fields.js";
import { button, h, say } from "../parts/dom.js";
import { counted, size } from "../parts/format.js";
import { get, post } from "../service/api.js";

/**
 * @import { ConnectionRead, DatasetRead, SchemaRead } from "contract"
 * @import { Choice } from "../order/fields.js"
 * @typedef {(id: string, signal: AbortSignal) => Promise<DatasetRead>} WhenRead
 */

/**
 * Nothing, where no connection can be used.
 * @type {(root: HTMLElement, whenRead: WhenRead, signal: AbortSignal) => Promise<void>}
 */
export async function offerReference(root, whenRead, signal) {
  const { connections } = await get("/v1/connections", {}, signal);
  if (connections.length) root.append(referenceForm(connections, whenRead, signal));
}

/** @type {(connections: ConnectionRead[], whenRead: WhenRead, signal: AbortSignal) => HTMLElement} */
function referenceForm(connections, whenRead, signal) {
  /** @type {Choice[]} */
  const names = connections.map(({ name, description }) => [
    name,
    description ? `${name}: ${description}` : name,
  ]);
  const connection = choiceField({ at: "/source/connection", label: "Connection" }, names, names[0]?.[0]);
  const hint = "Files such as sales/2026/*.parquet; of a database, a table.";
  const path = textField({ at: "/source/path", label: "Path", hint }, "");
  const columns = h("div", { role: "status" });
  const body = () => {
    const name = connection.read();
    const isTable = connections.some((one) => one.name === name && one.type === "postgres");
    return { source: { connection: name, [isTable ? "table" : "path"]: path.read() ?? "" } };
  };
  const show = async () => {
    columns.replaceChildren();
    columns.replaceChildren(schemaTable(await post("/v1/datasets/schema", {}, body(), { signal })));
  };
  const read = async () => {
    const { id } = /** @type {{ id: string }} */ (await post("/v1/datasets", {}, body(), { signal }));
    say("Reading");
    const dataset = await whenRead(id, signal);
    say(dataset.reason ?? "The data is ready");
    location.hash = `#/datasets/${id}`;
  };
  return h(
    "details",
    { class: "reference" },
    h("summary", {}, "Or read data where it lies"),
    h("div", { class: "pair" }, connection.element, path.element),
    h("div", { class: "actions" }, button("Show columns", show, "quiet"), button("Read", read, "primary")),
    columns,
  );
}

/** @type {(schema: SchemaRead) => HTMLElement} */
function schemaTable({ columns, n_objects: nObjects, n_bytes: nBytes }) {
  const files = nObjects ? `, ${counted(nObjects, "file")}, ${size(nBytes ?? 0)}` : "";
  return h(
    "div",
    {},
    h("p", { class: "muted" }, `${counted(columns.length, "column")}${files}`),
    h(
      "ul",
      { "aria-label": "Columns" },
      columns.map(({ name, kind }) => h("li", {}, name, " ", h("span", { class: "muted" }, kind))),
    ),
  );
}
