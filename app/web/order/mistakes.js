// Mistakes that the service found, each at the field it points to.

import { sentence } from "../service/api.js";

/**
 * @import { ProblemField } from "contract"
 * @import { Field } from "./fields.js"
 */

/**
 * Those that point to no field are returned.
 * @type {(fields: Field[], errors: ProblemField[]) => string[]}
 */
export function complain(fields, errors) {
  /** @type {Map<Field, string[]>} */
  const mistakes = new Map();
  const unplaced = [];
  for (const { pointer, detail } of errors) {
    const field = fieldAt(fields, pointer);
    if (field) mistakes.set(field, [...(mistakes.get(field) ?? []), sentence(detail)]);
    else unplaced.push(sentence(detail));
  }
  for (const field of fields) field.complain((mistakes.get(field) ?? []).join("\n"));
  for (const field of mistakes.keys()) field.element.closest("details")?.setAttribute("open", "");
  return unplaced;
}

/** @type {(fields: Field[], pointer: string) => Field | undefined} */
function fieldAt(fields, pointer) {
  const holds = (/** @type {Field} */ field) =>
    pointer === field.pointer || pointer.startsWith(`${field.pointer}/`);
  return fields.filter(holds).sort((a, b) => b.pointer.length - a.pointer.length)[0];
}
