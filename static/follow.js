// What is appended to a log is followed, until somebody scrolls up; the oldest lines then go.
(() => {
  "use strict";
  const MOST_LINES = 2000;
  const NEAR = 8;
  const atEnd = (log) => log.scrollHeight - log.scrollTop - log.clientHeight <= NEAR;
  const boxOf = (log) => document.querySelector(`[data-follow="${log.id}"]`);

  const tops = new Map();

  const follow = (log) => {
    if (boxOf(log)?.checked === false) {
      log.scrollTop = tops.get(log.id) ?? log.scrollTop;
      return;
    }
    const lines = log.firstElementChild;
    for (let left = lines.children.length - MOST_LINES; left > 0; left -= 1) lines.firstElementChild.remove();
    log.scrollTop = log.scrollHeight;
  };
  const followAll = () => document.querySelectorAll(".log.is-live").forEach(follow);

  // A log is kept while the page around it is exchanged, and loses its place on the way.
  document.addEventListener("htmx:beforeSwap", () => {
    for (const log of document.querySelectorAll(".log.is-live")) tops.set(log.id, log.scrollTop);
  });
  document.addEventListener("htmx:afterSwap", followAll);
  document.addEventListener("htmx:oobAfterSwap", followAll);
  document.addEventListener("DOMContentLoaded", followAll);
  // What moved is told by the log itself: that it grew is no scrolling.
  document.addEventListener("scroll", ({ target }) => {
    const box = target.matches?.(".log.is-live") && boxOf(target);
    if (box) box.checked = atEnd(target);
  }, true);
  document.addEventListener("change", ({ target }) => {
    const log = target.dataset?.follow && document.getElementById(target.dataset.follow);
    if (!log) return;
    tops.delete(log.id);
    follow(log);
  });
})();
