// The ECMP matrix, and the path of a chosen pair on the topology. Called by page.js.
function drawMatrix(matrix, make, choose) {
  const table = document.getElementById("matrix");
  if (!matrix || !table) return;
  const { lines, widths } = matrix;
  const most = Math.max(1, ...widths.flat().filter((width) => width !== null));
  const many = lines.length > 24;
  table.classList.toggle("many", many);
  table.classList.toggle("tall", lines.length > 8);
  const head = make("tr", null);
  const label = ([name, leaves]) => leaves > 1 ? `${name} (${leaves})` : name;
  const title = (line, scope) => {
    const box = make("th", null, { scope });
    box.append(make("span", label(line)));
    return box;
  };
  head.append(make("td", null, { class: "none" }), ...lines.map((line) => title(line, "col")));
  const top = make("thead", null), body = make("tbody", null);
  top.append(head);
  widths.forEach((row, from) => {
    const tr = make("tr", null);
    tr.append(title(lines[from], "row"));
    row.forEach((width, to) => {
      if (width === null) return void tr.append(make("td", "\u2013", { class: "none" }));
      const cell = make("td", String(width), { title: `${label(lines[from])} to ${label(lines[to])}: ${width}` });
      if (width) cell.style.setProperty("--share", `${8 + Math.round(40 * width / most)}%`);
      else cell.className = "nothing";
      cell.dataset.from = from;
      cell.dataset.to = to;
      tr.append(cell);
    });
    body.append(tr);
  });
  table.append(top, body);
  table.addEventListener("click", (event) => {
    const { from, to } = event.target.dataset;
    if (to !== undefined && from !== to) choose(lines[from][2], lines[to][2]);
  });
}

