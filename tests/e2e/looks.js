// What is wrong with what is on the screen: too wide, cut, too pale, on top of each other, out of reach.
() => {
  const faults = [];
  const said = (element) => (element.textContent || element.value || element.localName).trim().slice(0, 40);
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const root = document.querySelector("dialog:modal") ?? document.body;
  const seen = (selector) => [...root.querySelectorAll(selector)].filter(isSeen);

  // Colours, as numbers from 0 to 255 and a share.
  const colour = (text) => {
    const [r = 0, g = 0, b = 0, a = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
    return text.startsWith("rgb") ? [r, g, b, a] : [0, 0, 0, 0];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.unshift(colour(getComputedStyle(at).backgroundColor));
    return layers.reduce((below, above) => over(above, below), [255, 255, 255, 1]);
  };
  const light = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const judge = (element, ink, paper, size, weight) => {
    const enough = size >= 24 || (size >= 18.6 && weight >= 700) ? 3 : 4.5;
    const found = contrast(over(ink, paper), paper);
    if (found < enough) faults.push(`pale, ${found.toFixed(2)}: ${said(element)}`);
  };

  const hasWords = (element) => [...element.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
  for (const element of seen("*:not(svg *, script, style, option)")) {
    if (!hasWords(element) || element.closest(".unseen, :disabled")) continue;
    const style = getComputedStyle(element);
    judge(element, colour(style.color), ground(element), parseFloat(style.fontSize), Number(style.fontWeight));
    const isCut = style.overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1;
    if (isCut && !element.title) faults.push(`cut: ${said(element)}`);
  }
  const pen = document.createElement("canvas").getContext("2d");
  for (const select of seen("select")) {
    const style = getComputedStyle(select);
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const words = select.selectedOptions[0]?.text ?? "";
    const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 14;
    if (pen.measureText(words).width > room + 1) faults.push(`cut: ${words}`);
  }

  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = seen("*").filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, pre"));
    faults.push(`wider than the screen: ${wide.slice(0, 3).map((e) => e.className || e.localName)}`);
  }

  for (const picture of seen(".chart svg")) {
    const frame = picture.getBoundingClientRect();
    const words = [...picture.querySelectorAll("text")].filter((text) => text.textContent.trim());
    const boxes = words.map((text) => text.getBoundingClientRect());
    words.forEach((text, i) => {
      const box = boxes[i];
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) {
        faults.push(`outside its picture: ${said(text)}`);
      }
      const over = boxes.findIndex(
        (b, j) => j > i && Math.min(b.right, box.right) - Math.max(b.left, box.left) > 1.5 && Math.min(b.bottom, box.bottom) - Math.max(b.top, box.top) > 3.5,
      );
      if (over > 0) faults.push(`on each other: ${said(text)} and ${said(words[over])}`);
      const bar = text.matches(".on-bar") ? text.parentElement.querySelector("rect") : null;
      const paper = bar ? colour(getComputedStyle(bar).fill) : ground(picture);
      judge(text, colour(getComputedStyle(text).fill), paper, 12, 400);
    });
  }

  for (const control of seen("a[href], button, input, select, textarea, summary, svg[tabindex]")) {
    if (control.disabled || control.matches(".skip")) continue;
    const label = control.labels?.[0]?.textContent || control.getAttribute("aria-label") || control.textContent;
    if (!label?.trim()) faults.push(`has no name: ${control.outerHTML.slice(0, 80)}`);
    control.focus({ preventScroll: true });
    if (document.activeElement !== control || control.tabIndex < 0) faults.push(`out of reach: ${said(control)}`);
  }
  document.activeElement?.blur?.();
  return [...new Set(faults)];
};
