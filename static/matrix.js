// The matrix is one stop of Tab: arrows, Home and End walk it, Space and Enter switch a cell,
// or open the settings of a rule above it.
(() => {
  "use strict";
  const matrix = document.getElementById("matrix");
  if (!matrix) return;
  const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  let current = "";

  // Rows of stops, null where there is none: names of rules, their buttons, then phase by phase.
  const grid = () => {
    const [head, ...rows] = matrix.querySelector("table.matrix")?.rows ?? [];
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
    const stop = stops.find((one) => one.id === current) ?? matrix.querySelector("td.cell button") ?? stops[0];
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

  matrix.addEventListener("keydown", (event) => {
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
  matrix.addEventListener("focusin", (event) => {
    if (!event.target.id || !event.target.closest("table.matrix")) return;
    current = event.target.id;
    settle();
  });

  // One listener for all cells; what is pressed waits for what was pressed before.
  const ask = (verb, url, values = {}) => {
    htmx.ajax(verb, url, { source: matrix, target: matrix, swap: "innerHTML", values });
  };
  let goal = ""; // what opens or closes takes focus along, unless somebody went on meanwhile
  for (const begun of ["pointerdown", "keydown"]) {
    document.addEventListener(begun, () => { goal = ""; }, true);
  }
  // Whose settings are to be open: a press while they still open or close must not undo that.
  matrix.dataset.open = matrix.querySelector("[name=open]")?.value ?? "";
  const close = () => {
    matrix.dataset.open = "";
    goal = matrix.querySelector("th.chosen a")?.id ?? "";
    ask("GET", matrix.querySelector("[data-close-rule]").href);
  };
  matrix.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const cell = event.target.closest("button[name=switch]");
    const link = event.target.closest("a[data-open-rule]");
    const closing = event.target.closest("a[data-close-rule]");
    if (!cell && !link && !closing) return;
    event.preventDefault();
    if (closing) close();
    else if (link?.hasAttribute("aria-current")) close();
    else if (link) {
      goal = "matrix-rule";
      matrix.dataset.open = new URL(link.href).searchParams.get("rule") ?? "";
      ask("GET", link.href);
    } else {
      ask("POST", cell.form.action, { switch: cell.value, open: matrix.dataset.open });
    }
  });
  matrix.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !event.target.closest("#matrix-rule")) return;
    event.preventDefault();
    close();
  });
  // What is drawn anew stands where it stood.
  const box = () => matrix.querySelector(".matrix-scroll");
  let place = [0, 0];
  matrix.addEventListener("htmx:beforeSwap", () => {
    if (box()) place = [box().scrollLeft, box().scrollTop];
  });
  matrix.addEventListener("htmx:afterSwap", () => box()?.scrollTo(...place));
  document.addEventListener("htmx:afterSettle", () => {
    const found = goal && document.getElementById(goal);
    goal = "";
    if (found) (found.querySelector("select") ?? found).focus();
    settle();
  });
  settle();
})();
