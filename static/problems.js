// Complaints in the code editor: marked at their places, told under the pointer, walked by F8.
(() => {
  "use strict";
  // A text in quotes, a word, or one character; at the end of a line nothing.
  const TOKEN = /"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^\s:,[\]{}#"']+|./uy;

  const extent = (line, column) => {
    TOKEN.lastIndex = column;
    return column + (TOKEN.exec(line)?.[0].length ?? 0);
  };

  window.loomProblems = (editor, offsets) => {
    const { session } = editor;
    const { HoverTooltip } = ace.require("ace/tooltip");
    const { Range } = ace.require("ace/range");
    let problems = [];

    // What is typed before a place moves it; how far it reaches is read from the line as it is.
    const rangeOf = ({ anchor: { row, column } }) =>
      new Range(row, column, row, extent(session.getLine(row), column));

    session.addDynamicMarker({
      update(html, layer, _session, config) {
        for (const problem of problems) {
          const range = rangeOf(problem);
          if (range.start.row < config.firstRow || range.start.row > config.lastRow) continue;
          const kind = `ace_start problem-mark problem-mark-${problem.level}`;
          layer.drawSingleLineMarker(html, range.toScreenRange(session), kind, config);
        }
      },
    }, true);
    const redraw = () => session._signal("changeFrontMarker");
    session.on("change", redraw);

    const told = document.createElement("p");
    told.className = "visually-hidden";
    told.setAttribute("role", "status");
    editor.container.after(told);
    const tooltip = new HoverTooltip();
    const show = (found, event) => {
      const said = document.createElement("div");
      said.className = "problem-said";
      for (const { level, message } of found) {
        const word = document.createElement("b");
        word.className = `level-${level}`;
        word.textContent = level;
        const line = document.createElement("p");
        line.append(word, ` ${message}`);
        said.append(line);
      }
      tooltip.showForRange(editor, rangeOf(found[0]), said, event);
    };
    const at = (row, column) => problems.filter((problem) => rangeOf(problem).contains(row, column));
    tooltip.setDataProvider((event) => {
      const { row, column } = event.getDocumentPosition();
      const found = at(row, column);
      if (found.length) show(found, event);
    });
    tooltip.addToEditor(editor);

    const draw = () => {
      for (const { anchor } of problems) anchor.detach();
      const offsetOf = offsets(editor.getValue());
      problems = [...document.querySelectorAll("[data-problem]")].map(({ dataset }) => {
        const place = session.doc.indexToPosition(offsetOf(Number(dataset.line), Number(dataset.column)));
        const anchor = session.doc.createAnchor(place.row, place.column);
        return { anchor, level: dataset.level, message: dataset.message };
      });
      const kinds = { error: "error", warning: "warning", note: "info" };
      session.setAnnotations(problems.map(({ anchor, level, message }) => (
        { row: anchor.row, column: anchor.column, text: message, type: kinds[level] }
      )));
      redraw();
    };

    const walk = (step) => {
      const order = (one, other) => one.row - other.row || one.column - other.column;
      const cursor = editor.getCursorPosition();
      const sorted = [...problems].sort((one, other) => step * order(one.anchor, other.anchor));
      const next = sorted.find(({ anchor }) => step * order(anchor, cursor) > 0) ?? sorted[0];
      if (!next) {
        told.textContent = "No errors, no warnings";
        return;
      }
      const { row, column } = next.anchor;
      editor.gotoLine(row + 1, column, false);
      editor.focus();
      editor.container.scrollIntoView({ block: "nearest" });
      const here = problems.filter(({ anchor }) => !order(anchor, next.anchor));
      told.textContent = here.map(({ level, message }) => `${row + 1}:${column + 1} ${level}: ${message}`).join(" ");
      show(here);
    };
    const commands = [["goToNextError", "F8", 1], ["goToPreviousError", "Shift-F8", -1]];
    for (const [name, bindKey, step] of commands) {
      editor.commands.addCommand({ name, bindKey, readOnly: true, exec: () => walk(step) });
    }
    document.addEventListener("keydown", (event) => {
      if (event.key !== "F8" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      event.preventDefault();
      walk(event.shiftKey ? -1 : 1);
    });
    return draw;
  };
})();
