// Building elements. Text always enters as text: a column may be called <script>.

const SVG = "http://www.w3.org/2000/svg";

export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function s(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function say(sentence) {
  document.getElementById("said").textContent = sentence;
}

export function alarm(sentence) {
  const close = h("button", { type: "button", class: "quiet", "aria-label": "Close" }, "×");
  const box = h("div", { class: "alert" }, h("span", {}, sentence), close);
  close.addEventListener("click", () => box.remove());
  document.getElementById("alerts").replaceChildren(box);
}

export function showAway(away) {
  const box = h("div", { class: "alert" }, "The service does not answer; trying again.");
  const shown = document.querySelector("#away");
  if (away !== Boolean(shown.firstChild)) shown.replaceChildren(...(away ? [box] : []));
}

export function button(label, onclick, kind = "") {
  return h("button", { type: "button", class: kind, onclick: guarded(onclick) }, label);
}

// An action that fails says so in a sentence.
export function guarded(action) {
  return async (event) => {
    try {
      await action(event);
    } catch (error) {
      if (error.name !== "AbortError") alarm(error.message);
    }
  };
}

export function bar(share, label) {
  const fill = s("rect", { class: "fill", width: `${100 * share}%`, height: 6 });
  return s("svg", { class: "bar-line", role: "img", "aria-label": label }, fill);
}

export function pill(status) {
  return h("span", { class: `pill ${status}` }, status);
}
