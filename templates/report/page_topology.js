// The topology: laid out for the width of the window, zoomed, and searched. Called by page.js.
// Spines are above, leaves by rack below. A fabric that fits into two rows has straight lines. In a
// larger one links run along lanes below the spines and gutters between racks, so that none crosses
// a box or a caption, and a switch shows its own links only.

// Sizes of boxes, by the number of leaves; a narrow window takes the next. lines: of text.
const BOXES = [
  { most: 40, width: 116, height: 64, lines: 4 },
  { most: 200, width: 100, height: 32, lines: 2 },
  { most: Infinity, width: 62, height: 18, lines: 1 },
];
const MARGIN = 12, APART = 8, GUTTER = 16, CAPTION = 18, DROP = 130, SPAN = 11, MOST_ROWS = 20;
const MOST_DRAWN = 400; // links with findings

// Where each switch and each lane is, for a width.
function layout(switches, width, direct) {
  const upper = switches.filter((one) => one.role === "spine");
  const lower = switches.filter((one) => one.role !== "spine");
  const columnsOf = (size) => Math.max(1, Math.floor((width - 2 * MARGIN - GUTTER) / (size.width + APART)));
  const box = { ...BOXES.find((size) => lower.length <= size.most && lower.length <= MOST_ROWS * columnsOf(size)) || BOXES.at(-1) };
  const spots = new Map(), captions = [], gutters = [];
  let pitch = box.width + APART;
  const straight = direct && Math.max(upper.length, lower.length) * pitch + 2 * MARGIN <= width;
  let y = MARGIN, bottom = MARGIN;

  const topBox = { ...BOXES[upper.length > 20 ? 2 : upper.length > (width < 700 ? 4 : 10) ? 1 : 0] };
  if (topBox.lines > 2) Object.assign(topBox, { height: topBox.height - 14, lines: 3 });
  const across = Math.max(1, Math.floor((width - 2 * MARGIN) / (topBox.width + APART)));
  const rows = Math.ceil(upper.length / across) || 0;
  const each = Math.ceil(upper.length / (rows || 1));
  upper.forEach((one, at) => {
    const row = Math.floor(at / each), inRow = Math.min(each, upper.length - row * each);
    const step = (width - 2 * MARGIN) / inRow;
    const x = MARGIN + step * (at % each + 0.5) - topBox.width / 2;
    spots.set(one.name, { ...topBox, x, y: y + row * (topBox.height + APART), lane: at, last: row === rows - 1 });
  });
  if (rows) y += rows * (topBox.height + APART);
  const lanes = Math.max(upper.length, 1);
  const laneTop = y + 4, laneStep = Math.min(4, 28 / lanes);

  if (straight) {
    if (rows) y += DROP - APART;
    const step = (width - 2 * MARGIN) / Math.max(lower.length, 1);
    let rack = null, from = 0;
    lower.forEach((one, at) => {
      const x = MARGIN + step * (at + 0.5) - box.width / 2;
      spots.set(one.name, { ...box, x, y });
      if (one.rack !== rack || at === 0) { rack = one.rack; from = x; captions.push({ text: rack, x, end: x, y: y + box.height + CAPTION - 4 }); }
      Object.assign(captions.at(-1), { x: (from + x + box.width) / 2, room: x + box.width - from, middle: true });
    });
    bottom = y + box.height + CAPTION;
  } else {
    if (rows) y += 8 + lanes * laneStep;
    const room = columnsOf(box);
    const panels = panelsOf(lower, room);
    const { columns } = panels[0] || {};
    if (columns && panels.every((panel) => panel.columns === columns)) { // all alike: they fill the width
      const beside = Math.min(panels.length, Math.floor((width - 2 * MARGIN + APART) / (GUTTER + columns * pitch)));
      pitch = Math.min(220, Math.floor(((width - 2 * MARGIN) / beside - GUTTER) / columns));
      box.width = pitch - APART;
    }
    let x = MARGIN, rowBottom = y;
    for (const { rack, members, columns } of panels) {
      const wide = GUTTER + columns * pitch;
      if (x + wide > width - MARGIN + APART && x > MARGIN) { x = MARGIN; y = rowBottom + 2; }
      gutters.push({ x, y: laneTop, end: y });
      const top = y + (rack ? CAPTION : 0);
      if (rack) captions.push({ text: rack, x: x + GUTTER, y: y + CAPTION - 5, room: wide - GUTTER });
      members.forEach((one, at) => {
        const row = Math.floor(at / columns);
        const spot = { ...box, x: x + GUTTER + (at % columns) * pitch, y: top + SPAN + row * (box.height + SPAN), gutter: x + 2 };
        spots.set(one.name, spot);
        rowBottom = Math.max(rowBottom, spot.y + box.height);
        gutters.at(-1).end = spot.y;
      });
      x += wide;
    }
    bottom = rowBottom;
  }
  return { spots, captions: captions.filter((one) => one.text), gutters, straight, width, height: bottom + MARGIN,
           laneTop, laneStep, lanes };
}

