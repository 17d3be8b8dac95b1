// The matrix is one stop of Tab: arrows, Home and End walk it, Space and Enter switch a cell.
(() => {
  "use strict";
  const form = document.getElementById("matrix");
  if (!form) return;
  const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  let current = "";

  // Rows of stops, null where there is none: names of rules, their buttons, then phase by phase.
  const grid = () => {
    const [head, ...rows] = form.querySelector("table.matrix")?.rows ?? [];
    if (!head) return [];
    const across = (what) => [...head.cells].slice(1).map((cell) => cell.querySelector(what));
    const down = ([name, ...cells]) => [
      name.querySelector("a"),
      name.querySelector("button"),
      ...cells.map((cell) => cell.querySelector("button")),
    ];
    return [
      [null, null, ...across("a")],
      [null, null, ...across("button")],
      ...rows.map((row) => down([...row.cells])),
    ];
  };

  const settle = () => {
    const stops = grid().flat().filter(Boolean);
    const stop = stops.find((one) => one.id === current) ?? form.querySelector("td.cell button") ?? stops[0];
    for (const one of stops) one.tabIndex = one === stop ? 0 : -1;
  };

  const next = (stops, from, key, far) => {
    const row = stops.findIndex((one) => one.includes(from));
    const column = stops[row]?.indexOf(from);
    if (key === "Home" || key === "End") {
      const line = (far ? stops.flat() : stops[row]).filter(Boolean);
      return line.at(key === "Home" ? 0 : -1);
    }
    const [down, right] = STEPS[key];
    for (let i = row + down, j = column + right; j in (stops[i] ?? []); i += down, j += right) {
      if (stops[i][j]) return stops[i][j];
    }
    return null;
  };

  form.addEventListener("keydown", (event) => {
    const far = event.ctrlKey || event.metaKey;
    const isEdge = event.key === "Home" || event.key === "End";
    if (!(isEdge || (event.key in STEPS && !far)) || event.altKey || event.shiftKey) return;
    const stops = grid();
    const from = event.target.closest("button, a");
    if (!stops.flat().includes(from)) return;
    event.preventDefault();
    const stop = next(stops, from, event.key, far);
    stop?.focus();
    stop?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  form.addEventListener("focusin", (event) => {
    if (!event.target.id || !event.target.closest("table.matrix")) return;
    current = event.target.id;
    settle();
  });
  document.addEventListener("htmx:afterSettle", settle);
  settle();
})();
