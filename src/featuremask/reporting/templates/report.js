"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const facts = JSON.parse(at("facts").textContent);
  const root = document.documentElement;
  const body = at("ranking").tBodies[0];
  const rows = Array.from(body.rows, (row) => ({
    row,
    place: Number(row.dataset.p),
    position: Number(row.dataset.i),
    name: row.dataset.n ?? row.cells[1].textContent,
    last: row.cells[row.cells.length - 1],
  }));
  let k = facts.k;
  root.classList.add("scripted");

  function say(text) {
    at("said").textContent = text;
    clearTimeout(say.timer);
    say.timer = setTimeout(() => { at("said").textContent = ""; }, 3000);
  }

  // ---- the number of columns --------------------------------------------------------------

  function list() {
    const wanted = at("search").value.toLowerCase();
    const all = at("everything").checked || wanted !== "";
    let shown = 0;
    let chosen = 0;
    for (const item of rows) {
      const isIn = item.place <= k;
      const isShown = (isIn || all) && item.name.toLowerCase().includes(wanted);
      item.row.hidden = !isShown;
      item.row.classList.toggle("out", !isIn);
      item.last.textContent = isIn ? "yes" : "no";
      chosen += isIn;
      shown += isShown;
    }
    const count = chosen === 1 ? "1 column is chosen" : `${chosen.toLocaleString("en")} columns are chosen`;
    at("shown").textContent = shown === chosen && !wanted ? `${count}.` : `${count}; ${shown.toLocaleString("en")} shown.`;
  }

  function choose(value) {
    k = Math.min(Math.max(Math.round(value) || 1, 1), facts.stops[facts.stops.length - 1]);
    at("k").value = facts.stops.filter((stop) => stop <= k).length - 1;
    at("k-number").value = k;
    const known = facts.readouts.filter(([from]) => from <= k);
    const text = known[known.length - 1][1];
    at("readout").textContent = `k = ${k.toLocaleString("en")}${text ? ": " + text : ""}`;
    at("k").setAttribute("aria-valuetext", at("readout").textContent);
    if (facts.places.length) {
      const x = facts.places[Math.min(k, facts.places.length) - 1];
      at("marker").setAttribute("x1", x);
      at("marker").setAttribute("x2", x);
    }
    list();
  }

  at("k").addEventListener("input", (event) => choose(facts.stops[event.target.valueAsNumber]));
  at("k-number").addEventListener("change", (event) => choose(event.target.valueAsNumber));
  at("k-back").addEventListener("click", () => choose(facts.k));
  at("search").addEventListener("input", list);
  at("everything").addEventListener("change", list);

  // ---- order ------------------------------------------------------------------------------

  const heads = Array.from(document.querySelectorAll("[data-sort]"));

  function sort(button) {
    const cell = Number(button.dataset.sort);
    const head = button.closest("th");
    const before = head.getAttribute("aria-sort");
    const first = cell <= 1 ? "ascending" : "descending";
    const order = before === null ? first : before === "ascending" ? "descending" : "ascending";
    const sign = order === "ascending" ? 1 : -1;
    const rank = (item) => Number(item.row.cells[0].textContent);
    const by = cell === 1
      ? (a, b) => a.name.localeCompare(b.name, "en", { numeric: true })
      : (a, b) => Number(a.row.cells[cell].dataset.v) - Number(b.row.cells[cell].dataset.v);
    rows.sort((a, b) => sign * by(a, b) || rank(a) - rank(b));
    body.append(...rows.map((item) => item.row));
    for (const other of heads) {
      other.closest("th").removeAttribute("aria-sort");
    }
    head.setAttribute("aria-sort", order);
  }

  for (const button of heads) {
    button.addEventListener("click", () => sort(button));
  }

  // ---- copies -----------------------------------------------------------------------------

  const chosen = () => rows.filter((item) => item.place <= k)
    .sort((a, b) => Number(a.row.cells[0].textContent) - Number(b.row.cells[0].textContent));
  const texts = {
    python: () => "columns = " + JSON.stringify(
      chosen().map((item) => (facts.named ? item.name : item.position)), null, 4),
    sql: () => "SELECT\n    " + chosen().map((item) => `"${item.name.replaceAll('"', '""')}"`).join(",\n    "),
    text: () => chosen().map((item) => item.name).join("\n"),
    lines: () => at("lines").textContent,
  };

  function copyByHand(text) {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }

  async function copy(button) {
    const text = texts[button.dataset.copy]();
    let copied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copied = copyByHand(text);
    }
    button.focus();
    say(copied ? `Copied: ${button.textContent === "Copy these lines" ? "the lines" : chosen().length.toLocaleString("en") + " columns as " + button.textContent}` : "The browser did not allow copying.");
  }

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => copy(button));
  }

  // ---- theme and paper --------------------------------------------------------------------

  const dark = () => root.dataset.theme === "dark" ||
    (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);

  at("theme").setAttribute("aria-pressed", String(dark()));
  at("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    at("theme").setAttribute("aria-pressed", String(dark()));
  });
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) {
      part.open = true;
    }
  });

  choose(k);
})();
