// Judging: one key says which side is right, the next comparison is there at once, and nothing
// that was said is lost. What was said waits in `unsent` until the server has it, also over a reload.
(() => {
  "use strict";
  const root = document.getElementById("judging");
  if (!root) return;
  const KEPT = "loomverify.unsaid", TOKEN = "csrfmiddlewaretoken";
  const UNDO_MS = 10_000, RETRY_MS = [1000, 2000, 5000, 10_000, 30_000];
  const here = () => document.getElementById("judging-one");
  const told = document.getElementById("told");
  const refused = document.getElementById("refused");

  const remembered = () => {
    try { return JSON.parse(sessionStorage.getItem(KEPT)) ?? []; } catch { return []; }
  };
  const remember = () => {
    try { sessionStorage.setItem(KEPT, JSON.stringify(unsent)); } catch { /* full, or forbidden */ }
  };

  const unsent = remembered().filter((one) => one.person === root.dataset.person);
  const notes = new Map(); // what was written, by comparison: shown again when it is undone
  let next = null;
  let asking = null;
  let isSending = false;
  let isUndoing = false;
  let failures = 0;
  let hiding = 0;
  let wake = () => {};
  let token = root.querySelector(`[name=${TOKEN}]`).value;

  // ------------------------------------------------------------ talking to the server

  const post = async (url, fields = [], keepalive = false) => {
    const send = () => {
      const body = new URLSearchParams(fields.filter(([name]) => name !== TOKEN));
      body.set(TOKEN, token);
      body.set("person", root.dataset.person);
      const headers = { Accept: "application/json" };
      return fetch(url, { method: "POST", body, headers, keepalive, redirect: "manual" });
    };
    const answer = await send();
    if (answer.status !== 403) return answer;
    // Signing in anew, in another tab, makes the token of this page an old one.
    const page = await fetch(location.href, { redirect: "manual" });
    if (!page.ok) return page;
    const renewed = new DOMParser().parseFromString(await page.text(), "text/html");
    token = renewed.querySelector(`#judging [name=${TOKEN}]`)?.value ?? token;
    return send();
  };

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

  const tell = (words, { undo = false, stays = false } = {}) => {
    clearTimeout(hiding);
    told.firstElementChild.textContent = words;
    told.querySelector("button").hidden = !undo;
    told.hidden = !words;
    if (words && !stays) hiding = setTimeout(() => { told.hidden = true; }, UNDO_MS);
  };

  const complain = (words, url = "", label = "") => {
    const line = document.createElement("p");
    line.textContent = `${words} `;
    if (url) line.append(Object.assign(document.createElement("a"), { href: url, textContent: label }));
    refused.append(line);
    refused.hidden = false;
  };

  // ------------------------------------------------------------ what was said goes out

  const send = async () => {
    if (isSending) return;
    isSending = true;
    while (unsent.length) {
      const answer = await post(unsent[0].url, unsent[0].fields, true).catch(() => null);
      const isLost = !answer || answer.status === 0 || answer.status === 408 || answer.status === 429 || answer.status >= 500;
      if (isLost) {
        tell(answer?.type === "opaqueredirect"
          ? "Not stored yet: you are signed out. Sign in in another tab; what you said is kept here."
          : "Not stored yet: the server does not answer. What you said is kept and sent again.", { stays: true });
        const pause = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)];
        await new Promise((done) => { wake = done; setTimeout(done, pause); });
        continue;
      }
      if (failures) tell("Stored.");
      failures = 0;
      const one = unsent.shift();
      remember();
      const body = await answer.json().catch(() => ({}));
      if (one.kind === "undo") await undone(answer, body);
      else if (answer.ok) progress(body);
      else {
        told.hidden = true; // there is nothing to undo
        complain(`Not stored: ${body.message ?? "The server refused it."}`, one.page, one.title);
      }
    }
    isSending = false;
  };

  const enqueue = (one) => {
    unsent.push({ ...one, person: root.dataset.person });
    remember();
    send();
  };

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

  addEventListener("online", () => wake());
  addEventListener("beforeunload", (event) => {
    if (failures || unsent.length > 1) event.preventDefault();
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  document.addEventListener("DOMContentLoaded", () => {
    if (unsent.length) send();
    prefetch();
  });
})();
