// Loads the page again while the rollout runs; the place, open parts and searches stay.
(() => {
  const { live, reload_s: every, written, scale } = JSON.parse(document.getElementById("data").textContent);
  const before = history.state?.rollout;
  const parts = () => all("details[id]");
  const fields = () => all("input[data-search]");

  function restore() {
    history.scrollRestoration = "manual";
    if (!before) return;
    for (const one of parts()) one.open = before.open.includes(one.id);
    for (const field of fields()) {
      if (!before.words[field.dataset.search]) continue;
      field.value = before.words[field.dataset.search];
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    const focus = before.focus && document.querySelector(before.focus);
    if (focus) focus.focus({ preventScroll: true });
    scrollTo(before.left, before.top);
  }

  restore();
  if (!live) return;
  const LATE_S = 60;
  const button = document.getElementById("renew"), age = document.getElementById("age");
  let renews = before?.renews ?? true;

  function selector(element) {
    if (!element || element === document.body) return null;
    if (element.id) return "#" + CSS.escape(element.id);
    return element.dataset?.search ? `[data-search="${element.dataset.search}"]` : null;
  }

  function keep() {
    const rollout = {
      renews, left: scrollX, top: scrollY, focus: selector(document.activeElement),
      open: parts().filter((one) => one.open).map((one) => one.id),
      words: Object.fromEntries(fields().map((field) => [field.dataset.search, field.value])),
    };
    history.replaceState({ rollout }, "");
  }

  function show() {
    button.textContent = renews ? "Pause renewal" : "Continue renewal";
  }

  button.addEventListener("click", () => { renews = !renews; keep(); show(); });
  show();

  const loaded = performance.now();
  setInterval(() => {
    const seconds = Date.now() / 1000 - written;
    const late = seconds > LATE_S;
    age.classList.toggle("late", late);
    const words = late ? "Written over a minute ago: the controller may be gone." : "";
    if (age.textContent !== words) age.textContent = words;
    for (const timer of all("[data-left]")) {
      timer.textContent = Math.max(0, Math.round(timer.dataset.left - seconds * scale));
    }
    const reads = String(getSelection()); // a reload would end a selection
    if (renews && !reads && performance.now() - loaded > every * 1000) { keep(); location.reload(); }
  }, 1000);
})();
