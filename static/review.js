// Reviewing: one key decides, and the next review is there at once.
(() => {
  "use strict";
  const root = document.getElementById("review");
  if (!root?.dataset.prefetch) return;
  const OURS = "loomverify.held", BEAT_MS = 60_000, IDLE_MS = 300_000;
  const here = () => document.getElementById("item");
  const told = document.getElementById("told");
  const said = new Map(); // what was filled in, by review: shown again when it is undone
  const held = new Map(); // by review: until when, and where to keep it or give it back
  let next = null;
  let asking = null;
  let isUndoing = false;
  let lastUsed = performance.now();
  let lastBeat = performance.now();

  const { unsent, remembered, remember, post, beacon, tell, complain, refuse, send, enqueue } = globalThis.outbox(
    root, "loomverify.unsent", (one, answer, body) => {
      count(body.waiting);
      if (one.kind === "undo") undone(answer, body);
      else if (!answer.ok) refuse(one, body);
    });

  // ------------------------------------------------------------ what comes next

  const part = (html) => {
    const box = document.createElement("template");
    box.innerHTML = html;
    return box.content.querySelector("#item");
  };

  const hold = (article) => {
    if (article.dataset.standing !== "mine") return;
    const { review, until, lease, heartbeat, release } = article.dataset;
    held.set(review, { until, ends: performance.now() + lease * 1000, heartbeat, release });
    remember(OURS, [...held.keys()]);
  };

  const letGo = (review) => {
    held.delete(review);
    remember(OURS, [...held.keys()]);
  };

  const comesNext = (article) => {
    next = article;
    root.dataset.next = article?.dataset.review ?? "";
  };

  const prefetch = () => {
    if (next || asking) return asking;
    const without = [here().dataset.review, ...unsent.map((one) => one.review)];
    const fields = without.filter(Boolean).map((review) => ["without", review]);
    asking = post(root.dataset.prefetch, fields)
      .then(async (answer) => (answer.status === 200 ? part(await answer.text()) : null))
      .catch(() => null)
      .then((article) => {
        asking = null;
        comesNext(article);
        if (article) hold(article);
        return article;
      });
    return asking;
  };

  // ------------------------------------------------------------ showing

  const show = (article, event) => {
    here().replaceWith(article);
    htmx.process(article);
    for (const element of article.querySelectorAll("[data-needs-script]")) element.hidden = false;
    history.replaceState({}, "", article.dataset.url);
    document.title = article.dataset.title;
    refill(article);
    article.focus({ preventScroll: true });
    scrollTo(0, 0);
    tick();
    bringTab();
    if (event) requestAnimationFrame(() => {
      root.dataset.shownMs = (performance.now() - event.timeStamp).toFixed(1);
    });
  };

  // Of many files, the tab of the one that is shown.
  const bringTab = () => {
    const tab = here().querySelector(".artefact > .chips [aria-current]");
    const row = tab?.parentElement;
    if (row && tab.offsetLeft + tab.offsetWidth > row.scrollLeft + row.clientWidth) row.scrollLeft = tab.offsetLeft - 40;
  };
  document.addEventListener("htmx:afterSettle", () => bringTab());

  const refill = (article) => {
    for (const [name, value] of said.get(article.dataset.review) ?? []) {
      const comment = name === "comment" && article.querySelector("#comment");
      if (comment) comment.value = value;
      for (const input of article.querySelectorAll("[data-answer]")) {
        if (input.name === name && input.value === value) input.checked = true;
      }
    }
  };

  const advance = async (event) => {
    const left = here();
    left.classList.add("is-left");
    const article = next ?? (await prefetch());
    comesNext(null);
    if (here() !== left) return;
    show(article ?? document.getElementById("nothing-left").content.cloneNode(true).firstElementChild, event);
    if (article) prefetch();
  };

  const goTo = async (url) => {
    const answer = await fetch(url, { headers: { "HX-Target": "item" }, redirect: "manual" }).catch(() => null);
    const article = answer?.status === 200 ? part(await answer.text()) : null;
    if (!article) return location.assign(url);
    if (here().dataset.standing === "mine" && here().dataset.review !== article.dataset.review) {
      comesNext(here()); // what was looked at
      next.classList.remove("is-left");
    }
    hold(article);
    show(article);
  };

  // The number beside Review in the navigation.
  const count = (words) => {
    const shown = document.getElementById("waiting");
    if (!shown || words === undefined) return;
    shown.hidden = !words;
    shown.lastElementChild.textContent = words;
  };

  // ------------------------------------------------------------ deciding

  const titleOf = (article) => article.dataset.title.replace("Review · ", "");

  const decide = async (form, button, event) => {
    const article = here();
    const fields = [...new FormData(form, button)].map(([name, value]) => [name, String(value)]);
    const { review, url } = article.dataset;
    if (isUndoing || article.classList.contains("is-left")) return;
    article.classList.add("is-left");
    if (article.dataset.stage === "first") return reveal(article, form, fields);
    said.set(review, fields);
    letGo(review);
    enqueue({ kind: "decide", review, url: form.action, fields, page: url, title: titleOf(article) });
    tell(`Decided as ${button.dataset.word}.`, { undo: true });
    await advance(event);
  };

  const reveal = async (article, form, fields) => {
    const answer = await post(form.action, fields).catch(() => null);
    article.classList.remove("is-left");
    if (answer?.status === 200) {
      const shown = part(await answer.text());
      hold(shown);
      return show(shown);
    }
    const body = (await answer?.json().catch(() => null)) ?? {};
    complain(`Not stored: ${body.message ?? "the server does not answer. Press the key again."}`);
  };

  const undo = (form) => {
    if (isUndoing) return;
    isUndoing = true;
    tell("Undoing …", { stays: true });
    enqueue({ kind: "undo", url: form.action, fields: [...new FormData(form)].map(([name, value]) => [name, String(value)]) });
  };

  const undone = async (answer, body) => {
    if (answer.ok) {
      await goTo(body.url);
      tell(body.is_erased ? "Undone." : "It has taken effect. What you say now is a new decision.");
    } else tell(body.message ?? "This cannot be undone.");
    isUndoing = false;
  };

  const skip = (form, event) => {
    const { review } = here().dataset;
    if (here().classList.contains("is-left")) return;
    letGo(review);
    enqueue({ kind: "skip", review, url: form.action, fields: [], page: here().dataset.url, title: titleOf(here()) });
    tell("Skipped: you get the others first.");
    advance(event);
  };

  const keepAsCase = async (form) => {
    const answer = await post(form.action).catch(() => null);
    const body = answer?.ok ? await answer.json() : null;
    if (!body) return complain("The golden case was not stored. Press the key again.");
    here().querySelector("[data-key=g]")?.setAttribute("aria-pressed", String(body.is_case));
    tell(body.is_case ? "Kept as a golden case." : "No golden case any more.");
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const act = form.id === "decide" ? "decide" : form.dataset.act;
    if (!root.contains(form) || !act) return;
    event.preventDefault();
    if (act === "decide") decide(form, event.submitter ?? form.querySelector("[data-usual]"), event);
    else if (act === "undo") undo(form);
    else if (act === "skip") skip(form, event);
    else if (act === "case") keepAsCase(form);
  });

  told.querySelector("button").addEventListener("click", () => {
    const button = here().querySelector("[data-key=u]");
    if (button) button.click();
    else undo(Object.assign(document.createElement("form"), { action: root.dataset.undo }));
  });

  // ------------------------------------------------------------ keys beside those of keys.js

  // A key that is held down decides once, not one after the other.
  document.addEventListener("keydown", (event) => {
    if (!event.repeat || event.key === "j" || event.key === "k" || event.target.matches("input, textarea, select")) return;
    if (event.key.length > 1 && event.key !== "Enter") return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });

  document.addEventListener("keydown", (event) => {
    lastUsed = performance.now();
    if (document.getElementById("keys")?.open || event.altKey || event.metaKey) return;
    const usual = here().querySelector("[data-usual], [data-enter]");
    const isComment = event.target.matches("#comment");
    if (event.key === "Enter" && event.ctrlKey && isComment) usual?.click();
    else if (event.ctrlKey || event.target.matches("input:not([type=radio]), textarea, select")) return;
    else if (event.key === "Enter" && !event.target.closest("button, summary, a:not([data-walk])")) usual?.click();
    else if (event.key === "y" || event.key === "n") label(event.key);
    else return;
    event.preventDefault();
  });

  const label = (key) => {
    const stop = here().querySelector("[data-walk][aria-current=true]") ?? here().querySelector("[data-walk]");
    const input = stop?.closest("[data-finding]").querySelector(`[data-answer=${key}]`);
    if (!input) return;
    input.checked = !input.checked;
    stop.scrollIntoView({ block: "nearest" });
  };

  // ------------------------------------------------------------ keeping what is held

  const beat = async (review) => {
    const claim = held.get(review);
    const answered = claim && (await post(claim.heartbeat).catch(() => null));
    if (answered?.ok) {
      const { until, seconds } = await answered.json();
      Object.assign(claim, { until, ends: performance.now() + seconds * 1000 });
    } else if (answered && answered.status >= 400 && answered.status < 500) {
      letGo(review);
      if (next?.dataset.review === review) { comesNext(null); prefetch(); }
      else if (here().dataset.review === review) {
        const { message } = await answered.json().catch(() => ({}));
        complain(`This one is not yours any more. ${message ?? ""}`, here().dataset.url, "Look at it");
      }
    }
  };

  const beatAll = () => {
    lastBeat = performance.now();
    for (const review of held.keys()) beat(review);
  };

  const tick = () => {
    const claim = held.get(here().dataset.review);
    const shown = here().querySelector("[data-lease-left]");
    if (!shown) return;
    const left = Math.floor(((claim?.ends ?? 0) - performance.now()) / 1000);
    shown.textContent = left > 0
      ? `yours for ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`
      : "not yours any more";
  };

  setInterval(() => {
    tick();
    const now = performance.now();
    const isUsed = document.visibilityState === "visible" && now - lastUsed < IDLE_MS;
    if (isUsed && now - lastBeat >= BEAT_MS) beatAll();
  }, 1000);
  for (const kind of ["pointerdown", "wheel"]) {
    document.addEventListener(kind, () => { lastUsed = performance.now(); }, { passive: true });
  }
  addEventListener("pagehide", () => {
    for (const { until, release } of held.values()) beacon(release, [["until", until]]);
  });

  // ------------------------------------------------------------ the beginning

  const begin = async () => {
    bringTab();
    const { standing, review, take, url } = here().dataset;
    if (unsent.length) send();
    if (standing === "free" && take && remembered(OURS).includes(review)) {
      // this tab had it until it was left: it comes back to it, where nobody took it
      await post(take).catch(() => null);
      return goTo(url).then(prefetch);
    }
    hold(here());
    if (standing !== "mine") return;
    await beat(review); // what the page before gave back while it went is taken anew
    prefetch();
  };
  document.addEventListener("DOMContentLoaded", begin);
})();
