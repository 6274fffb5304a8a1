// Where a result comes from, and what else can be had of its model.

import { button, h } from "../parts/dom.js";
import { save } from "../parts/save.js";
import { getBlob } from "../service/api.js";

/** @import { ChartsRead, ResultRead } from "contract" */

/** @type {(shown: ChartsRead, redraw: (width: number) => Promise<void>) => HTMLElement | string} */
export function pixelOffer({ charts }, redraw) {
  if (charts.some((chart) => chart.name === "pixels")) return "";
  const question = h("summary", {}, "Are the columns pixels of an image?");
  return h("details", {}, question, widthField(redraw));
}

/** @type {(redraw: (width: number) => Promise<void>) => HTMLElement} */
export function widthField(redraw) {
  const input = h("input", {
    type: "number",
    min: 1,
    max: 4096,
    class: "narrow",
    "aria-label": "Width of the image in pixels",
    placeholder: "width",
  });
  const apply = () => (input.valueAsNumber > 0 ? redraw(input.valueAsNumber) : undefined);
  const show = button("Show as pixels", apply, "quiet small");
  input.addEventListener("keydown", (event) => event.key === "Enter" && show.click());
  return h("span", { class: "width-field" }, input, show);
}

/** @type {(result: ResultRead, jobId: string) => HTMLElement} */
export function provenance(result, jobId) {
  const { dataset, specification, versions } = result.provenance;
  const download = async () => {
    const factors = await getBlob("/v1/jobs/{job_id}/factors", { job_id: jobId }, "application/x-npz");
    save(`${jobId}.npz`, factors);
  };
  const facts = {
    Dataset: dataset.id,
    "SHA-256": dataset.sha256,
    Versions: Object.entries(versions)
      .map((pair) => pair.join(" "))
      .join(", "),
  };
  const listed = Object.entries(facts).flatMap(([name, value]) => [
    h("dt", {}, name),
    h("dd", { class: "code" }, value),
  ]);
  const factors = result.models.length ? button("Factors (.npz)", download, "quiet small") : null;
  return h(
    "section",
    {},
    h("div", { class: "figure-head section" }, h("h3", {}, "Provenance"), factors),
    h("dl", {}, listed),
    h("details", {}, h("summary", {}, "Specification"), h("pre", {}, JSON.stringify(specification, null, 2))),
  );
}
