// The order of rules and phases: rows of a list, or heads of the matrix, moved by arrows, keys or dragging.
(() => {
  "use strict";
  const rows = document.querySelector("[data-rows]");
  if (!rows) return;

  // Moves wait for each other, and each names its row: a row that moved is still found.
  const move = (row, values) => {
    const { view = "", open = "" } = rows.dataset;
    const sent = { seen_name: row.dataset.name, view, open, ...values };
    htmx.ajax("POST", row.dataset.move, { source: rows, target: rows, swap: "innerHTML", values: sent });
  };
  let dragged = null;
  const rowOf = (event) => event.target.closest?.("[data-row]");
  const placeOf = (event) => {
    const row = rowOf(event);
    return dragged && row?.parentElement === dragged.parentElement ? row : null;
  };

  rows.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=step]");
    if (!button) return;
    event.preventDefault();
    move(rowOf(event), { step: button.value });
  });
  rows.addEventListener("keydown", (event) => {
    const step = { ArrowUp: "up", ArrowDown: "down" }[event.key];
    const row = rowOf(event);
    if (!step || !row || !event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("select, input, textarea")) return; // there it opens the choices
    event.preventDefault();
    if (!event.repeat || !rows.classList.contains("htmx-request")) move(row, { step });
  });
  rows.addEventListener("dragstart", (event) => {
    if (!event.target.closest?.("[data-grip]")) return;
    dragged = rowOf(event);
    event.dataTransfer.clearData();
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.dataset.name);
    event.dataTransfer.setDragImage(dragged, 12, 12);
  });
  const mark = (row) => {
    for (const other of rows.querySelectorAll(".drop-above, .drop-below")) {
      other.classList.remove("drop-above", "drop-below");
    }
    if (!row || row === dragged) return;
    row.classList.add(Number(row.dataset.at) < Number(dragged.dataset.at) ? "drop-above" : "drop-below");
  };
  rows.addEventListener("dragover", (event) => {
    if (!dragged) return;
    mark(placeOf(event));
    if (placeOf(event)) event.preventDefault();
  });
  rows.addEventListener("dragend", () => { mark(null); dragged = null; });
  rows.addEventListener("drop", (event) => {
    const target = placeOf(event);
    if (!target || target === dragged) return;
    event.preventDefault();
    dragged.querySelector("a").focus(); // focus follows the row
    move(dragged, { beside: target.dataset.at, beside_name: target.dataset.name });
  });
})();
