// The rule on history: asked again whenever the form changes, and what was asked before is given up.
(() => {
  "use strict";
  const pane = document.querySelector("[data-history]");
  const form = pane && document.getElementById(pane.dataset.form);
  if (!form) return;
  const note = document.querySelector("[data-history-note]");
  const NEXT = "<!--next-->";
  const QUIET_MS = 250;
  let going = null;
  let timer = 0;
  let asked = "";

  // The list that somebody opened stays open while figures come, and focus comes back with its run.
  let chosen = "";
  let held = "";
  const draw = (html) => {
    const at = document.activeElement;
    if (pane.contains(at)) held = at.id;
    pane.innerHTML = html;
    window.htmx?.process(pane);
    const list = chosen && document.getElementById(chosen);
    if (list) list.open = true;
    if (held) document.getElementById(held)?.focus(); // now that its list is open
  };

  // Whoever went elsewhere, or let go of it, is not brought back.
  const leave = () => { held = ""; };
  document.addEventListener("pointerdown", leave);
  document.addEventListener("focusin", (event) => {
    if (!pane.contains(event.target)) leave();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
  });

  const read = async (answer) => {
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      text += decoder.decode(value, { stream: !done });
      const parts = text.split(NEXT);
      text = parts.pop();
      if (parts.length) draw(parts.at(-1));
      if (done) return;
    }
  };

  const fields = () => {
    const data = new FormData(form);
    for (const name of [...data.keys()]) if (name.startsWith("example_")) data.delete(name);
    for (const field of pane.querySelectorAll("[data-sample]")) data.set(field.name, field.value);
    return data;
  };

  const ask = async () => {
    const data = fields();
    const said = JSON.stringify([...data]);
    if (said === asked) return;
    asked = said;
    going?.abort();
    const mine = new AbortController();
    going = mine;
    note.hidden = false;
    try {
      const answer = await fetch(pane.dataset.history, { method: "POST", body: data, signal: mine.signal });
      if (!answer.ok) throw new Error(String(answer.status));
      await read(answer);
    } catch (error) {
      if (mine.signal.aborted) return;
      asked = "";
      draw('<p class="pad is-warn small" role="alert">No answer from the server. Change the rule to try again.</p>');
    }
    if (going === mine) note.hidden = true;
  };

  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, QUIET_MS);
  };
  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
  ask();

  // What is chosen of a sample is no change of the rule.
  for (const kind of ["input", "change"]) {
    pane.addEventListener(kind, (event) => {
      event.stopPropagation();
      going?.abort();
      asked = "";
      soon();
    });
  }

  // When the last answer is there, so is another price.
  pane.addEventListener("htmx:afterSwap", () => {
    const list = chosen && document.getElementById(chosen);
    if (list) list.open = true;
    if (pane.querySelector("#sample[hx-get]")) return;
    asked = "";
    ask();
  });

  const askJudge = async (button) => {
    clearTimeout(timer);
    going?.abort();
    note.hidden = true;
    button.disabled = true;
    const data = fields();
    data.set("max_usd", button.dataset.maxUsd);
    try {
      const answer = await fetch(button.dataset.sampleStart, { method: "POST", body: data });
      if (!answer.ok) throw new Error(String(answer.status));
      draw((await answer.text()).replaceAll(NEXT, ""));
    } catch {
      button.disabled = false;
      button.nextElementSibling.textContent = "No answer from the server. Try again.";
    }
  };

  pane.addEventListener("click", async (event) => {
    const starting = event.target.closest("button[data-sample-start]");
    if (starting) {
      await askJudge(starting);
      return;
    }
    const link = event.target.closest("a.bucket");
    const summary = event.target.closest("details[name=bucket] > summary");
    if (summary) chosen = summary.parentElement.open ? "" : summary.parentElement.id;
    if (link) {
      chosen = link.hash.slice(1);
      const list = document.getElementById(chosen);
      if (list) list.open = true;
      return;
    }
    const button = event.target.closest("button[data-to-review]");
    if (!button) return;
    button.disabled = true;
    const data = new FormData();
    data.set("runs", button.dataset.runs);
    data.set("csrfmiddlewaretoken", form.querySelector("[name=csrfmiddlewaretoken]").value);
    const told = button.parentElement.querySelector("[data-told]");
    try {
      const answer = await fetch(button.dataset.toReview, { method: "POST", body: data });
      if (!answer.ok) throw new Error(String(answer.status));
      told.textContent = await answer.text();
    } catch {
      told.textContent = "They could not be sent. Try again.";
      button.disabled = false;
    }
  });
})();
