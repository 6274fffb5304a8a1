// The API key: asked for when the service wants one, kept for this tab.

import { getKey, setKey } from "./api.js";

export function installKey(reload) {
  const dialog = document.getElementById("key-dialog");
  const input = document.getElementById("key-value");
  const button = document.getElementById("key");
  const reason = document.getElementById("key-reason");
  const mark = () => button.classList.toggle("set", Boolean(getKey()));
  const open = () => {
    input.value = getKey() ?? "";
    if (!dialog.open) dialog.showModal();
  };
  button.addEventListener("click", open);
  addEventListener("key-needed", () => {
    reason.textContent = getKey()
      ? "The service does not accept this key."
      : "This service asks for a key.";
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
