// A job as it goes on: its state by long poll, what happens to it by server-sent events.

import { address, send } from "./api.js";
import { isLeaving, pause } from "./leaving.js";

/** @import { JobEvent, JobRead } from "contract" */

/**
 * Every change of a job until it is final.
 * @type {(jobId: string, signal: AbortSignal) => AsyncGenerator<JobRead, void>}
 */
export async function* watch(jobId, signal) {
  let etag = null;
  for (;;) {
    const headers = etag ? { "If-None-Match": etag, Prefer: "wait=20" } : undefined;
    const response = await send(address("/v1/jobs/{job_id}", { job_id: jobId }), { headers, signal });
    if (response.status === 304) continue;
    etag = response.headers.get("ETag");
    /** @type {JobRead} */
    const job = await response.json();
    yield job;
    if (job.finished_at) return;
    await pause(250, signal);
  }
}

/**
 * EventSource cannot send the key, so the stream is read by hand; it goes on where it broke off.
 * @type {(jobId: string, signal: AbortSignal) => AsyncGenerator<JobEvent, void>}
 */
export async function* events(jobId, signal) {
  let last = "0";
  for (;;) {
    const headers = { Accept: "text/event-stream", "Last-Event-ID": last };
    const response = await send(address("/v1/jobs/{job_id}/events", { job_id: jobId }), { headers, signal });
    if (response.status === 204 || !response.body) return;
    try {
      for await (const event of messages(response.body)) {
        last = String(event.seq);
        yield event;
      }
    } catch (error) {
      if (isLeaving(error)) throw error;
      await pause(1000, signal);
    }
  }
}

/** @type {(body: ReadableStream<BufferSource>) => AsyncGenerator<JobEvent, void>} */
async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (buffer + value).split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (data) yield JSON.parse(data.slice(6));
    }
  }
}
