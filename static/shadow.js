// Judging: one key says which side is right, and the next comparison is there at once.
(() => {
  "use strict";
  const root = document.getElementById("judging");
  if (!root) return;
  const here = () => document.getElementById("judging-one");
  const told = document.getElementById("told");
  const notes = new Map(); // what was written, by comparison: shown again when it is undone
  let next = null;
  let asking = null;
  let isUndoing = false;

  const { unsent, post, tell, complain, refuse, send, enqueue } = globalThis.outbox(
    root, "loomverify.unsaid", async (one, answer, body) => {
      if (one.kind === "undo") await undone(answer, body);
      else if (answer.ok) progress(body);
      else refuse(one, body);
    });

  // ------------------------------------------------------------ what comes next

  const part = (html) => {
    const box = document.createElement("template");
    box.innerHTML = html;
    return box.content.querySelector("#judging-one");
  };

  const comesNext = (article) => {
    next = article;
    root.dataset.next = article?.dataset.comparison ?? "";
  };

  const prefetch = () => {
    const { comparison } = here().dataset;
    if (next || asking || !comparison) return asking;
    const without = unsent.map((one) => one.comparison).filter(Boolean);
    const fields = [["after", comparison], ...without.map((one) => ["without", one])];
    asking = post(root.dataset.nextUrl, fields)
      .then(async (answer) => (answer.status === 200 ? part(await answer.text()) : null))
      .catch(() => null)
      .then((article) => {
        asking = null;
        comesNext(article);
        return article;
      });
    return asking;
  };

  // ------------------------------------------------------------ showing

  const show = (article) => {
    here().replaceWith(article);
    htmx.process(article);
    for (const element of article.querySelectorAll("[data-needs-script]")) element.hidden = false;
    history.replaceState({}, "", article.dataset.url);
    document.title = article.dataset.title;
    const note = article.querySelector("#note");
    if (note) note.value = notes.get(article.dataset.comparison) ?? "";
    article.focus({ preventScroll: true });
    scrollTo(0, 0);
  };

  const advance = async () => {
    const left = here();
    left.classList.add("is-left");
    const article = next ?? (await prefetch());
    comesNext(null);
    if (here() !== left) return;
    show(article ?? document.getElementById("nothing-left").content.cloneNode(true).firstElementChild);
    if (article) prefetch();
  };

  const goTo = async (url) => {
    const answer = await fetch(url, { headers: { "HX-Target": "judging-one" } }).catch(() => null);
    const article = answer?.ok && !answer.redirected ? part(await answer.text()) : null;
    if (!article) return location.assign(url);
    comesNext(null);
    show(article);
    prefetch();
  };

  const progress = ({ part: of, judged, total }) => {
    for (const article of [here(), next]) {
      const shown = article?.querySelector(`[data-progress="${of}"]`);
      if (shown) shown.textContent = `${judged.toLocaleString("en")} of ${total.toLocaleString("en")} judged`;
    }
  };

  // ------------------------------------------------------------ judging

  const fieldsOf = (data) => [...data].map(([name, value]) => [name, String(value)]);

  const judge = async (form, button) => {
    const article = here();
    if (!button || isUndoing || article.classList.contains("is-left")) return;
    const { comparison, url, title } = article.dataset;
    notes.set(comparison, form.elements.note.value);
    enqueue({ kind: "judge", comparison, url: form.action, page: url, title, fields: fieldsOf(new FormData(form, button)) });
    tell(`${button.dataset.word}.`, { undo: true });
    await advance();
  };

  const undo = (url) => {
    if (isUndoing) return;
    isUndoing = true;
    tell("Undoing …", { stays: true });
    enqueue({ kind: "undo", url, fields: [] });
  };

  const undone = async (answer, { url, is_blind: isBlind, message }) => {
    if (answer.ok && !isBlind) complain(message, url, "Look at it");
    if (answer.ok && isBlind) await goTo(url);
    tell(answer.ok ? "Undone." : message ?? "This cannot be undone.");
    isUndoing = false;
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const { act } = form.dataset;
    if (!root.contains(form) || !act) return;
    event.preventDefault();
    if (act === "judge") judge(form, event.submitter);
    else if (act === "undo") undo(form.action);
    else if (act === "skip" && !here().classList.contains("is-left")) advance();
  });

  told.querySelector("button").addEventListener("click", () => undo(root.dataset.undoUrl));

  // ------------------------------------------------------------ keys beside those of keys.js

  // A key that is held down judges once, not one after the other.
  document.addEventListener("keydown", (event) => {
    if (!event.repeat || event.key === "j" || event.key === "k" || event.key.length > 1) return;
    if (event.target.matches("input, textarea, select")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "u" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (here().querySelector("[data-key=u]") || event.target.matches("input, textarea, select")) return;
    undo(root.dataset.undoUrl); // nothing is left, and the last one can still be taken back
    event.preventDefault();
  });

  document.addEventListener("DOMContentLoaded", () => {
    if (unsent.length) send();
    prefetch();
  });
})();
