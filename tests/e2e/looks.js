// What is wrong with what is on the screen: too pale, cut, too wide, on top of each other, out of reach.
() => {
  const root = document.querySelector("dialog:modal") ?? document.body;
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const seen = (selector) => [...root.querySelectorAll(selector)].filter(isSeen);
  const said = (element) => (element.textContent || element.value || element.localName).trim().slice(0, 40);

  // Colours as three numbers to 255 and an opacity; anything that is no rgb() is seen through.
  const colour = (text) => {
    const [r = 0, g = 0, b = 0, a = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
    return text.startsWith("rgb") ? [r, g, b, a] : [0, 0, 0, 0];
  };
  const upon = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a));
  const ground = (element) => {
    const below = element.parentElement ? ground(element.parentElement) : [255, 255, 255];
    return upon(colour(getComputedStyle(element).backgroundColor), below);
  };

  // Relative luminance and contrast as WCAG 2 has them.
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (ink, paper) => {
    const [dark, bright] = [luminance(upon(ink, paper)), luminance(paper)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const paleness = (element, ink, paper, enough = 4.5) => {
    const found = contrast(ink, paper);
    return found < enough ? [`pale, ${found.toFixed(2)}: ${said(element)}`] : [];
  };

  const hasWords = (element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const words = (element) => {
    const style = getComputedStyle(element);
    const isLarge = parseFloat(style.fontSize) >= 24;
    const isCut = style.overflowX === "hidden" && element.scrollWidth > element.clientWidth + 1;
    return [
      ...paleness(element, colour(style.color), ground(element), isLarge ? 3 : 4.5),
      ...(isCut && !element.title ? [`cut: ${said(element)}`] : []),
    ];
  };

  const ARROW = 14;
  const pen = document.createElement("canvas").getContext("2d");
  const choice = (select) => {
    const style = getComputedStyle(select);
    const chosen = select.selectedOptions[0]?.text ?? "";
    const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - ARROW;
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    return pen.measureText(chosen).width > room + 1 ? [`cut: ${chosen}`] : [];
  };

  const isOutside = (box, frame) =>
    box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
  // Boxes of letters are higher than letters: lines below each other may share a little.
  const isUpon = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1.5 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 3.5;
  const picture = (svg) => {
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
    const boxes = texts.map((text) => text.getBoundingClientRect());
    return texts.flatMap((text, i) => {
      const bar = text.matches(".on-bar") ? text.parentElement.querySelector("rect") : null;
      const paper = bar ? colour(getComputedStyle(bar).fill) : ground(svg);
      const covered = texts.filter((_, j) => j > i && isUpon(boxes[i], boxes[j]));
      return [
        ...paleness(text, colour(getComputedStyle(text).fill), paper),
        ...(isOutside(boxes[i], svg.getBoundingClientRect()) ? [`outside its picture: ${said(text)}`] : []),
        ...covered.map((other) => `on each other: ${said(text)} and ${said(other)}`),
      ];
    });
  };

  const control = (element) => {
    const name =
      element.labels?.[0]?.textContent || element.getAttribute("aria-label") || element.textContent;
    element.focus({ preventScroll: true });
    const isReached = document.activeElement === element && element.tabIndex >= 0;
    return [
      ...(name.trim() ? [] : [`has no name: ${element.outerHTML.slice(0, 80)}`]),
      ...(isReached ? [] : [`out of reach: ${said(element)}`]),
    ];
  };

  const width = () => {
    if (document.documentElement.scrollWidth <= innerWidth) return [];
    const reaches = (element) => element.getBoundingClientRect().right > innerWidth + 1;
    const wide = seen("*").filter((element) => reaches(element) && !element.closest(".scroll, pre"));
    return [
      `wider than the screen: ${wide.slice(0, 3).map((element) => element.className || element.localName)}`,
    ];
  };

  const faults = [
    ...width(),
    ...seen("*:not(svg *, script, style, option, .unseen, :disabled)").filter(hasWords).flatMap(words),
    ...seen("select").flatMap(choice),
    ...seen(".chart svg").flatMap(picture),
    ...seen(
      ":is(a[href], button, input, select, textarea, summary, svg[tabindex]):not(:disabled, .skip)",
    ).flatMap(control),
  ];
  document.activeElement?.blur();
  return [...new Set(faults)];
};
