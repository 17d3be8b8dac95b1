// Runs before the first paint, so that a chosen theme never flashes.
(() => {
  "use strict";
  const root = document.documentElement;
  const names = ["system", "light", "dark"];
  const read = () => {
    try {
      return names.includes(localStorage.theme) ? localStorage.theme : "system";
    } catch {
      return "system"; // storage is switched off
    }
  };
  const show = (theme) => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.hidden = false;
      button.textContent = `Theme: ${theme}`;
    }
  };
  show(read());
  document.addEventListener("DOMContentLoaded", () => show(read()));
  addEventListener("storage", () => show(read()));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const next = names[(names.indexOf(read()) + 1) % names.length];
    try {
      localStorage.theme = next;
    } catch {
      // the choice holds for this page
    }
    show(next);
  });
})();