// Switches of a rack side by side, at most four in a row; without racks, groups of five or ten.
function panelsOf(lower, room) {
  const racks = new Map();
  for (const one of lower) {
    if (!racks.has(one.rack)) racks.set(one.rack, []);
    racks.get(one.rack).push(one);
  }
  return [...racks].flatMap(([rack, members]) => {
    if (rack) return [{ rack, members, columns: Math.min(room, members.length, Math.max(4, Math.ceil(members.length / 4))) }];
    const columns = room >= 20 ? 10 : Math.min(room, 5), panels = [];
    for (let at = 0; at < members.length; at += columns) panels.push({ rack, members: members.slice(at, at + columns), columns });
    return panels;
  });
}

// The way of a link, and `shift` of links between the same two switches.
function wayOf(plan, a, b, shift) {
  const [from, to] = [plan.spots.get(a), plan.spots.get(b)];
  if (plan.straight) {
    const [upper, lower] = from.y <= to.y ? [from, to] : [to, from];
    return `M${upper.x + upper.width / 2 + shift} ${upper.y + upper.height}L${lower.x + lower.width / 2 + shift} ${lower.y}`;
  }
  const lane = from.lane ?? to.lane ?? plan.lanes;
  const level = plan.laneTop + lane * plan.laneStep, share = (lane + 0.5) / (plan.lanes + 1);
  // Points from a switch to the lane; the last one gives the x at which it meets the lane.
  const points = (spot) => {
    const middle = spot.x + spot.width / 2;
    if (spot.lane !== undefined) {
      const end = spot.y + spot.height;
      return spot.last ? [[middle + shift, end]] : [[middle + shift, end], [middle + shift, end + 3], [spot.x + spot.width + APART / 2, end + 3]];
    }
    const x = middle + (share - 0.5) * spot.width * 0.6 + shift, gap = spot.y - 2 - (SPAN - 4) * share;
    return [[x, spot.y], [x, gap], [spot.gutter + (GUTTER - 6) * share, gap]];
  };
  const [out, back] = [points(from), points(to)];
  const all = [...out, [out.at(-1)[0], level], [back.at(-1)[0], level], ...back.reverse()];
  return "M" + all.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L");
}

