// What to do with the choice: the reduced table, and the names for one's own code.

import { button, h } from "../parts/dom.js";
import { copyButton, save } from "../parts/save.js";
import { getBlob } from "../service/api.js";

/** @import { EncodedColumn, ResultRead } from "contract" */

/** @type {[name: string, type: string, extension: string][]} */
const FORMATS = [
  ["CSV", "text/csv", "csv"],
  ["Parquet", "application/vnd.apache.parquet", "parquet"],
  ["Arrow", "application/vnd.apache.arrow.stream", "arrows"],
];

/** @type {(result: ResultRead, jobId: string, fileName: string) => HTMLElement | string} */
export function takeAway(result, jobId, fileName) {
  const names = result.selected.map(({ name }) => name);
  if (!names.length) return "";
  const tables = FORMATS.map(([format, type, extension]) => {
    const download = async () => {
      const blob = await getBlob("/v1/jobs/{job_id}/data", { job_id: jobId }, type);
      save(`${fileName}-selected.${extension}`, blob);
    };
    return button(format, download, "quiet small");
  });
  const copies = [
    copyButton(() => names.join("\n"), "Text"),
    copyButton(() => pythonList(names), "Python"),
    copyButton(() => names.map(sqlName).join(", "), "SQL"),
    copyButton(() => transformer(result), "scikit-learn"),
  ];
  return h(
    "div",
    { class: "take-away" },
    h("span", { class: "downloads" }, h("span", { class: "muted" }, "Reduced table"), tables),
    h("span", { class: "downloads" }, h("span", { class: "muted" }, "Copy the names as"), copies),
  );
}

/** @type {(names: string[]) => string} */
function pythonList(names) {
  return `[${names.map((name) => JSON.stringify(name)).join(", ")}]`;
}

/** @type {(name: string) => string} */
function sqlName(name) {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * A pipeline's first step that keeps the chosen columns: numbers as they are, categories as columns of 0 and 1.
 * @type {(result: ResultRead) => string}
 */
function transformer({ selected, encoding }) {
  const kinds = new Map(encoding.map((/** @type {EncodedColumn} */ column) => [column.name, column.kind]));
  const isNumber = (/** @type {string} */ name) => kinds.get(name) === "continuous";
  const names = selected.map(({ name }) => name);
  const numbers = names.filter(isNumber);
  const categories = names.filter((name) => !isNumber(name));
  const steps = [
    numbers.length ? `        ("numbers", "passthrough", ${pythonList(numbers)}),\n` : "",
    categories.length
      ? `        ("categories", OneHotEncoder(handle_unknown="ignore"), ${pythonList(categories)}),\n`
      : "",
  ];
  const imports = categories.length ? "from sklearn.preprocessing import OneHotEncoder\n" : "";
  return `from sklearn.compose import ColumnTransformer\n${imports}
chosen = ColumnTransformer(
    [
${steps.join("")}    ],
    remainder="drop",
)
`;
}
