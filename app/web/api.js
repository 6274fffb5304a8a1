// The service: requests with the key, errors as sentences, uploads with progress, event streams.

const KEY = "pith-key";
const RETRY = 2000;

export class Problem extends Error {
  constructor(status, body) {
    super(sentence(body.detail ?? `the service answered ${status}`));
    this.status = status;
    this.code = body.code;
    this.errors = body.errors ?? [];
  }
}

export function sentence(text) {
  const ended = /[.!?]$/.test(text) ? text : `${text}.`;
  return ended.charAt(0).toUpperCase() + ended.slice(1);
}

export function getKey() {
  return sessionStorage.getItem(KEY);
}

export function setKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

function headers(more = {}) {
  const key = getKey();
  return key ? { ...more, Authorization: `Bearer ${key}` } : more;
}

// What only reads is tried until the service is back; what changes something fails at once.
async function send(path, options = {}) {
  for (;;) {
    const response = await attempt(path, options);
    if (response && response.status !== 503) {
      dispatchEvent(new CustomEvent("service-back"));
      if (response.ok || response.status === 304) return response;
      throw problem(response.status, await response.json().catch(() => ({})));
    }
    if (options.method) throw new Error("The service does not answer.");
    dispatchEvent(new CustomEvent("service-away"));
    await pause(RETRY, options.signal);
  }
}

async function attempt(path, options) {
  try {
    return await fetch(path, { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return null;
  }
}

function problem(status, body) {
  if (status === 401) dispatchEvent(new CustomEvent("key-needed"));
  return new Problem(status, body);
}

export async function get(path, signal) {
  return (await send(path, { signal })).json();
}

export async function getBlob(path, accept) {
  return (await send(path, { headers: accept ? { Accept: accept } : {} })).blob();
}

export async function post(path, body, { key, signal } = {}) {
  const more = { "Content-Type": "application/json" };
  if (key) more["Idempotency-Key"] = key;
  const options = { method: "POST", headers: more, signal };
  if (body !== undefined) options.body = JSON.stringify(body);
  return (await send(path, options)).json();
}

export async function remove(path) {
  await send(path, { method: "DELETE" });
}

const TYPES = {
  csv: "text/csv", tsv: "text/csv", txt: "text/csv", parquet: "application/vnd.apache.parquet",
  arrow: "application/vnd.apache.arrow.file", feather: "application/vnd.apache.arrow.file",
  arrows: "application/vnd.apache.arrow.stream",
};

// fetch cannot tell how much of a body was sent; XMLHttpRequest can.
export function upload(file, onProgress) {
  const type = TYPES[file.name.split(".").pop().toLowerCase()];
  if (!type) return Promise.reject(new Error(`${file.name} is no CSV, Parquet or Arrow file by its name.`));
  const request = new XMLHttpRequest();
  request.open("POST", `/v1/datasets?name=${encodeURIComponent(file.name.slice(0, 255))}`);
  const sent = headers({ "Content-Type": type });
  for (const [name, value] of Object.entries(sent)) request.setRequestHeader(name, value);
  return new Promise((resolve, reject) => {
    request.upload.onprogress = (event) => onProgress(event.loaded / event.total);
    request.onerror = () => reject(new Error("The upload was interrupted."));
    request.onload = () => {
      const body = parsed(request.responseText);
      if (request.status < 300) resolve(body);
      else reject(problem(request.status, body));
    };
    request.send(file);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

// Every change of a job until it is final, by long poll. `seen` is the service's own time.
export async function* watch(jobId, signal) {
  let etag = null;
  for (;;) {
    const more = etag ? { "If-None-Match": etag, Prefer: "wait=20" } : {};
    const response = await send(`/v1/jobs/${jobId}`, { headers: more, signal });
    if (response.status === 304) continue;
    etag = response.headers.get("ETag");
    const job = await response.json();
    yield { ...job, seen: Date.parse(response.headers.get("Date")) };
    if (job.finished_at) return;
    await pause(250, signal);
  }
}

// EventSource cannot send the key, so the stream is read by hand; it goes on where it broke off.
export async function* events(jobId, signal) {
  let last = "0";
  for (;;) {
    const more = { Accept: "text/event-stream", "Last-Event-ID": last };
    const response = await send(`/v1/jobs/${jobId}/events`, { headers: more, signal });
    if (response.status === 204) return;
    try {
      for await (const event of messages(response.body)) {
        last = String(event.seq);
        yield event;
      }
    } catch (error) {
      if (error.name === "AbortError") throw error;
      await pause(1000, signal);
    }
  }
}

async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (buffer + value).split("\n\n");
    buffer = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (data) yield JSON.parse(data.slice(6));
    }
  }
}

export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(new DOMException("left", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", leave);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", leave, { once: true });
  });
}
