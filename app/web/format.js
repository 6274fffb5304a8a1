// Numbers and times as people write them.

export function count(n) {
  return n === null || n === undefined ? "" : n.toLocaleString("en");
}

export function amount(value) {
  if (value === null || value === undefined) return "";
  if (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6)) {
    return value.toExponential(2);
  }
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${amount(Number((bytes / 1000 ** power).toPrecision(3)))} ${units[power]}`;
}

export function duration(seconds) {
  if (seconds < 10) return `${Math.max(seconds, 0).toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

export function when(iso) {
  const date = new Date(iso);
  const today = new Date().toDateString() === date.toDateString();
  const options = today ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
  return date.toLocaleString("en-GB", options);
}

const METHODS = {
  gsm_cpd: "GSM-CPD", mrmr: "MRMR", jmi: "JMI", jmim: "JMIM", cmim: "CMIM", rjmi: "RJMI",
  iselect: "iSelect", globalfs: "GlobalFS",
};

export function methodName(name) {
  return METHODS[name] ?? name;
}

export const PHASES = {
  encode: "Encoding columns",
  rank: "Choosing the rank",
  fit: "Fitting the model",
  select: "Choosing features",
  evaluate: "Measuring accuracy",
};
