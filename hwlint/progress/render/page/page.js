"use strict";
(() => {
  const valueOf = (row, column) => {
    const text = row.cells[column].dataset.value ?? "";
    const number = Number(text);
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0);

  // Rows keep the order they came in where a column does not tell them apart.
  const sort = (table, column, descending) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    rows.forEach((row, at) => { row.dataset.at ??= at; });
    rows.sort((a, b) => (descending ? -1 : 1) * compare(valueOf(a, column), valueOf(b, column)) || a.dataset.at - b.dataset.at);
    body.append(...rows);
    Array.from(table.tHead.rows[0].cells).forEach((cell, at) => {
      if (at === column) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    table.dispatchEvent(new Event("sorted"));
  };

  for (const table of document.querySelectorAll("table[data-sortable]")) {
    Array.from(table.tHead.rows[0].cells).forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      button.addEventListener("click", () => {
        const now = cell.getAttribute("aria-sort");
        // Numbers are first asked for from the top.
        sort(table, column, now ? now === "ascending" : cell.classList.contains("number"));
      });
      cell.replaceChildren(button);
    });
  }

  const form = document.getElementById("filters");
  const table = document.getElementById("table");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const rows = Array.from(table.tBodies[0].rows);
  const number = (value) => value.toLocaleString("en");
  let most = 100;
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const filter = () => {
    const wanted = Object.fromEntries(new FormData(form));
    const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const row of table.tBodies[0].rows) {
      const data = row.dataset;
      const fits = (!wanted.state || data.state === wanted.state) && (!wanted.step || data.step === wanted.step)
        && (!wanted.group || data.group === wanted.group) && (!wanted.owner || data.owner.split("\n").includes(wanted.owner))
        && words.every((word) => texts.get(row).includes(word));
      found += fits;
      row.hidden = !fits || found > most;
    }
    const all = found === rows.length ? `${number(found)} files` : `${number(found)} of ${number(rows.length)} files`;
    count.textContent = found > most ? `${all}, the first ${most} shown` : all;
    more.hidden = found <= most;
    more.textContent = `Show all ${number(found)}`;
  };
  more.addEventListener("click", () => {
    // The first row that was not there yet takes the focus from the button that goes.
    const next = Array.from(table.tBodies[0].rows).filter((row) => !row.hidden)[most - 1];
    most = Infinity;
    filter();
    next?.querySelector("summary")?.focus();
  });
  form.addEventListener("input", filter);
  table.addEventListener("sorted", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.elements.sort.addEventListener("change", (event) => {
    const [column, down] = event.target.value.split(":");
    sort(table, Number(column), down === "d");
  });
  form.hidden = false;
  filter();

  const scheme = document.getElementById("scheme");
  const names = { "": "as the system", light: "light", dark: "dark" };
  scheme.addEventListener("click", () => {
    const order = Object.keys(names);
    const next = order[(order.indexOf(document.documentElement.dataset.scheme ?? "") + 1) % order.length];
    if (next) document.documentElement.dataset.scheme = next;
    else delete document.documentElement.dataset.scheme;
    scheme.textContent = `Colours: ${names[next]}`;
  });
  scheme.hidden = false;
})();
