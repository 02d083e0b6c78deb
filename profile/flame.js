// The page around the graph.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const element = (tag, text) => {
    const e = document.createElement(tag);
    e.textContent = text;
    return e;
  };

  const {frames, nodes, strings} = data;
  const names = frames.name.map((i) => strings[i]);
  const parent = nodes.parent.map((before, i) => i - before);
  const tree = new Tree(parent, nodes.frame, nodes.self, nodes.line, names, nodes.before);
  const differs = nodes.before !== undefined; // the page compares two profiles
  const all = tree.total[0];
  const coarse = matchMedia("(pointer: coarse)").matches;
  const base = (path) => path.slice(path.lastIndexOf("/", path.length - 2) + 1);

  // A function is a name in an object, inlined or not.
  const functions = [];
  const functionOf = new Int32Array(names.length);
  {
    const known = new Map();
    names.forEach((name, frame) => {
      const key = frames.name[frame] + " " + frames.object[frame];
      if (!known.has(key)) known.set(key, functions.push({name, object: strings[frames.object[frame]], kind: frames.kind[frame]}) - 1);
      functionOf[frame] = known.get(key);
    });
    const weights = tree.functions(functionOf, functions.length);
    functions.forEach((f, i) => {
      f.id = i;
      f.self = weights.self[i];
      f.total = weights.total[i];
      f.selfChange = f.self - weights.selfBefore[i];
      f.totalChange = f.total - weights.before[i];
    });
  }

  // Words.
  const steps = {
    nanoseconds: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
    bytes: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
  }[data.unit];
  const amount = (weight) => {
    if (!steps) return weight.toLocaleString("en") + " " + (weight === 1 ? data.unit.replace(/s$/, "") : data.unit);
    const [size, unit] = steps.find(([size]) => weight >= size) || steps[steps.length - 1];
    return (weight / size).toLocaleString("en", {maximumFractionDigits: 2}) + " " + unit;
  };
  const percent = (weight) => {
    const share = all > 0 ? 100 * weight / all : 0;
    return (share >= 99.95 || share === 0 ? share.toFixed(0) : share < 0.1 ? share.toPrecision(1) : share.toFixed(1)) + " %";
  };
  const change = (weight) => (weight > 0 ? "+" : weight < 0 ? "\u2212" : "±") + percent(Math.abs(weight));
  const changed = (weight) => differs ? " (" + change(weight) + ")" : "";
  const describe = (tree, n) => {
    const frame = tree.frame[n], file = strings[frames.file[frame]], line = tree.line[n];
    const parts = [names[frame], "total " + amount(tree.total[n]) + ", " + percent(tree.total[n]) + changed(tree.total[n] - tree.before[n]),
      "self " + amount(tree.self[n]) + ", " + percent(tree.self[n]) + changed(tree.self[n] - tree.selfBefore[n])];
    const kind = data.kinds[frames.kind[frame]];
    if (kind !== "root") parts.push(kind + (frames.inlined[frame] ? ", inlined" : ""));
    if (frames.object[frame]) parts.push(strings[frames.object[frame]]);
    if (file) parts.push(file + (line > 0 ? ":" + line : ""));
    return parts;
  };

  // Colours, also during a search.
  const host = {names, describe, colours: {}, font: "", italic: ""};
  let looks = [], matched = null, shrunk = [], grown = [];
  const readColours = () => {
    const probe = $("details");
    const old = probe.style.color;
    const colour = (name) => {
      probe.style.color = "var(--" + name + ")";
      return getComputedStyle(probe).color;
    };
    for (const name of ["ink", "accent", "mark", "faded", "faded-ink"]) host.colours[name] = colour(name);
    const family = getComputedStyle(document.body).fontFamily;
    host.font = "12px " + family;
    host.italic = "italic 12px " + family;
    const parse = (name) => colour(name).match(/[\d.]+/g).slice(0, 3).map(Number);
    const shades = data.kinds.map((kind) => {
      const a = parse(kind.toLowerCase() + "-a"), b = parse(kind.toLowerCase() + "-b");
      return [0, 1, 2, 3, 4, 5, 6].map((i) => "rgb(" + a.map((v, k) => Math.round(v + (b[k] - v) * i / 6)).join(" ") + ")");
    });
    const between = (from, to) => [...Array(8).keys()].map((i) => "rgb(" + from.map((v, k) => Math.round(v + (to[k] - v) * i / 7)).join(" ") + ")");
    shrunk = between(parse("same"), parse("shrunk"));
    grown = between(parse("same"), parse("grown"));
    probe.style.color = old;
    looks = names.map((name, frame) => {
      let hash = 0;
      for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
      return {fill: shades[frames.kind[frame]][((hash ^ hash >>> 16) >>> 0) % 7], ink: host.colours.ink, italic: frames.inlined[frame] === 1, marked: false};
    });
    if (matched) looks.forEach((look, frame) => {
      if (matched[frame]) look.marked = true;
      else {
        look.fill = host.colours.faded;
        look.ink = host.colours["faded-ink"];
      }
    });
  };
  host.look = (frame) => looks[frame];
  // The colour of a frame in a difference: the full one from a change by a tenth of all weights
  // on, and less for each factor of two below it.
  host.fill = (tree, n) => {
    const frame = tree.frame[n];
    if (!differs || matched && !matched[frame] || data.kinds[frames.kind[frame]] === "root") return looks[frame].fill;
    const by = tree.total[n] - tree.before[n];
    return (by < 0 ? shrunk : grown)[Math.round(Math.max(0, Math.min(7, 7 + Math.log2(Math.abs(by) * 10 / all || 1e-9))))];
  };
  const repaint = () => {
    readColours();
    for (const g of [graph, callers, callees]) g.redraw();
  };

  // Events of a graph.
  const rest = (parts) => parts.slice(1).join("  ·  ");
  host.selected = (g, n) => {
    if (n < 0 || all === 0) {
      $("details").textContent = all > 0 ? (coarse ? "Tap" : "Click") + " a frame to zoom to it" : "There are no stacks to show";
      return;
    }
    $("details").replaceChildren();
    const parts = describe(g.tree, n);
    $("details").append(element("b", parts[0]), element("span", "  ·  " + rest(parts)));
  };
  host.hovered = (g, n, x, y) => {
    const tip = $("tip");
    tip.hidden = n < 0;
    if (n < 0) return;
    const [name, total, self, ...where] = describe(g.tree, n);
    tip.replaceChildren(element("b", name), element("i", total), element("i", self), ...where.map((w) => element("span", w)));
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight - 4 ? Math.max(4, y - box.height - 10) : y + 18) + "px";
  };
  host.zoomed = () => {
    const inside = (view === "functions" ? [callers, callees] : [graph]).filter((g) => g.tree && g.share < 1);
    $("whole").hidden = inside.length === 0;
    $("zoomed").textContent = inside.map((g) => "Zoomed to " +
      (g.zoomed > 0 ? names[g.tree.frame[g.zoomed]] + ", " : "") + percent(g.share * g.tree.total[0])).join("; ");
  };

  const graph = new Graph($("graph"), host);
  const callers = new Graph($("callers"), host);
  const callees = new Graph($("callees"), host);

  // The search.
  let pattern = null;
  const search = () => {
    const text = $("search").value, input = $("search");
    pattern = null;
    input.removeAttribute("aria-invalid");
    if (text !== "") {
      try {
        // As in editors, a capital letter makes the search case-sensitive.
        pattern = new RegExp(text, text === text.toLowerCase() ? "iu" : "u");
      } catch (error) {
        input.setAttribute("aria-invalid", "true");
      }
    }
    matched = pattern && Uint8Array.from(names, (name) => pattern.test(name) ? 1 : 0);
    if (matched) {
      let count = 0, weight = 0;
      for (let n = 0; n < tree.size; n++) count += matched[tree.frame[n]];
      tree.outermost((frame) => matched[frame] === 1, (n) => { weight += tree.total[n]; });
      $("matches").textContent = count === 0 ? "No match" :
        count.toLocaleString("en") + (count === 1 ? " frame matches, " : " frames match, ") + percent(weight);
    } else $("matches").textContent = text === "" ? "" : "Not a regular expression yet";
    fillTable();
    repaint();
  };
  const nextMatch = () => {
    if (!matched || view === "functions") return;
    for (let i = 1; i <= tree.size; i++) {
      const n = (Math.max(graph.selected, 0) + i) % tree.size;
      if (!matched[tree.frame[n]]) continue;
      graph.whole();
      graph.select(n);
      return;
    }
  };
  $("search").addEventListener("input", search);
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") nextMatch();
    else if (event.key === "Escape") {
      event.preventDefault();
      if ($("search").value !== "") {
        $("search").value = "";
        search();
      } else focusGraph();
    }
  });

  // The functions.
  const most = 300;
  let order = "self", chosen = null;
  const fillTable = () => {
    const shown = functions.filter((f) => data.kinds[f.kind] !== "root" && (!pattern || pattern.test(f.name)))
      .sort((a, b) => (differs ? Math.abs(b[order + "Change"]) - Math.abs(a[order + "Change"]) : 0) || b[order] - a[order] || b.total - a.total || (a.name < b.name ? -1 : 1));
    $("rows").replaceChildren(...shown.slice(0, most).map((f) => {
      const row = element("tr", ""), cell = element("td", ""), line = element("div", ""), button = element("button", f.name);
      button.type = "button";
      button.title = f.name + (f.object ? "\n" + f.object : "");
      line.append(button, element("small", f.object ? base(f.object) : data.kinds[f.kind]));
      cell.append(line);
      const self = element("td", differs ? change(f.selfChange) : percent(f.self));
      const total = element("td", differs ? change(f.totalChange) : percent(f.total));
      self.title = amount(f.self) + changed(f.selfChange);
      total.title = amount(f.total) + changed(f.totalChange);
      row.append(self, total, cell);
      row.dataset.function = f.id;
      row.addEventListener("click", () => choose(f)); // of the button too
      if (f === chosen) row.setAttribute("aria-current", "true");
      return row;
    }));
    $("more").textContent = shown.length > most ? most + " of " + shown.length.toLocaleString("en") + " functions; search for others" : shown.length === 0 ? "No function matches" : "";
    return shown;
  };
  const choose = (f) => {
    chosen = f;
    for (const row of $("rows").children) {
      if (+row.dataset.function === f.id) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    $("chosen").textContent = f.name;
    callers.show(tree.callers(functionOf, f.id, names), true);
    callees.show(tree.callees(functionOf, f.id, names), false);
  };
  for (const key of ["self", "total"]) $("by-" + key).addEventListener("click", () => {
    order = key;
    for (const other of ["self", "total"]) $("by-" + other).parentElement.setAttribute("aria-sort", other === key ? "descending" : "none");
    fillTable();
  });

  // The views.
  let view = "icicle";
  const setView = (name) => {
    const focused = document.activeElement.classList.contains("graph");
    view = name;
    for (const id of ["icicle", "flame", "functions"]) $(id).setAttribute("aria-pressed", id === name);
    $("graph").hidden = name === "functions";
    $("table").hidden = name !== "functions";
    if (name === "functions") {
      const shown = fillTable();
      const node = graph.selected > 0 ? functions[functionOf[tree.frame[graph.selected]]] : null;
      if (node && data.kinds[node.kind] !== "root") choose(node);
      else if (!chosen && shown.length > 0) choose(shown[0]);
    } else {
      const {selected, target, zoomed} = graph;
      graph.show(tree, name === "flame");
      if (target) graph.look(target.left, target.width, zoomed);
      if (selected >= 0) graph.select(selected);
    }
    host.zoomed();
    if (focused) focusGraph();
  };
  const focusGraph = () => (view === "functions" ? callees : graph).element.focus();
  for (const id of ["icicle", "flame", "functions"]) $(id).addEventListener("click", () => setView(id));
  $("whole").addEventListener("click", () => {
    for (const g of view === "functions" ? [callers, callees] : [graph]) g.whole();
    focusGraph();
  });

  // Light and dark: the system's setting, until the user selects one.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : dark.matches;
  const themed = () => {
    $("theme").setAttribute("aria-pressed", isDark());
    repaint();
  };
  const toggleTheme = () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    themed();
  };
  dark.addEventListener("change", themed);
  $("theme").addEventListener("click", toggleTheme);
  $("help").addEventListener("click", () => $("keys").showModal());

  document.addEventListener("keydown", (event) => {
    $("tip").hidden = true;
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === $("search") || $("keys").open) return;
    switch (event.key) {
    case "/": $("search").focus(); $("search").select(); break;
    case "?": $("keys").showModal(); break;
    case "i": setView(view === "icicle" ? "flame" : "icicle"); break;
    case "f": setView(view === "functions" ? "icicle" : "functions"); break;
    case "d": toggleTheme(); break;
    case "+": case "=": case "-": case "_": case "Escape":
      if (event.defaultPrevented || view === "functions") return;
      graph.key(event);
      return;
    default: return;
    }
    event.preventDefault();
  });

  // The start.
  $("title").textContent = data.title || "Flame graph";
  $("summary").textContent = amount(all) + ", " + (functions.length - functions.filter((f) => data.kinds[f.kind] === "root").length).toLocaleString("en") +
    " functions, " + (tree.rows - 1).toLocaleString("en") + " frames deep";
  const byKind = new Float64Array(data.kinds.length);
  for (let n = 0; n < tree.size; n++) byKind[frames.kind[tree.frame[n]]] += tree.self[n];
  const present = new Set(frames.kind);
  if (differs) $("legend").append(...[["grown", "more than before"], ["shrunk", "less"]].map(([name, text]) => {
    const item = element("li", text);
    item.className = name;
    return item;
  }));
  else $("legend").append(...[1, 2, 3, 4, 0].filter((kind) => present.has(kind)).map((kind) => {
    const item = element("li", data.kinds[kind] + " " + percent(byKind[kind]));
    item.className = data.kinds[kind];
    return item;
  }));
  $("notes").append(...data.notes.map((note) => element("p", note)));
  for (const id of ["bar", "status", "details"]) $(id).hidden = false;
  $("notes").hidden = data.notes.length === 0;
  document.querySelector("main").hidden = false;
  host.selected(graph, -1);
  readColours();
  setView("icicle");
})();
