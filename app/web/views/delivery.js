// The files of a result on their way to a connection: how far they are, and sending them afterwards.

import { destinationFields } from "../order/form.js";
import { button, guarded, h, pill } from "../parts/dom.js";
import { get, post } from "../service/api.js";
import { pause } from "../service/leaving.js";

/** @import { ConnectionRead, JobRead } from "contract" */

const NOWHERE = "No connection of this service may be written.";

/** @type {(job: JobRead) => HTMLElement} */
export function deliveryOf(job) {
  return h("div", { class: "way-out" }, line(job));
}

/** @type {(job: JobRead) => HTMLElement | ""} */
function line({ delivery }) {
  if (!delivery) return "";
  const { status, connection, path, n_files: nFiles, n_written: nWritten, error } = delivery;
  const far = status === "pending" && nFiles ? `, ${nWritten} of ${nFiles} files` : "";
  const why = error ? `: ${error}` : "";
  return h("p", { class: "muted delivery" }, `Files to ${connection}/${path} `, pill(status), `${far}${why}`);
}

/**
 * A final job changes no more, but its files may still be on their way.
 * @type {(place: Element, job: JobRead, signal: AbortSignal) => Promise<void>}
 */
export async function followDelivery(place, job, signal) {
  let now = job;
  place.replaceChildren(line(now));
  while (now.delivery?.status === "pending") {
    await pause(1000, signal);
    now = await get("/v1/jobs/{job_id}", { job_id: job.id }, signal);
    place.replaceChildren(line(now));
  }
}

/**
 * A form that sends the files; which connections there are is asked when it is opened.
 * @type {(place: Element, job: JobRead, signal: AbortSignal) => HTMLElement}
 */
export function exportForm(place, job, signal) {
  const content = h("div", {});
  const fill = async () => {
    const { connections } = await get("/v1/connections", {}, signal);
    const writable = connections.filter(({ write }) => write?.length);
    content.replaceChildren(...(writable.length ? filledIn(writable) : [h("p", {}, NOWHERE)]));
  };
  /** @type {(writable: ConnectionRead[]) => HTMLElement[]} */
  const filledIn = (writable) => {
    const { connection, path, data } = destinationFields(writable, { connection: writable[0]?.name });
    const send = async () => {
      const body = { connection: connection.read(), path: path.read() ?? "", data: data.read() };
      const now = await post("/v1/jobs/{job_id}/export", { job_id: job.id }, body);
      form.open = false;
      await followDelivery(place, now, signal);
    };
    const fields = [connection, path, data].map(({ element }) => element);
    return [
      h("div", { class: "grid-fields" }, fields),
      h("div", { class: "actions" }, button("Write", send)),
    ];
  };
  const form = h(
    "details",
    { class: "export" },
    h("summary", {}, "Write the files to a connection"),
    content,
  );
  form.addEventListener(
    "toggle",
    guarded(() => form.open && !content.firstChild && fill()),
  );
  return form;
}
