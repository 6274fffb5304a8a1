// The same request for a terminal and for a notebook.

import { getKey } from "./api.js";

export function curl(specification) {
  const body = JSON.stringify(specification, null, 2).replaceAll("'", "'\\''");
  const key = getKey() ? "  -H \"Authorization: Bearer $PITH_KEY\" \\\n" : "";
  return `curl ${location.origin}/v1/jobs \\\n${key}  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}

export function python(specification, fileName) {
  const { dataset_id: _, target, ...rest } = specification;
  const key = getKey() ? ", os.environ[\"PITH_KEY\"]" : "";
  const options = Object.entries(shortened(rest)).map(([name, value]) => `    ${name}=${literal(value)},\n`);
  return `${getKey() ? "import os\n\n" : ""}from pith_client import Pith

result = Pith(${literal(location.origin)}${key}).select(
    ${literal(fileName)},
    target=${literal(target)},
${options.join("")})
print(result.to_frame())`;
}

// As a person would type it: a method by its name, parts without options as True.
function shortened(options) {
  const method = (choice) => (Object.keys(choice).length === 1 ? choice.name : choice);
  const short = { ...options };
  if (short.method) short.method = method(short.method);
  if (short.evaluate && !Object.keys(short.evaluate).length) short.evaluate = true;
  if (short.compare) {
    const { methods, ...more } = short.compare;
    const listed = methods.map(method);
    short.compare = Object.keys(more).length ? { methods: listed, ...more } : listed;
  }
  if (short.stability) short.stability = short.stability.n_samples ?? true;
  return short;
}

// JSON is almost Python.
function literal(value) {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([k, v]) => `${literal(k)}: ${literal(v)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}
