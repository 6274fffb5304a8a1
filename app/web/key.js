// The API key, or the token of a sign-in: asked for when the service wants one, kept for this tab.

import { alarm, fixed, h, reason } from "./parts/dom.js";
import { getKey, setKey } from "./service/api.js";
import { findPlaces, signIn } from "./service/sign_in.js";

/** @type {(reload: () => void) => void} */
export function installKey(reload) {
  const dialog = fixed("key-dialog", HTMLDialogElement);
  const input = fixed("key-value", HTMLInputElement);
  const button = fixed("key", HTMLElement);
  const why = fixed("key-reason", HTMLElement);
  const places = fixed("sign-in", HTMLElement);
  const mark = () => button.classList.toggle("set", Boolean(getKey()));
  const open = () => {
    input.value = getKey() ?? "";
    if (!dialog.open) dialog.showModal();
    offerPlaces(places).catch(() => {}); // a key will do
  };
  button.addEventListener("click", open);
  addEventListener("key-needed", () => {
    why.textContent = getKey() ? "The service does not accept this key." : "This service asks for a key.";
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

/** @type {(root: HTMLElement) => Promise<void>} */
async function offerPlaces(root) {
  const buttons = (await findPlaces()).map((place) => {
    const button = h("button", { type: "button" }, `Sign in at ${new URL(place.issuer).hostname}`);
    button.addEventListener("click", () => signIn(place).catch((error) => alarm(reason(error))));
    return button;
  });
  root.replaceChildren(...buttons);
}
