// The same request for a terminal and for a notebook.

import { getKey } from "../service/api.js";

/** @import { Draft, MethodDraft } from "./order.js" */

/** Where the service is: where the page is, which may stand below a prefix. */
function service() {
  return new URL(".", location.href).href.slice(0, -1);
}

/** @type {(specification: Draft) => string} */
export function curl(specification) {
  const body = JSON.stringify(specification, null, 2).replaceAll("'", "'\\''");
  const key = getKey() ? '  -H "Authorization: Bearer $PITH_KEY" \\\n' : "";
  return `curl ${service()}/v1/jobs \\\n${key}  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}

/** @type {(specification: Draft, fileName: string) => string} */
export function python(specification, fileName) {
  const key = getKey() ? ', os.environ["PITH_KEY"]' : "";
  const options = Object.entries(shortened(specification)).map(
    ([name, value]) => `    ${name}=${literal(value)},\n`,
  );
  return `${getKey() ? "import os\n\n" : ""}from pith_client import Pith

result = Pith(${literal(service())}${key}).select(
    ${literal(fileName)},
    target=${literal(specification.target)},
${options.join("")})
print(result.to_frame())`;
}

/**
 * As a person would type it: a method by its name, parts without options as True.
 * @type {(specification: Draft) => Record<string, unknown>}
 */
function shortened({ dataset_id: _, target: __, ...options }) {
  const { method, evaluate, compare, stability } = options;
  /** @type {Record<string, unknown>} */
  const short = { ...options };
  if (method) short.method = briefly(method);
  if (evaluate && !Object.keys(evaluate).length) short.evaluate = true;
  if (compare) {
    const methods = compare.methods.map(briefly);
    short.compare = Object.keys(compare).length > 1 ? { ...compare, methods } : methods;
  }
  if (stability) short.stability = stability.n_samples ?? true;
  return short;
}

/** @type {(method: MethodDraft) => string | MethodDraft} */
function briefly(method) {
  return Object.keys(method).length === 1 ? method.name : method;
}

/**
 * JSON is almost Python.
 * @type {(value: unknown) => string}
 */
function literal(value) {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object") {
    const pairs = Object.entries(value).map(([key, part]) => `${literal(key)}: ${literal(part)}`);
    return `{${pairs.join(", ")}}`;
  }
  return JSON.stringify(value);
}
