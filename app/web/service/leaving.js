// A view is left by a signal. What still waits then ends with an AbortError, which is no failure.

/** @type {(error: unknown) => boolean} */
export function isLeaving(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** @type {(milliseconds: number, signal?: AbortSignal) => Promise<void>} */
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