// Returns a function that chooses a pair of leaves by name.
function tracer(paths, map, make) {
  const form = document.getElementById("trace"), said = document.getElementById("traced");
  if (!paths || !form) return () => {};
  const { cables } = map;
  const FEW = 8;
  const groupsOf = new Map(paths.leaves.map((leaf) => [leaf, []]));
  paths.groups.forEach(([, origins], group) => origins.forEach((leaf) => groupsOf.get(leaf)?.push(group)));

  // Choices: each leaf, each server with the class of its subnet.
  const choices = paths.leaves.map((leaf) => ({ name: paths.nodes[leaf], leaf, groups: groupsOf.get(leaf) }));
  const leaves = choices.length;
  paths.servers.forEach(([leaf, group, subnet, names], kind) => {
    for (const name of names) choices.push({ name, leaf, groups: [group], kind, subnet });
  });
  const racks = new Map(map.switches.map((one) => [one.name, one.rack]));
  const options = choices.map((one, value) => {
    const leaf = paths.nodes[one.leaf], rack = racks.get(leaf);
    return { text: one.name, note: [value < leaves ? "leaf" : `server at ${leaf}`, rack].filter(Boolean).join(", "), value };
  });
  const picked = { source: null, destination: null };
  const fields = Object.fromEntries(Object.keys(picked).map((name) => [name, combobox(form.elements[name], options, make, (value) => {
    picked[name] = value;
    trace();
  }, true)]));
  form.hidden = false;

  // Links that a switch uses towards a group: its usual set, or the differences from it.
  function linksOf(node, group) {
    const [usual, others] = paths.hops[node];
    const set = Object.hasOwn(others, group) ? others[group] : usual;
    return set === null ? [] : paths.sets[set];
  }

  // All links and switches from a leaf to a group, how many paths, and where they end too early.
  function walk(start, group) {
    const origins = new Set(paths.groups[group][1]);
    const count = new Map(), links = new Set(), dead = new Set();
    const open = new Set();
    let loop = false;
    function from(node) {
      if (node < 0) return 0;
      if (origins.has(node)) { count.set(node, 1); return 1; }
      if (open.has(node)) { loop = true; return 0; }
      if (count.has(node)) return count.get(node);
      open.add(node);
      const hops = linksOf(node, group);
      if (!hops.length) dead.add(node);
      let total = 0;
      for (const link of hops) {
        if (link < 0) { dead.add(node); continue; }
        const [a, b] = paths.links[link];
        links.add(link);
        total += from(a === node ? b : a);
      }
      open.delete(node);
      count.set(node, total);
      return total;
    }
    const total = from(start);
    return { total, links, nodes: [...count.keys()], dead: [...dead], loop };
  }

  function clear() {
    map.clear();
    said.hidden = true;
    said.textContent = "";
  }

  // `port to switch port`, as the table of cables has it: its first rows are the links in order.
  function hop(node, link) {
    if (link < 0) return "a next hop that no known cable leads to";
    const [a, aPort, b, bPort] = cables[link];
    return a === paths.nodes[node] ? `${aPort} to ${b} ${bPort}` : `${bPort} to ${a} ${aPort}`;
  }

  function listed(words) {
    const more = words.length - FEW;
    return words.slice(0, FEW).join(", ") + (more > 0 ? ` and ${more} more` : "");
  }

  function lost(source, destination) {
    if (source.kind === undefined || destination.kind === undefined) return null;
    return paths.lost.some(([from, to]) => from.includes(source.kind) && to.includes(destination.kind));
  }

  function words(source, destination, group, found) {
    const name = paths.nodes[source.leaf], prefix = destination.subnet || paths.groups[group][0];
    const hops = linksOf(source.leaf, group);
    const parts = [hops.length ? `Width ${hops.length} at ${name} to ${prefix}, ${found.total} equal path${found.total === 1 ? "" : "s"}: ${listed(hops.map((link) => hop(source.leaf, link)))}.`
                               : `${name} has no BGP route to ${prefix}.`];
    const dead = found.dead.filter((node) => node !== source.leaf).map((node) => paths.nodes[node]);
    if (dead.length) parts.push(`Paths end without a route at ${listed(dead)}.`);
    if (found.loop) parts.push("Paths run in a circle.");
    if (destination.groups.length > 1) parts.push(`The narrowest of ${destination.groups.length} classes of prefixes there.`);
    return parts;
  }

  function trace() {
    clear();
    const [source, destination] = ["source", "destination"].map((name) => choices[picked[name]]);
    if (!source || !destination) return;
    said.hidden = false;
    let parts, found = { links: new Set(), nodes: [source.leaf] };
    if (source.leaf === destination.leaf) {
      parts = [`Both are on ${paths.nodes[source.leaf]}: no link between switches is crossed.`];
    } else {
      const ways = destination.groups.filter((group) => !paths.groups[group][1].includes(source.leaf));
      if (!ways.length) {
        parts = [`${destination.name} announces nothing that ${paths.nodes[source.leaf]} does not.`];
      } else {
        const group = ways.reduce((a, b) => linksOf(source.leaf, b).length < linksOf(source.leaf, a).length ? b : a);
        found = walk(source.leaf, group);
        parts = words(source, destination, group, found);
      }
    }
    const gone = lost(source, destination);
    if (gone !== null && source !== destination) {
      parts.push(gone ? "RDMA is not delivered by every path." : "RDMA is delivered by every path.");
    }
    said.textContent = parts.join(" ");
    map.trace([...found.links], found.nodes.map((node) => paths.nodes[node]));
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    for (const [name, field] of Object.entries(fields)) { field.clear(); picked[name] = null; }
    trace();
  });
  map.onDraw(trace);

  return (source, destination) => {
    for (const [name, leaf] of [["source", source], ["destination", destination]]) {
      fields[name].set(choices.findIndex((one) => one.name === leaf));
    }
    form.scrollIntoView({ block: "start" });
    form.elements.source.focus({ preventScroll: true });
  };
}

// Search in the topology: switches, racks, servers and addresses lead to a switch.
function finder(data, map, make) {
  const options = [], seen = new Set(), at = new Map();
  const add = (text, note, value) => options.push({ text, note, value });
  for (const one of map.switches) {
    at.set(one.name, one.name);
    add(one.name, [one.role || "role not known", one.model, one.rack].filter(Boolean).join(", "), one.name);
  }
  for (const one of map.switches) {
    if (one.rack && !seen.has(one.rack)) add(one.rack, `rack of ${one.name}`, one.name);
    seen.add(one.rack);
  }
  for (const [leaf, port, name] of data.tables.cabling.rows.slice(data.topology.cables)) {
    if (!at.has(name)) add(name, `at ${leaf} ${port}`, leaf);
    at.set(name, leaf);
  }
  for (const [device, port, address] of data.tables.addresses.rows) {
    if (at.has(device)) add(address.split("/")[0], [device, port].filter(Boolean).join(" "), at.get(device));
  }
  const input = document.getElementById("find");
  combobox(input, options, make, (value) => { if (value) map.center(value); });
}
