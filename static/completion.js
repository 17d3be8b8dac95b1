// Completion in process files: fields and words by the place in the tree, phase ids as typed.
(() => {
  "use strict";
  const LINE = /^( *)((?:- +)*-?)(?:(["']?)([\w.-]+)\3 *:(?= |$))?(.*)$/;
  const PHASE = "<phase>";

  // Where a line's key and its last dash stand, the key's name, and what follows its colon.
  const shape = (line) => {
    const [, pad, dashes, , name, rest] = LINE.exec(line);
    const dash = dashes.lastIndexOf("-");
    return {
      key: pad.length + dashes.length,
      dash: dash < 0 ? -1 : pad.length + dash,
      name,
      opens: name !== undefined && /^ *(#.*)?$/.test(rest),
      isBlank: /^\s*(#|$)/.test(line),
    };
  };

  // The names of what holds a place, from the root; a list's name ends with [].
  const pathAt = (lines, row, place) => {
    const names = [];
    let { key, dash } = place;
    for (let at = row - 1; at >= 0 && (key > 0 || dash >= 0); at--) {
      const line = shape(lines[at]);
      if (line.isBlank) continue;
      if (dash >= 0) {
        const holds = line.opens && (line.key < dash || (line.key === dash && line.dash < 0));
        if (!holds) continue;
        names.unshift(`${line.name}[]`);
      } else if (line.dash >= 0 && line.key === key) {
        dash = line.dash;
        continue;
      } else if (line.opens && line.key < key) {
        names.unshift(line.name);
      } else continue;
      ({ key, dash } = line);
    }
    return names;
  };

  const phaseIds = (lines) => {
    const ids = new Set();
    let within = false;
    for (const line of lines) {
      if (/^\S/.test(line) && !/^(- |#)/.test(line)) within = /^["']?phases["']? *:/.test(line);
      const found = within && /(?:^\s*(?:- +)?|[{,] *)["']?id["']? *: *["']?([^\s"',}#]+)/.exec(line);
      if (found) ids.add(found[1]);
    }
    return ids;
  };

  // What may stand at the end of a text that is typed up to the cursor.
  const offered = (places, lines, row, typed) => {
    const place = shape(typed);
    const names = pathAt(lines, row, place);
    if (place.isBlank && typed.trim()) return [];
    const within = places[names.join(".")];
    if (place.name !== undefined) return words(within?.[place.name], lines);
    if (within) return Object.keys(within).map((name) => ({ value: `${name}: `, caption: name, meta: "field" }));
    const list = names.at(-1) ?? "";
    if (!list.endsWith("[]")) return [];
    const holder = places[names.slice(0, -1).join(".")];
    return words(holder?.[list.slice(0, -2)], lines);
  };

  const words = (known = [], lines = []) =>
    known.flatMap((word) =>
      word === PHASE
        ? [...phaseIds(lines)].map((id) => ({ value: id, caption: id, meta: "phase" }))
        : [{ value: word, caption: word, meta: "value" }],
    );

  // The list is drawn a moment after each key. Who is faster has typed on: Enter takes what fits the
  // text as it stands, and where nothing does it ends the line.
  const takeWhatFits = ({ prototype }) => {
    const take = prototype.insertMatch;
    prototype.insertMatch = function (match, options) {
      if (!match) this.updateCompletions(true);
      return this.activated && take.call(this, match, options);
    };
  };

  window.loomCompletion = (editor) => {
    const element = document.getElementById("vocabulary");
    if (!element || !ace.require("ace/ext/language_tools")) return;
    takeWhatFits(ace.require("ace/autocomplete").Autocomplete);
    const places = JSON.parse(element.textContent);
    const completer = {
      identifierRegexps: [/[\w*"-]/],
      getCompletions(_editor, session, { row, column }, _prefix, answer) {
        const typed = session.getLine(row).slice(0, column);
        const before = session.getLines(0, session.getLength());
        answer(null, offered(places, before, row, typed).map((one, at) => ({ ...one, score: 1000 - at })));
      },
    };
    editor.setOptions({
      enableBasicAutocompletion: [completer],
      enableLiveAutocompletion: [completer],
      liveAutocompletionDelay: 150, // whoever types on is not in need of it, and Enter ends the line
    });
  };
})();
