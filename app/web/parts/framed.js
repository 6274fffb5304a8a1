// A chart as a file of its own: with its title, where the data come from, and its caption.

import { s } from "./dom.js";

const INK = "#1d2329";
const MUTED = "#67717c";
const LINE = 17;
const LETTER = 6.3; // the width of one, about, in the caption

/** @import { ChartRead } from "contract" */

/** @type {(chart: ChartRead, source: string) => string} */
export function framed({ svg, title, caption }, source) {
  const picture = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const width = Number(picture.getAttribute("width"));
  const height = Number(picture.getAttribute("height"));
  const words = lines(caption, (width - 24) / LETTER);
  const top = 52;
  const whole = top + height + 12 + words.length * LINE + 8;
  const frame = s(
    "svg",
    {
      width,
      height: whole,
      viewBox: `0 0 ${width} ${whole}`,
      "font-family": picture.getAttribute("font-family"),
    },
    s("rect", { width, height: whole, fill: "#ffffff" }),
    s("text", { x: 12, y: 22, fill: INK, "font-size": 15, "font-weight": 600 }, title),
    s("text", { x: 12, y: 40, fill: MUTED, "font-size": 12 }, source),
    s("g", { transform: `translate(0 ${top})` }, document.importNode(picture, true)),
    words.map((line, i) =>
      s("text", { x: 12, y: top + height + 20 + i * LINE, fill: MUTED, "font-size": 12 }, line),
    ),
  );
  return new XMLSerializer().serializeToString(frame);
}

/** @type {(text: string, room: number) => string[]} */
function lines(text, room) {
  /** @type {string[]} */
  const found = [""];
  for (const word of text.split(" ")) {
    const longer = `${found.at(-1)} ${word}`.trim();
    if (longer.length > room && found.at(-1)) found.push(word);
    else found[found.length - 1] = longer;
  }
  return found;
}