function drawTopology(data, make, unpack, address) {
  const box = document.getElementById("map"), facts = document.getElementById("facts");
  const names = Object.keys(data.topology.switches);
  const rows = unpack(names.map((name) => data.topology.switches[name]));
  const switches = rows.map((row) => Object.fromEntries(row.map((cell, at) => [names[at], cell])));
  const byName = new Map(switches.map((one) => [one.name, one]));
  const cables = data.tables.cabling.rows.slice(0, data.topology.cables);
  const drawable = (link) => byName.has(cables[link][0]) && byName.has(cables[link][2]);
  const space = box.firstElementChild.namespaceURI;
  const shape = (tag, attributes, ...children) => {
    const element = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const linksOf = new Map(switches.map((one) => [one.name, []])), shifts = [], pairs = new Map();
  cables.forEach(([a, , b], link) => {
    linksOf.get(a)?.push(link);
    linksOf.get(b)?.push(link);
    const pair = [a, b].sort().join("\n"), before = pairs.get(pair) || 0;
    shifts.push(4 * Math.ceil(before / 2) * (before % 2 ? -1 : 1)); // 0, -4, 4, -8
    pairs.set(pair, before + 1);
  });
  const isUpper = (name) => byName.get(name).role === "spine";
  const direct = cables.every(([a, , b], link) => !drawable(link) || isUpper(a) !== isUpper(b));
  const listeners = [];
  const hint = facts.textContent;
  let plan, svg, own, paths, boxes, zoom = 1, current = null, drawnWidth = 0;

  const lineOf = (link, attributes) => {
    const [a, , b] = cables[link];
    return shape("path", { d: wayOf(plan, a, b, shifts[link]), "data-link": link, ...attributes });
  };
  const wordsOf = (link) => {
    const [a, aPort, b, bPort, metres, gbps] = cables[link];
    return [`${a} ${aPort} - ${b} ${bPort}`, gbps && `${gbps} Gb/s`, metres !== null && `${metres} m`].filter(Boolean).join(", ");
  };
  const loadOf = (link) => {
    const leaves = [cables[link][0], cables[link][2]].filter((name) => byName.get(name).role === "leaf");
    return leaves.length === 1 ? byName.get(leaves[0]).load : "unknown";
  };

  function drawnLink(link) {
    const line = lineOf(link, { class: "link " + (data.topology.links[link] || "none"), "data-load": loadOf(link) });
    line.append(shape("title", {}, wordsOf(link)));
    return line;
  }

  const cut = (text, room, letter) => {
    const most = Math.floor(room / letter);
    return text.length > most ? text.slice(0, Math.max(1, most - 1)) + "\u2026" : text;
  };

  function drawnSwitch(one) {
    const spot = plan.spots.get(one.name), middle = spot.x + spot.width / 2;
    const link = shape("a", { href: address(one.name), "data-switch": one.name, "aria-label": one.title, tabindex: "-1" });
    link.append(shape("rect", { class: "switch " + one.kind, "data-ports": one.ports, "data-load": one.load, x: spot.x, y: spot.y, width: spot.width, height: spot.height, rx: 3 }));
    const texts = [one.name, one.model || "model not known", one.role === "leaf" ? one.servers || "servers not known" : one.role ? "" : "role not known", one.speeds].filter(Boolean).slice(0, spot.lines);
    texts.forEach((text, at) => link.append(shape("text", { class: at ? "below" : "name", x: middle, y: spot.y + 13 + at * (spot.lines > 2 ? 15 : 13) },
      cut(text, spot.width - 4, at ? 5.9 : 6.9))));
    return link;
  }

  function draw() {
    const width = Math.max(320, box.parentElement.clientWidth - 18);
    if (width === drawnWidth) return;
    drawnWidth = width;
    plan = layout(switches, width, direct);
    svg = shape("svg", { class: plan.straight ? "topology" : "topology lanes", role: "group", "aria-label": box.dataset.label, viewBox: `0 0 ${plan.width} ${plan.height}` });
    const bad = Object.keys(data.topology.links).map(Number).filter((link) => /error|warning/.test(data.topology.links[link]));
    const worstLast = (a, b) => ["info", "warning", "error"].indexOf(data.topology.links[a]) - ["info", "warning", "error"].indexOf(data.topology.links[b]);
    const shown = (plan.straight ? cables.map((_, link) => link) : bad.slice(0, MOST_DRAWN)).filter(drawable).sort(worstLast);
    const back = shape("g", { class: "ways", "aria-hidden": "true" });
    if (!plan.straight && cables.length && plan.gutters.length) {
      for (const { x, y, end } of plan.gutters) back.append(shape("rect", { x: x + 1, y, width: GUTTER - 5, height: Math.max(0, end - y) }));
      const ends = plan.gutters.map(({ x }) => x);
      back.append(shape("rect", { x: Math.min(...ends) + 1, y: plan.laneTop - 3, width: plan.width - 2 * MARGIN, height: plan.lanes * plan.laneStep + 6 }));
    }
    own = shape("g", { class: "own" });
    paths = shape("g", { id: "path-lines" });
    const drawn = switches.map(drawnSwitch);
    boxes = new Map(drawn.map((link) => [link.dataset.switch, link]));
    const labels = plan.captions.map((one) => shape("text", { class: "rack", x: one.x, y: one.y, "text-anchor": one.middle ? "middle" : "start" }, cut(one.text, one.room, 6)));
    svg.append(back, own, ...shown.map(drawnLink), paths, ...labels, ...drawn);
    if (drawn[0]) drawn[0].setAttribute("tabindex", "0");
    box.replaceChildren(svg);
    scale(zoom);
    listeners.forEach((told) => told());
  }

  function scale(factor) {
    const [x, y] = [(box.scrollLeft + box.clientWidth / 2) / zoom, (box.scrollTop + box.clientHeight / 2) / zoom];
    zoom = Math.min(6, Math.max(0.25, factor));
    svg.style.width = `${plan.width * zoom}px`;
    svg.style.height = `${plan.height * zoom}px`;
    svg.classList.toggle("far", zoom < 0.7);
    box.scrollLeft = x * zoom - box.clientWidth / 2;
    box.scrollTop = y * zoom - box.clientHeight / 2;
  }

  // A switch that is pointed at or has the focus: its facts, and its links.
  function show(name) {
    if (name === current) return;
    current = name;
    own.replaceChildren(...(name && !plan.straight ? linksOf.get(name) : []).filter(drawable).map((link) => lineOf(link, {})));
    svg.classList.toggle("pointing", Boolean(name));
    facts.textContent = name ? [byName.get(name).title, byName.get(name).speeds].filter(Boolean).join("; ") : hint;
  }

  function focus(name) {
    for (const link of boxes.values()) link.setAttribute("tabindex", link.dataset.switch === name ? "0" : "-1");
    boxes.get(name).focus({ preventScroll: true });
    boxes.get(name).scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // The nearest switch in a direction.
  function next(name, dx, dy) {
    const from = plan.spots.get(name);
    let best = null, least = Infinity;
    for (const [other, spot] of plan.spots) {
      const [x, y] = [spot.x + spot.width / 2 - from.x - from.width / 2, spot.y - from.y];
      const ahead = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (ahead > 1 && ahead + 3 * aside < least) { least = ahead + 3 * aside; best = other; }
    }
    return best;
  }

  const at = (event) => event.target.closest?.("a[data-switch]")?.dataset.switch ?? null;
  box.addEventListener("pointerover", (event) => show(at(event)));
  box.addEventListener("pointerleave", () => show(null));
  box.addEventListener("focusin", (event) => show(at(event)));
  box.addEventListener("focusout", () => show(null));
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const name = at(event);
    if (name && ways[event.key]) {
      const other = next(name, ...ways[event.key]);
      if (other) focus(other);
    } else if (event.key === "+" || event.key === "=") scale(zoom * 1.25);
    else if (event.key === "-") scale(zoom / 1.25);
    else if (event.key === "0") scale(1);
    else return;
    event.preventDefault();
  });
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the plain wheel scrolls
    event.preventDefault();
    scale(zoom * Math.exp(-event.deltaY / 400));
  }, { passive: false });
  let drag = null;
  box.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button === 0) drag = { x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop, far: 0 };
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [left, top] = [box.scrollLeft, box.scrollTop];
    box.scrollLeft = drag.x - event.clientX;
    box.scrollTop = drag.y - event.clientY;
    drag.far += Math.abs(box.scrollLeft - left) + Math.abs(box.scrollTop - top);
  });
  window.addEventListener("pointerup", () => setTimeout(() => { drag = null; }));
  box.addEventListener("click", (event) => { if (drag?.far > 4) event.preventDefault(); }); // the end of a drag
  box.addEventListener("dragstart", (event) => event.preventDefault());
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const whole = Math.min(1, (box.clientHeight - 4) / plan.height);
      scale({ in: zoom * 1.25, out: zoom / 1.25, fit: whole }[button.dataset.zoom]);
    });
  }
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(box.parentElement);
  draw();

  return {
    switches, cables,
    onDraw: (listener) => listeners.push(listener),
    center(name) {
      if (zoom < 0.7) scale(1);
      focus(name);
      boxes.get(name).scrollIntoView({ block: "center", inline: "center" });
      for (const [other, link] of boxes) link.classList.toggle("hit", other === name);
    },
    clear() {
      svg.classList.remove("tracing");
      paths.replaceChildren();
      for (const link of boxes.values()) link.classList.remove("on");
    },
    trace(links, nodes) {
      svg.classList.add("tracing");
      paths.append(...links.filter(drawable).map((link) => lineOf(link, { "data-path": link })));
      for (const name of nodes) boxes.get(name)?.classList.add("on");
    },
  };
}
