// Numbers, times and names as people write them.

/** @type {(words: string) => string} */
export function sentence(words) {
  return words.charAt(0).toUpperCase() + words.slice(1).replace(/\.?$/, ".");
}

/**
 * A line does not end between a number and its percent sign.
 * @type {(words: string) => string}
 */
export function unbroken(words) {
  return words.replaceAll(/(\d) %/g, "$1\u00a0%");
}

/** @type {(n: number | null | undefined) => string} */
export function count(n) {
  return n === null || n === undefined ? "" : n.toLocaleString("en");
}

/** @type {(n: number, noun: string) => string} */
export function counted(n, noun) {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** @type {(value: number | null | undefined) => string} */
export function amount(value) {
  if (value === null || value === undefined) return "";
  if (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6)) {
    return value.toExponential(2);
  }
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

/**
 * All digits of a number, as far as somebody can read them.
 * @type {(value: number | null | undefined) => string}
 */
export function exact(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-6 || size >= 1e15)) return String(value);
  return value.toLocaleString("en", { maximumSignificantDigits: 17 });
}

/** @type {(seconds: number | null | undefined) => string} */
function moment(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const written = new Date(1000 * seconds)
    .toISOString()
    .replace("T", " ")
    .replace(/(\.000)?Z$/, "");
  return written.replace(/ 00:00:00$/, "");
}

const DAY = 86_400;

/**
 * From one moment to another; times of a day, which are of the first day there is, without it.
 * @type {(low: number | null | undefined, high: number | null | undefined) => string}
 */
export function moments(low, high) {
  const ends = [low, high].map(moment);
  if (low === high || (low ?? 0) < 0 || (high ?? DAY) >= DAY) return ends.join(" to ");
  return [low, high].map((at) => new Date(1000 * (at ?? 0)).toISOString().slice(11, 19)).join(" to ");
}

/** @type {(share: number) => string} */
export function percent(share) {
  return `${Math.round(100 * share)} %`;
}

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** @type {(bytes: number) => string} */
export function size(bytes) {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${amount(Number((bytes / 1000 ** power).toPrecision(3)))} ${UNITS[power]}`;
}

/** @type {(seconds: number) => string} */
export function duration(seconds) {
  if (seconds < 10) return `${Math.max(seconds, 0).toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** @type {(iso: string) => string} */
export function when(iso) {
  const date = new Date(iso);
  const today = new Date().toDateString() === date.toDateString();
  return date.toLocaleString("en-GB", {
    dateStyle: today ? undefined : "medium",
    timeStyle: today ? "medium" : "short",
  });
}

const METHODS = new Map([
  ["gsm_cpd", "GSM-CPD"],
  ["mrmr", "MRMR"],
  ["jmi", "JMI"],
  ["jmim", "JMIM"],
  ["cmim", "CMIM"],
  ["rjmi", "RJMI"],
  ["iselect", "iSelect"],
  ["globalfs", "GlobalFS"],
]);

/** @type {(name: string) => string} */
export function methodName(name) {
  return METHODS.get(name) ?? name;
}

/** @type {[key: string, name: string][]} */
export const CUTS = [
  ["uniform", "equal width"],
  ["quantile", "quantiles"],
  ["supervised", "where the target changes"],
];

/** @type {(strategy: string | null | undefined) => string | null} */
export function cutName(strategy) {
  return new Map(CUTS).get(strategy ?? "") ?? null;
}
