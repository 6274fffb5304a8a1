// The API key: asked for when the service wants one, kept for this tab.

import { fixed } from "./parts/dom.js";
import { getKey, setKey } from "./service/api.js";

/** @type {(reload: () => void) => void} */
export function installKey(reload) {
  const dialog = fixed("key-dialog", HTMLDialogElement);
  const input = fixed("key-value", HTMLInputElement);
  const button = fixed("key", HTMLElement);
  const reason = fixed("key-reason", HTMLElement);
  const mark = () => button.classList.toggle("set", Boolean(getKey()));
  const open = () => {
    input.value = getKey() ?? "";
    if (!dialog.open) dialog.showModal();
  };
  button.addEventListener("click", open);
  addEventListener("key-needed", () => {
    reason.textContent = getKey() ? "The service does not accept this key." : "This service asks for a key.";
    open();
  });
  dialog.addEventListener("close", () => {
    if (!dialog.returnValue) return;
    setKey(dialog.returnValue === "save" ? input.value.trim() : "");
    dialog.returnValue = "";
    mark();
    reload();
  });
  mark();
}
