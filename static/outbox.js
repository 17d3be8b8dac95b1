// What people say goes out in its order and nothing of it is lost: it waits in `unsent` until the
// server has it, also over a reload, while the page shows what comes next.
globalThis.outbox = (root, kept, answered) => {
  "use strict";
  const TOKEN = "csrfmiddlewaretoken";
  const UNDO_MS = 10_000, RETRY_MS = [1000, 2000, 5000, 10_000, 30_000];
  const told = document.getElementById("told");
  const refused = document.getElementById("refused");

  const remembered = (name) => {
    try { return JSON.parse(sessionStorage.getItem(name)) ?? []; } catch { return []; }
  };
  const remember = (name, value) => {
    try { sessionStorage.setItem(name, JSON.stringify(value)); } catch { /* full, or forbidden */ }
  };

  const unsent = remembered(kept).filter((one) => one.person === root.dataset.person);
  let token = root.querySelector(`[name=${TOKEN}]`).value;
  let isSending = false;
  let failures = 0;
  let hiding = 0;
  let wake = () => {};

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
    token = renewed.querySelector(`#${root.id} [name=${TOKEN}]`)?.value ?? token;
    return send();
  };

  // While the page goes: nobody waits for an answer.
  const beacon = (url, fields) => {
    const body = new FormData();
    for (const [name, value] of [[TOKEN, token], ...fields]) body.set(name, value);
    navigator.sendBeacon(url, body);
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

  const refuse = (one, { message }) => {
    told.hidden = true; // there is nothing to undo
    complain(`Not stored: ${message ?? "The server refused it."}`, one.page, one.title);
  };

  const isLost = (answer) => !answer || [0, 408, 429].includes(answer.status) || answer.status >= 500;

  const pause = (answer) => {
    tell(answer?.type === "opaqueredirect"
      ? "Not stored yet: you are signed out. Sign in in another tab; what you said is kept here."
      : "Not stored yet: the server does not answer. What you said is kept and sent again.", { stays: true });
    const length = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)];
    return new Promise((done) => { wake = done; setTimeout(done, length); });
  };

  const send = async () => {
    if (isSending) return;
    isSending = true;
    while (unsent.length) {
      const answer = await post(unsent[0].url, unsent[0].fields, true).catch(() => null);
      if (isLost(answer)) {
        await pause(answer);
        continue;
      }
      if (failures) tell("Stored.");
      failures = 0;
      const one = unsent.shift();
      remember(kept, unsent);
      await answered(one, answer, await answer.json().catch(() => ({})));
    }
    isSending = false;
  };

  const enqueue = (one) => {
    unsent.push({ ...one, person: root.dataset.person });
    remember(kept, unsent);
    send();
  };

  addEventListener("online", () => wake());
  addEventListener("beforeunload", (event) => {
    if (failures || unsent.length > 1) event.preventDefault();
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  return { unsent, remembered, remember, post, beacon, tell, complain, refuse, send, enqueue };
};
