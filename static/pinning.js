// A run of the pane is pinned to the rule under the name that is saved; a new one has none yet.
(() => {
  "use strict";
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-pin]");
    const name = document.querySelector("#rule-form [name=seen_name]")?.value;
    if (!link || !name) return;
    const url = new URL(link.href);
    url.searchParams.set("rule", name);
    link.href = url;
  });
})();
