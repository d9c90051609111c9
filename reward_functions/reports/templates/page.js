const element = (name, properties) => Object.assign(document.createElement(name), properties);
const value = (text) => {
  const found = parseFloat(text.replace(/,/g, "").replace("−", "-"));
  return Number.isNaN(found) ? -Infinity : found;
};

// A heading sorts its table: up, down, as it was.
const sortable = (table) => {
  const body = table.tBodies[0], before = [...body.rows], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, at) => {
    if (!head.textContent) return;
    const button = element("button", { type: "button", textContent: head.textContent });
    const text = (row) => row.cells[at].textContent;
    const compare = head.classList.contains("number")
      ? (one, other) => value(text(one)) - value(text(other)) || 0
      : (one, other) => text(one).localeCompare(text(other));
    button.addEventListener("click", () => {
      const next = { null: "ascending", ascending: "descending" }[head.getAttribute("aria-sort")];
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      const rows = next ? [...before].sort(compare) : before;
      if (next) head.setAttribute("aria-sort", next);
      body.append(...(next === "descending" ? rows.reverse() : rows));
    });
    head.replaceChildren(button);
  });
};

// A field above rows or cases leaves those whose words it holds.
const filterable = (before, items, what) => {
  const field = element("input", { type: "search" }), shown = element("output");
  const label = element("label", { textContent: `Filter ${what} ` });
  const tool = element("p", { className: "tool" });
  label.append(field);
  tool.append(label, shown);
  before.before(tool);
  const words = items.map((item) => item.textContent.toLowerCase());
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    items.forEach((item, at) => (item.hidden = !words[at].includes(wanted)));
    const left = items.filter((item) => !item.hidden).length;
    shown.textContent = wanted ? `${left} of ${items.length}` : "";
  });
};

for (const table of document.querySelectorAll("table")) {
  if (table.tHead.querySelector("a")) continue; // A server sorts it, and has further rows.
  const rows = [...table.tBodies[0].rows];
  // Where the rows' names have no heading, each row is another fact.
  if (rows.length > 3 && table.tHead.rows[0].cells[0].textContent) sortable(table);
  if (rows.length > 10) filterable(table.parentElement, rows, "rows");
}
for (const section of document.querySelectorAll("section")) {
  const cases = [...section.querySelectorAll(":scope > article")];
  if (cases.length > 4) filterable(cases[0], cases, "cases");
}
