// The queue's rows are not exchanged under somebody's hands, nor where nobody looks.
(() => {
  "use strict";
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id !== "queue-live") return;
    const rows = document.querySelector(".queue");
    if (document.hidden || rows?.querySelector("details[open]")) event.preventDefault();
  });
})();
