// Light or dark: as the system says, or as the reader does.

import { fixed } from "./parts/dom.js";

const THEME = "pith-theme";

export function installTheme() {
  const button = fixed("theme", HTMLElement);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (localStorage.getItem(THEME) ?? (system.matches ? "dark" : "light")) === "dark";
  const apply = () => {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    button.textContent = isDark() ? "Light" : "Dark";
  };
  button.addEventListener("click", () => {
    localStorage.setItem(THEME, isDark() ? "light" : "dark");
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}
