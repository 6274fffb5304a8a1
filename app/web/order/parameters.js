// The fields of a method, from the JSON schema of its parameters.

import { count } from "../parts/format.js";
import { boxField, choiceField, numberField, numbersField } from "./fields.js";

/**
 * @import { MethodRead } from "contract"
 * @import { About, Field } from "./fields.js"
 * @typedef {{ minimum?: number, maximum?: number }} Limits
 * @typedef {Limits & { type: string, enum?: string[], items?: Limits, default?: unknown }} Property
 */

/** @type {Record<string, string>} */
const TERMS = {
  family: "One model of all rows (joint), or one for each class.",
  objective: "What a choice is to tell about: the label itself, or the latent states behind the rows.",
  ranks: "Numbers of latent states, kinds of rows that behave alike, among which held-out rows decide.",
  n_folds: "Into how many parts rows are split to hold each out once.",
  n_models: "Fits whose answers are averaged.",
  n_init: "Starts of each fit, of which the best is kept.",
  max_iter: "Steps of a fit at most; of those to more than 40,000 rows, three tenths are on all of them.",
  tol: "A fit ends when a step gains less than this.",
  smoothing: "How much every level is believed to occur before any row is seen.",
  n_configurations:
    "Configurations are combinations of levels of the chosen columns: up to so many are added up exactly, beyond that so many are drawn.",
  remodel:
    "Whether the model is fitted again while columns are chosen: never, after each step, or for each candidate.",
  greedy: "Both choose the same; naive tries every column at every step.",
  confidence: "How sure a gain must be to count.",
  max_subsets: "Sets of columns tried at most.",
  alpha: "The order of the entropy.",
  sigma: "How near values count as alike.",
  max_patterns: "Distinct rows up to which it is computed exactly.",
};

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
      const about = { at: `/method/${name}`, label: name, hint: TERMS[name] };
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
  const range = `${limits.minimum} to ${count(limits.maximum)}`;
  const hint = [about.hint, range].filter(Boolean).join(" ");
  if (property.type === "array") {
    return numbersField({ ...about, hint: `${hint}, by commas.` }, [value].flat());
  }
  return numberField({ ...about, hint: `${hint}.` }, value);
}
