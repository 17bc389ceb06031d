"use strict";
// A text field with suggestions (the combobox pattern of WAI-ARIA). Called by page.js.
// options: { text, note, value } in order; onChoose gets the value, or null when the text changes.
// eager: a name typed in full is chosen at once, although a longer one may follow.
function combobox(input, options, make, onChoose, eager = false) {
  const MOST = 12;
  const list = make("ul", null, { role: "listbox", id: input.id + "-list", class: "choices", "aria-label": input.dataset.label || input.getAttribute("aria-label") || "choices" });
  list.hidden = true;
  input.after(list);
  for (const [name, value] of Object.entries({ role: "combobox", "aria-expanded": "false", "aria-controls": list.id, "aria-autocomplete": "list", autocomplete: "off" })) input.setAttribute(name, value);
  const folded = options.map((one) => [one.text.toLowerCase(), one.note.toLowerCase()]);
  let shown = [], active = -1, chosen = null;

  // Options whose text is, begins with, or contains the words; then those whose note does.
  function matches(words) {
    if (!words) return options.slice(0, MOST);
    const ranks = [[], [], [], []];
    folded.forEach(([text, note], at) => {
      const rank = text === words ? 0 : text.startsWith(words) ? 1 : text.includes(words) ? 2 : note.includes(words) ? 3 : -1;
      if (rank >= 0 && ranks[rank].length < MOST) ranks[rank].push(options[at]);
    });
    return ranks.flat().slice(0, MOST);
  }

  function open() {
    shown = matches(input.value.trim().toLowerCase());
    active = -1;
    list.replaceChildren(...shown.map((one, at) => {
      const item = make("li", null, { role: "option", id: `${list.id}-${at}`, "aria-selected": "false" });
      item.append(make("span", one.text), " ", make("span", one.note, { class: "quiet" }));
      return item;
    }));
    if (!shown.length) list.append(make("li", "nothing matches", { class: "quiet", role: "option", "aria-disabled": "true", "aria-selected": "false" }));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    input.removeAttribute("aria-activedescendant");
  }

  function close() {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function mark(at) {
    active = (at + shown.length) % shown.length;
    [...list.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === active)));
    input.setAttribute("aria-activedescendant", list.children[active].id);
    list.children[active].scrollIntoView({ block: "nearest" });
  }

  function choose(one) {
    input.value = one.text;
    chosen = one;
    close();
    onChoose(one.value);
  }

  input.addEventListener("input", () => {
    const exact = eager && options.find((one) => one.text === input.value.trim());
    if (chosen) { chosen = null; onChoose(null); }
    open();
    if (exact) { chosen = exact; onChoose(exact.value); }
  });
  input.addEventListener("click", open);
  input.addEventListener("blur", () => setTimeout(close, 150));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) open();
      if (shown.length) mark(event.key === "ArrowDown" ? active + 1 : Math.max(active, 0) - 1);
    } else if (event.key === "Enter" && !list.hidden) {
      if (shown.length) choose(shown[Math.max(active, 0)]);
    } else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
  });
  list.addEventListener("pointerdown", (event) => {
    event.preventDefault(); // the field keeps the focus
    const item = event.target.closest("[role=option]");
    if (item && shown.length) choose(shown[[...list.children].indexOf(item)]);
  });
  return {
    set(value) { choose(options.find((one) => one.value === value)); },
    clear() { input.value = ""; chosen = null; close(); },
  };
}
