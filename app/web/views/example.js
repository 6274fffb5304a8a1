// The example that an empty page offers.

import { button } from "../parts/dom.js";
import { upload } from "../service/api.js";

/** Uploads it, and opens the form with its target filled in. */
export function tryButton() {
  return button(
    "Try it with 178 wines",
    async () => {
      const file = new File([await (await fetch("/web/wine.csv")).blob()], "wine.csv");
      const { id } = await upload(file, () => {});
      location.hash = `#/new?${new URLSearchParams({ dataset: id, target: "cultivar" })}`;
    },
    "quiet",
  );
}
