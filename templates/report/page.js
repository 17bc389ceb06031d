// Draws large parts only when they are opened: places of findings, tables, configurations.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const FEW = 12;

  // A sentence with the text between backquotes as code.
  function prose(text) {
    const parts = text.split("`");
    return parts.length % 2 ? parts.map((part, at) => at % 2 ? make("code", part) : part) : [text];
  }

  for (const table of Object.values(data.tables)) table.rows = unpacked(table.packed);
  const hasText = (device) => Object.hasOwn(data.texts, device);
  const address = (device, line) => "#config/" + encodeURIComponent(device) + (line ? "/" + line : "");

  const textOf = (device) =>
    data.texts[device].map((part) => typeof part === "number" ? data.runs[part] : part).join("\n");

  // Findings: the places of each group, narrowed to a device.
  const groups = all(".group").map((element) => ({
    element, ...data.groups[element.dataset.group], expanded: false,
  }));
  const names = new Set(all("#devices option").map((option) => option.value));

  function matcher(asked) {
    if (!asked) return () => true;
    if (names.has(asked)) return (device) => device === asked;
    const part = asked.toLowerCase();
    return (device) => device !== null && device.toLowerCase().includes(part);
  }

  function link([device, port, line, source]) {
    const words = [device, port].filter(Boolean).join(" ");
    if (!words) return make("span", source || "the whole fabric", { class: "source" });
    const title = source ? { title: source } : {};
    return hasText(device) ? make("a", words, { href: address(device, line), ...title })
                           : make("span", words + " ", title);
  }

  function sourcesOf(places) {
    const lines = new Map();
    for (const [device, , , source] of places) {
      if (!device || !source) continue;
      const cut = source.lastIndexOf(":");
      const file = source.slice(0, cut);
      if (!lines.has(file)) lines.set(file, new Set());
      lines.get(file).add(source.slice(cut + 1));
    }
    return [...lines].map(([file, found]) => `${file}:${[...found].sort((a, b) => a - b).join(", ")}`).join("; ");
  }

  function drawPlaces(group, matches) {
    const places = group.places.filter((place) => matches(place[0]));
    const shown = group.expanded ? places : places.slice(0, FEW);
    const line = group.element.querySelector(".places");
    line.replaceChildren(...shown.flatMap((place) => [link(place), " "]));
    if (shown.length < places.length) {
      const more = make("button", `and ${counted(places.length - shown.length)} more`, { type: "button" });
      more.onclick = () => { group.expanded = true; drawPlaces(group, matches); };
      line.append(more);
    }
    const sources = sourcesOf(shown);
    if (sources) line.append(make("span", "in " + sources, { class: "source" }));
    return places.length;
  }

  const form = document.getElementById("filter");
  function filter() {
    const fields = new FormData(form);
    const kinds = new Set(fields.getAll("kind"));
    const matches = matcher(fields.get("device").trim());
    let shown = 0, total = 0;
    for (const group of groups) {
      total += group.places.length;
      const count = kinds.has(group.kind) ? drawPlaces(group, matches) : 0;
      group.element.hidden = count === 0;
      shown += count;
    }
    for (const rule of all("details.rule")) {
      rule.hidden = all(".group", rule).every((group) => group.hidden);
    }
    document.getElementById("shown").textContent = `${counted(shown)} of ${counted(total)} shown`;
  }
  if (form) {
    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    filter();
  }

  for (const table of all("table[data-table]")) drawTable(table, data.tables[table.dataset.table], make, (device) => hasText(device) ? address(device) : null);

  // Configurations: lines with the findings below them, drawn when opened.
  const notes = new Map();
  for (const group of data.groups) {
    for (const [device, port, line] of group.places) {
      if (device === null || line === null) continue;
      if (!notes.has(device)) notes.set(device, new Map());
      const lines = notes.get(device);
      if (!lines.has(line)) lines.set(line, new Set());
      lines.get(line).add(group);
    }
  }

  function drawConfig(details) {
    if (details.querySelector("ol")) return;
    const device = details.dataset.device;
    const found = notes.get(device) || new Map();
    const list = make("ol", null, { tabindex: "0", "aria-label": "Configuration of " + device });
    textOf(device).replace(/\r?\n$/, "").split(/\r\n|\n|\r/).forEach((text, index) => {
      const line = make("li", text, { "data-line": index + 1 });
      list.append(line);
      for (const group of found.get(index + 1) || []) {
        if (!line.classList.contains("at")) line.classList.add("at", group.kind); // the worst is first
        const note = make("li", null, { class: "note " + group.kind });
        note.append(make("span", data.labels[group.kind], { class: "badge " + group.kind }), ` ${group.rule}: `, ...prose(group.message));
        list.append(note);
      }
    });
    const copy = make("button", "Copy", { type: "button", class: "copy", "aria-label": "Copy the configuration of " + device });
    copy.addEventListener("click", async () => { copy.textContent = await copied(textOf(device)) ? "Copied" : "Not copied"; });
    details.append(copy, list);
  }

  const configs = all("details.config");
  for (const details of configs) details.addEventListener("toggle", () => { if (details.open) drawConfig(details); });
  const search = document.getElementById("config-search");
  search.addEventListener("input", () => {
    const matches = matcher(search.value.trim());
    for (const details of configs) details.hidden = !matches(details.dataset.device);
  });

  function decoded(text) {
    try { return decodeURIComponent(text); } catch { return null; } // an invalid address
  }

  function go() {
    const match = /^#config\/([^/]+)(?:\/(\d+))?$/.exec(location.hash);
    if (!match) return;
    const device = decoded(match[1]);
    const details = configs.find((one) => one.dataset.device === device);
    if (!details) return;
    details.hidden = false;
    details.open = true;
    drawConfig(details);
    all(".aim").forEach((line) => line.classList.remove("aim"));
    details.scrollIntoView({ block: "start" });
    const line = match[2] && details.querySelector(`[data-line="${match[2]}"]`);
    if (line) {
      line.classList.add("aim");
      const list = line.parentElement;
      list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 3;
    }
    details.querySelector("summary").focus({ preventScroll: true });
  }
  window.addEventListener("hashchange", go);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#config/"]');
    if (link && link.getAttribute("href") === location.hash) go();
  });
  go();

  drawMatrix(data.matrix, make, (source, destination) => choose(source, destination));
  const map = drawTopology(data, make, unpacked, address);
  finder(data, map, make);
  const choose = tracer(data.paths, map, make);
})();
