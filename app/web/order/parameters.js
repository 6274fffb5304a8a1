// The fields of a method, from the JSON schema of its parameters.

import { count } from "../parts/format.js";
import { boxField, choiceField, numberField, numbersField } from "./fields.js";

/**
 * @import { MethodRead } from "contract"
 * @import { About, Field } from "./fields.js"
 * @typedef {{ minimum?: number, maximum?: number }} Limits
 * @typedef {Limits & { type: string, enum?: string[], items?: Limits, default?: unknown }} Property
 */

/** @type {(method: MethodRead) => Record<string, Property>} */
export function propertiesOf(method) {
  return /** @type {{ properties: Record<string, Property> }} */ (method.parameters).properties;
}

/**
 * Each with its name and its usual value.
 * @param {MethodRead} method
 * @param {Record<string, unknown>} given
 */
export function parameterFields(method, given) {
  return Object.entries(propertiesOf(method))
    .filter(([name]) => name !== "name")
    .map(([name, property]) => {
      const about = { at: `/method/${name}`, label: name };
      const field = parameterField(about, property, given[name] ?? property.default);
      return Object.assign(field, { name, standard: property.default });
    });
}

/** @type {(about: About, property: Property, value: unknown) => Field} */
function parameterField(about, property, value) {
  if (property.enum) {
    return choiceField(
      about,
      property.enum.map((key) => [key, key]),
      value,
    );
  }
  if (property.type === "boolean") return boxField(about, Boolean(value));
  const limits = property.items ?? property;
  const hint = `${limits.minimum} to ${count(limits.maximum)}`;
  if (property.type === "array")
    return numbersField({ ...about, hint: `${hint}, by commas` }, [value].flat());
  return numberField({ ...about, hint }, value);
}
