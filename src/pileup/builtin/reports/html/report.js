"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);
  const tables = {}, views = new Map(), waiting = new Map();
  let shown = [0, report.window];

  const column = (packed) => Array.isArray(packed) ? packed : packed.at.map((place) => packed.words[place]);

  function rows(name) {
    if (!tables[name]) {
      const columns = Object.entries(report.tables[name]).map(([key, packed]) => [key, column(packed)]);
      const length = columns.length ? columns[0][1].length : 0;
      tables[name] = Array.from({ length }, (_, i) => Object.fromEntries(columns.map(([key, values]) => [key, values[i]])));
    }
    return tables[name];
  }

  function names(part, found = new Set()) {
    if (Array.isArray(part)) part.forEach((each) => names(each, found));
    else if (part && typeof part === "object") {
      if (part.data && part.data.name && report.tables[part.data.name]) found.add(part.data.name);
      Object.values(part).forEach((each) => names(each, found));
    }
    return found;
  }

  function draw(place) {
    const id = place.dataset.chart, chart = report.charts[id];
    if (waiting.has(id)) return waiting.get(id);
    const datasets = Object.fromEntries([...names(chart.spec)].map((name) => [name, rows(name)]));
    const spec = { ...chart.spec, config: report.config, datasets: { ...chart.spec.datasets, ...datasets } };
    const options = { actions: false, renderer: "svg", defaultStyle: false, tooltip: { theme: "own", disableDefaultStyle: true } };
    const done = vegaEmbed(place, spec, options)
      .then((result) => {
        views.set(id, result.view);
        place.querySelector("svg").setAttribute("aria-hidden", "true"); // the place has its label and its description
        if (chart.timed) { draggable(place, result.view); keyed(place); return show(result.view); }
      })
      .catch((problem) => {
        console.error("chart " + id + ": " + problem);
        place.innerHTML = "<p class=failed>This chart cannot be drawn here; its numbers are below.</p>";
      });
    waiting.set(id, done);
    return done;
  }

  const whole = () => [0, report.window];

  function zoom(from, to) {
    shown = [Math.max(0, from), Math.min(report.window, to)];
    if (shown[1] - shown[0] < 1) shown = whole();
    views.forEach((view, id) => { if (report.charts[id].timed) show(view); });
    document.querySelectorAll(".reset").forEach((each) => { each.hidden = shown[0] === 0 && shown[1] === report.window; });
    document.getElementById("shown").textContent = `Charts show ${number(shown[0] / 1000)} s to ${number(shown[1] / 1000)} s.`;
  }

  // Drag over a chart with a time axis to see that part of the run in all of them; a double click shows the whole again.
  function draggable(place, view) {
    const time = (event) => view.scale("x").invert(event.clientX - place.getBoundingClientRect().left - view.origin()[0]);
    let begun = null, box = null;
    place.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      event.preventDefault();
      begun = event;
      box = place.appendChild(Object.assign(document.createElement("div"), { className: "drag" }));
    });
    addEventListener("pointermove", (event) => {
      if (!begun) return;
      const left = place.getBoundingClientRect().left;
      box.style.left = Math.min(begun.clientX, event.clientX) - left + "px";
      box.style.width = Math.abs(event.clientX - begun.clientX) + "px";
    });
    addEventListener("pointerup", (event) => {
      if (!begun) return;
      const ends = [time(begun), time(event)].sort((a, b) => a - b), far = Math.abs(event.clientX - begun.clientX) > 6;
      box.remove();
      begun = null;
      if (far) { choose(""); zoom(...ends); }
    });
    place.addEventListener("dblclick", () => { choose(""); zoom(...whole()); });
  }

  // The same by keyboard, from a chart that has the focus.
  function keyed(place) {
    place.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const [from, to] = shown, length = to - from;
      const moved = (by) => { const begin = Math.min(Math.max(0, from + by), report.window - length); return [begin, begin + length]; };
      const ends = {
        "+": () => [from + length / 4, to - length / 4], "-": () => [from - length / 2, to + length / 2],
        ArrowLeft: () => moved(-length / 4), ArrowRight: () => moved(length / 4), Escape: whole,
      }[event.key === "=" ? "+" : event.key];
      if (!ends) return;
      event.preventDefault();
      choose("");
      zoom(...ends());
    });
  }

  function show(view) {
    return view.signal("first", shown[0]).signal("last", shown[1]).runAsync();
  }

  function number(value) {
    if (value === null || value === undefined) return "";
    return typeof value === "number" ? value.toLocaleString("en", { maximumSignificantDigits: 5 }).replace(/,/g, " ") : String(value);
  }

  function tabulate(place) {
    const chart = report.charts[place.dataset.numbers] || report.lists[place.dataset.numbers], keys = Object.entries(chart.columns), table = document.createElement("table");
    const cell = (row, kind, text, right) => {
      const made = document.createElement(kind);
      made.textContent = text;
      if (right) made.className = "num";
      row.append(made);
    };
    const data = rows(chart.table), head = table.createTHead().insertRow(), body = table.createTBody();
    const numeric = ([key]) => data.some((row) => typeof row[key] === "number");
    keys.forEach((key) => cell(head, "th", key[1], numeric(key)));
    data.slice(0, 5000).forEach((row) => {
      const line = body.insertRow();
      keys.forEach(([key]) => cell(line, "td", number(row[key]), typeof row[key] === "number"));
    });
    place.replaceChildren(table);
    if (data.length > 5000) place.append(number(data.length - 5000) + " more are in the record: pileup export.");
  }

  document.querySelectorAll("details.numbers").forEach((each) => each.addEventListener("toggle", () => {
    const place = each.querySelector("[data-numbers]");
    if (each.open && !place.firstChild) tabulate(place);
  }));

  const places = [...document.querySelectorAll("[data-chart]")];
  if (places.length && typeof vegaEmbed === "function") {
    const seen = "IntersectionObserver" in window ? new IntersectionObserver((entries) => entries.forEach((entry) => {
      if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
    }), { rootMargin: "600px" }) : null;
    places.forEach((place) => seen ? seen.observe(place) : draw(place));
  }
  const visible = (place) => place.getClientRects().length > 0; // what is folded has no width to be drawn in
  window.pileupDrawAll = () => Promise.all(places.filter(visible).map(draw));

  // What scrolls can be reached by keyboard.
  const reachable = () => document.querySelectorAll(".scroll, .numbers, pre").forEach((each) => {
    const scrolls = each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight;
    if (scrolls) each.tabIndex = 0; else each.removeAttribute("tabindex");
  });
  addEventListener("toggle", reachable, true);
  addEventListener("resize", reachable);
  reachable();

  const chooser = document.getElementById("window");
  const choose = (value) => { if (chooser) chooser.value = value; };
  if (chooser) {
    const cases = rows("cases");
    cases.forEach((each, i) => chooser.append(new Option(each.case, String(i))));
    if (cases.length < 2) chooser.parentElement.hidden = true;
    chooser.addEventListener("change", () => {
      const chosen = cases[chooser.value];
      const room = chosen ? Math.max(1, (chosen.b - chosen.a) * 0.02) : 0;
      zoom(...(chosen ? [chosen.a - room, chosen.b + room] : whole()));
    });
    document.querySelectorAll(".reset").forEach((each) => each.addEventListener("click", () => { choose(""); zoom(...whole()); }));
  }

  const open = () => {
    const found = location.hash.startsWith("#case-") && document.getElementById(location.hash.slice(1));
    if (found) { found.open = true; found.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();
  addEventListener("beforeprint", () => { window.pileupDrawAll(); });
})();
