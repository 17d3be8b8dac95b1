// The editor of drafts: Ace over the text area, complaints beside their lines, nothing left unsaved.
(() => {
  "use strict";
  const area = document.querySelector("textarea[data-editor]");
  const guarded = document.querySelector("form[data-guard]");
  let editor = null;
  let annotate = () => {};
  let sent = null;
  let leaving = false;

  const setDirty = (dirty) => {
    document.body.classList.toggle("is-dirty", dirty);
    for (const note of document.querySelectorAll("[data-dirty-note]")) note.hidden = !dirty;
    for (const note of document.querySelectorAll("[data-saved-note]")) note.hidden = dirty;
  };
  const isDirty = () => document.body.classList.contains("is-dirty");
  // A refused form comes back with what was typed, and none of it is saved.
  if (guarded?.hasAttribute("data-dirty")) setDirty(true);

  // ------------------------------------------------------------ the code editor

  const dress = () => {
    ace.config.set("useStrictCSP", true);
    const box = document.createElement("div");
    box.className = "code-editor";
    area.before(box);
    area.hidden = true;
    editor = ace.edit(box, {
      theme: { cssClass: "ace-loom", isDark: false, cssText: "" },
      value: area.value,
      newLineMode: "unix",
      tabSize: 2,
      useSoftTabs: true,
      navigateWithinSoftTabs: true,
      showPrintMargin: false,
      enableKeyboardAccessibility: true,
      textInputAriaLabel: area.dataset.label,
      scrollPastEnd: 0.3,
      placeholder: area.placeholder,
    });
    window.loomCompletion?.(editor);
    editor.session.setUseWorker(false); // the server knows the format, a worker only YAML
    editor.session.setMode("ace/mode/yaml");
    editor.session.getUndoManager().reset();
    // The text area stays what is sent and what the check listens to.
    editor.session.on("change", () => {
      area.value = editor.getValue();
      area.dispatchEvent(new Event("input", { bubbles: true }));
    });
    editor.commands.addCommand({
      name: "save",
      bindKey: { win: "Ctrl-S", mac: "Command-S" },
      exec: () => area.form.requestSubmit(),
    });
    annotate = window.loomProblems?.(editor, offsets) ?? annotate;
    annotate();
    goToHash();
  };

  // The server counts lines as YAML does, and columns in characters without the byte order mark.
  const offsets = (text) => {
    const ends = [...text.matchAll(/\r\n|[\n\r\x85\u2028\u2029]/g)];
    return (line, column) => {
      const last = ends[Math.min(line - 2, ends.length - 1)];
      const start = last ? last.index + last[0].length : Number(text.startsWith("\ufeff"));
      const end = ends[line - 1]?.index ?? text.length;
      return start + Array.from(text.slice(start, end)).slice(0, column - 1).join("").length;
    };
  };

  const goTo = (line, column) => {
    const text = editor ? editor.getValue() : area.value;
    const at = offsets(text)(line, column);
    if (editor) {
      const place = editor.session.doc.indexToPosition(at);
      editor.gotoLine(place.row + 1, place.column, false);
      editor.focus();
      editor.container.scrollIntoView({ block: "nearest" });
      return;
    }
    area.focus();
    area.setSelectionRange(at, at);
  };

  const goToHash = () => {
    const found = /^#L([0-9]{1,7})$/.exec(location.hash);
    if (area && found) goTo(Number(found[1]), 1);
  };

  if (area && window.ace) dress();
  addEventListener("hashchange", goToHash);

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-goto]");
    if (!link || !area) return;
    const { line, column } = link.closest("[data-problem]").dataset;
    event.preventDefault();
    goTo(Number(line), Number(column));
  });

  // ------------------------------------------------------------ saving

  document.addEventListener("keydown", (event) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    if (!guarded?.isConnected) return;
    event.preventDefault();
    guarded.requestSubmit();
  });

  guarded?.addEventListener("input", () => setDirty(true));
  guarded?.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt === guarded) sent = area?.value;
  });
  guarded?.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt === guarded && event.detail.successful) setDirty(area.value !== sent);
  });
  document.addEventListener("submit", (event) => {
    const stays = event.target.hasAttribute("hx-post");
    if (!stays && (event.target === guarded || !guarded?.isConnected)) leaving = true;
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-leave]")) leaving = true;
  });
  addEventListener("pageshow", () => { leaving = false; });
  addEventListener("beforeunload", (event) => {
    if (isDirty() && !leaving) event.preventDefault();
  });

  // Whoever marks a phase means the phases that are marked.
  document.addEventListener("change", (event) => {
    if (event.target.name !== "phases" || !event.target.checked) return;
    const named = event.target.form.querySelector('[name="where"][value="named"]');
    if (named) named.checked = true;
  });

  // Whoever writes into the last, empty example gets another one.
  document.addEventListener("input", (event) => {
    const last = event.target;
    if (!last.matches?.("textarea[data-more]") || !last.value) return;
    const next = last.cloneNode();
    next.value = "";
    last.removeAttribute("data-more");
    last.removeAttribute("placeholder");
    next.setAttribute("aria-label", last.getAttribute("aria-label").replace(/[0-9]+$/, (n) => Number(n) + 1));
    last.after(next);
  });

  // Of a folder only process files are sent: the server takes so many files and no more.
  document.addEventListener("change", (event) => {
    const folder = event.target;
    if (!folder.matches?.("input[webkitdirectory]")) return;
    const kept = new DataTransfer();
    for (const file of folder.files) if (/\.ya?ml$/i.test(file.name)) kept.items.add(file);
    if (kept.files.length && kept.files.length < folder.files.length) folder.files = kept.files;
  });

  // ------------------------------------------------------------ parts

  // A refused form and a conflict bring their own part; of two matrices the newer one stays.
  let shownVersion = 0;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const version = Number(event.detail.xhr.getResponseHeader("Draft-Version"));
    if (version && version < shownVersion) event.detail.shouldSwap = false;
    shownVersion = Math.max(shownVersion, version);
    if ([409, 413, 422].includes(event.detail.xhr.status)) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target.id === "problems") annotate();
    if (event.target.id === "draft-bar") setDirty(isDirty());
  });
  // Without an answer from the server the text stays here, and says so.
  const unsaved = () => {
    for (const note of document.querySelectorAll("[data-dirty-note]")) {
      note.hidden = false;
      note.textContent = "not saved: no answer from the server. Try again.";
    }
  };
  guarded?.addEventListener("htmx:sendError", unsaved);
  guarded?.addEventListener("htmx:responseError", unsaved);
})();
