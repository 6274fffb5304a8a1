// The service: requests with the key, errors as sentences, uploads with progress.

import { isLeaving, pause } from "./leaving.js";

/**
 * @import { Answered, DatasetSummary, Params, PathsOf, Problem as ProblemRead } from "contract"
 * @typedef {{ method?: string, headers?: Record<string, string>, body?: string, signal?: AbortSignal }} Options
 */

const KEY = "pith-key";
const RETRY = 2000;
const AWAY = 503;
const SILENCE = "The service does not answer.";

export class Problem extends Error {
  /**
   * @param {number} status
   * @param {Partial<ProblemRead>} body
   */
  constructor(status, body) {
    super(sentence(body.detail ?? (status === AWAY ? SILENCE : `the service answered ${status}`)));
    this.status = status;
    this.errors = body.errors ?? [];
  }
}

/** @type {(text: string) => string} */
export function sentence(text) {
  const ended = /[.!?]$/.test(text) ? text : `${text}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

export function getKey() {
  return sessionStorage.getItem(KEY);
}

/** @type {(key: string) => void} */
export function setKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

/** @type {(more?: Record<string, string>) => Record<string, string>} */
function headers(more = {}) {
  const key = getKey();
  return key ? { ...more, Authorization: `Bearer ${key}` } : more;
}

/**
 * A path of the service with its braces filled; what is left of the parameters becomes the query.
 * It is relative to the page, which may stand below a prefix.
 * @type {(path: string, params: object) => string}
 */
export function address(path, params) {
  const rest = new Map(Object.entries(params).filter(([, value]) => value !== null && value !== undefined));
  const filled = path.slice(1).replaceAll(/\{(\w+)\}/g, (_, /** @type {string} */ name) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(value);
  });
  return rest.size ? `${filled}?${new URLSearchParams([...rest])}` : filled;
}

/**
 * What only reads is tried until the service is back; what changes something fails at once.
 * @type {(address: string, options?: Options) => Promise<Response>}
 */
export async function send(address, options = {}) {
  for (;;) {
    const response = await attempt(address, options);
    if (response && (response.status !== AWAY || options.method)) {
      dispatchEvent(new CustomEvent("service-back"));
      if (response.ok || response.status === 304) return response;
      throw problem(response.status, await response.json().catch(() => ({})));
    }
    if (options.method) throw new Error(SILENCE);
    dispatchEvent(new CustomEvent("service-away"));
    await pause(RETRY, options.signal);
  }
}

/** @type {(address: string, options: Options) => Promise<Response | null>} */
async function attempt(address, options) {
  try {
    return await fetch(address, { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (isLeaving(error)) throw error;
    return null;
  }
}

/** @type {(status: number, body: Partial<ProblemRead>) => Problem} */
function problem(status, body) {
  if (status === 401) dispatchEvent(new CustomEvent("key-needed"));
  return new Problem(status, body);
}

/**
 * @template {PathsOf<"get">} P
 * @param {P} path
 * @param {Params<P, "get">} params
 * @param {AbortSignal} [signal]
 * @returns {Promise<Answered<P, "get">>}
 */
export async function get(path, params, signal) {
  return (await send(address(path, params), { signal })).json();
}

/**
 * @template {PathsOf<"get">} P
 * @param {P} path
 * @param {Params<P, "get">} params
 * @param {string} [accept]
 */
export async function getBlob(path, params, accept) {
  return (await send(address(path, params), { headers: accept ? { Accept: accept } : {} })).blob();
}

/**
 * @template {PathsOf<"post">} P
 * @param {P} path
 * @param {Params<P, "post">} params
 * @param {object} [body] may still be wrong: the service says so
 * @param {{ key?: string, signal?: AbortSignal }} [options]
 * @returns {Promise<Answered<P, "post">>}
 */
export async function post(path, params, body, { key, signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = { "Content-Type": "application/json" };
  if (key) headers["Idempotency-Key"] = key;
  const options = { method: "POST", headers, signal, body: body && JSON.stringify(body) };
  return (await send(address(path, params), options)).json();
}

/**
 * @template {PathsOf<"patch">} P
 * @param {P} path
 * @param {Params<P, "patch">} params
 * @param {object} body may still be wrong: the service says so
 * @returns {Promise<Answered<P, "patch">>}
 */
export async function patch(path, params, body) {
  const headers = { "Content-Type": "application/json" };
  const options = { method: "PATCH", headers, body: JSON.stringify(body) };
  return (await send(address(path, params), options)).json();
}

/**
 * @template {PathsOf<"delete">} P
 * @param {P} path
 * @param {Params<P, "delete">} params
 */
export async function remove(path, params) {
  await send(address(path, params), { method: "DELETE" });
}

const TYPES = new Map([
  ["csv", "text/csv"],
  ["tsv", "text/csv"],
  ["txt", "text/csv"],
  ["parquet", "application/vnd.apache.parquet"],
  ["arrow", "application/vnd.apache.arrow.file"],
  ["feather", "application/vnd.apache.arrow.file"],
  ["arrows", "application/vnd.apache.arrow.stream"],
]);

/**
 * fetch cannot tell how much of a body was sent; XMLHttpRequest can.
 * @type {(file: File, onProgress: (share: number) => void) => Promise<DatasetSummary>}
 */
export function upload(file, onProgress) {
  const type = TYPES.get(file.name.slice(file.name.lastIndexOf(".") + 1).toLowerCase());
  if (!type) return Promise.reject(new Error(`${file.name} is no CSV, Parquet or Arrow file by its name.`));
  const request = new XMLHttpRequest();
  request.responseType = "json";
  request.open("POST", address("/v1/datasets", { name: file.name.slice(0, 255) }));
  const sent = headers({ "Content-Type": type });
  for (const [name, value] of Object.entries(sent)) request.setRequestHeader(name, value);
  return new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => onProgress(event.loaded / event.total);
    request.onerror = () => reject(new Error("The upload was interrupted."));
    request.onload = () => {
      if (request.status < 300) resolve(request.response);
      else reject(problem(request.status, request.response ?? {}));
    };
    request.send(file);
  });
}
