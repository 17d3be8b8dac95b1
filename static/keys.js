// Keys: j and k walk, Enter opens, / searches, ? shows the sheet. Also the copy buttons.
(() => {
  "use strict";
  const TYPED = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";
  const typing = (element) => element.closest(TYPED);
  const seen = (element) => element.getClientRects().length > 0;

  const walk = (step) => {
    const stops = [...document.querySelectorAll("[data-walk]")].filter(seen);
    if (!stops.length) return;
    let at = stops.indexOf(document.activeElement);
    if (at < 0) at = stops.findIndex((stop) => stop.getAttribute("aria-current") === "true");
    const next = at < 0 ? (step > 0 ? 0 : stops.length - 1) : at + step;
    const stop = stops[Math.max(0, Math.min(stops.length - 1, next))];
    stop.focus();
    stop.scrollIntoView({ block: "nearest" });
    if (stop.dataset.walk === "select" && stop.getAttribute("aria-current") !== "true") stop.click();
  };

  const press = (key) => {
    const named = (within) => [...(within?.querySelectorAll("[data-key]") ?? [])].find(
      (element) => element.dataset.key === key && seen(element),
    );
    // The row that somebody walked to comes before the others.
    const target = named(document.activeElement?.closest("li, tr")) ?? named(document);
    if (!target) return false;
    if (target.matches("input, textarea, select")) target.select ? target.select() : target.focus();
    else target.click();
    if (target.matches("input, textarea, select")) target.focus();
    return true;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const sheet = document.getElementById("keys");
    if (sheet?.open) {
      if (event.key === "?") sheet.close();
      return;
    }
    if (event.key === "j" || event.key === "k") walk(event.key === "j" ? 1 : -1);
    else if (event.key === "?" && sheet) sheet.showModal();
    else if (!press(event.key)) return;
    event.preventDefault();
  });

  document.addEventListener("click", async (event) => {
    const opener = event.target.closest("[data-open-keys]");
    if (opener) document.getElementById("keys")?.showModal();
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
    const filler = event.target.closest("[data-fill]");
    if (filler) document.getElementById(filler.dataset.fill).value = filler.dataset.value;
    const copier = event.target.closest("[data-copy]");
    if (!copier) return;
    const source = document.getElementById(copier.dataset.copy);
    const said = copier.textContent;
    try {
      await navigator.clipboard.writeText(source.textContent);
      copier.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source); // no clipboard without https: select it instead
      copier.textContent = "Selected";
    }
    setTimeout(() => { copier.textContent = said; }, 1600);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
  });

  // The chosen finding is marked; on a narrow page its artefact comes into sight.
  document.addEventListener("click", (event) => {
    const stop = event.target.closest("[data-walk=select]");
    if (!stop) return;
    for (const other of document.querySelectorAll("[data-walk=select][aria-current]")) {
      other.removeAttribute("aria-current");
    }
    stop.setAttribute("aria-current", "true");
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    const pane = document.getElementById("artefact");
    if (event.detail.requestConfig?.target?.id !== "artefact" || !pane) return;
    const place = pane.getBoundingClientRect();
    if (place.top > innerHeight * 0.8 || place.bottom < 0) pane.scrollIntoView({ block: "start" });
  });

  // A chosen filter applies at once; without this script the form has its button.
  document.addEventListener("change", (event) => {
    if (event.target.closest("[data-submit-on-change]")) event.target.form.requestSubmit();
  });

  const offer = (within) => {
    for (const element of within.querySelectorAll("[data-needs-script]")) element.hidden = false;
  };
  document.addEventListener("DOMContentLoaded", () => offer(document));
  document.addEventListener("htmx:load", ({ detail }) => offer(detail.elt));
})();
