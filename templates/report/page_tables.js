// Tables: filtered, sorted, exported; a first part of the rows, the rest on demand. Called by page.js.
function drawTable(table, { columns, rows }, make, hrefOf) {
  const ROWS = 200, id = table.dataset.table;
  const search = document.querySelector(`[data-search="${id}"]`);
  const more = document.querySelector(`[data-more="${id}"]`);
  const count = document.querySelector(`[data-count="${id}"]`);
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const collator = new Intl.Collator("en", { numeric: true });
  let lowered = null, shown = rows, sorted = null;

  const cell = (value, [, kind]) => {
    const known = value !== null, href = kind === "switch" && known ? hrefOf(value) : null;
    const box = make("td", null, { class: known ? kind : kind + " unknown" });
    box.append(href ? make("a", value, { href }) : known ? value : "not known");
    return box;
  };

  function add() {
    body.append(...shown.slice(body.rows.length, body.rows.length + ROWS).map((row) => {
      const line = make("tr", null);
      line.append(...row.map((value, at) => cell(value, columns[at])));
      return line;
    }));
    more.hidden = body.rows.length >= shown.length;
    more.textContent = `Show more of ${counted(shown.length - body.rows.length)} rows left`;
  }

  // What is not known comes last in both directions.
  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b);
    return sorted.down ? -order : order;
  }

  function draw() {
    const words = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    lowered ||= rows.map((row) => row.join(" ").toLowerCase());
    shown = words.length ? rows.filter((_, at) => words.every((word) => lowered[at].includes(word))) : rows;
    if (sorted) shown = [...shown].sort((a, b) => compare(a[sorted.at], b[sorted.at]));
    count.textContent = words.length ? `${counted(shown.length)} of ${counted(rows.length)}` : "";
    body.replaceChildren();
    add();
  }

  heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
    sorted = { at, down: sorted?.at === at && !sorted.down };
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
    draw();
  }));
  search.addEventListener("input", draw);
  more.addEventListener("click", add);
  document.querySelector(`[data-export="${id}"]`).addEventListener("click", () => {
    // A spreadsheet takes a text that begins so for a formula.
    const inert = (value) => /^[=+\-@\t\r]/.test(value) && isNaN(value) ? `'${value}` : value;
    const quoted = (value) => /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
    const lines = [columns.map(([name]) => name), ...shown].map((row) => row.map((value) => quoted(inert(String(value ?? "")))).join(","));
    saved(`${id}.csv`, lines.join("\r\n") + "\r\n", make);
  });
  draw();
}

// Saves a text as a file.
function saved(name, text, make) {
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  make("a", null, { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

// Copies a text; a page that is not a secure context has the older command only.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
