// Tables sort by a click on a head, and long ones have a field that filters their lines. Without
// this script they are plain tables.
"use strict";

const text = (row, column) => row.cells[column].textContent.trim();

function number(content) {
  const found = content.replaceAll(",", "").replace("−", "-").match(/^[<+]?\s*(-?\d+(\.\d+)?)/);
  return found ? Number(found[1]) : NaN;
}

function compare(a, b) {
  const [x, y] = [number(a), number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a.localeCompare(b, "en");
}

function isEmpty(content) {
  return content === "" || content === "–" || content === "missing";
}

// Up, down, and the order in which the table was made; what is empty stays at the end.
function sortable(table) {
  const body = table.tBodies[0];
  const made = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = { null: "ascending", ascending: "descending", descending: null };
      const order = next[head.getAttribute("aria-sort")];
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      if (order === null) return body.append(...made);
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...made].sort((a, b) => {
        const [x, y] = [text(a, column), text(b, column)];
        return isEmpty(x) - isEmpty(y) || sign * compare(x, y);
      });
      body.append(...rows);
    });
  });
}

// Lines that hold every word of the field.
function filterable(table) {
  const rows = [...table.tBodies[0].rows];
  const tools = document.createElement("div");
  const field = document.createElement("input");
  const count = document.createElement("span");
  tools.className = "tools";
  field.type = "search";
  field.placeholder = "Filter lines";
  field.setAttribute("aria-label", `Filter the lines of: ${table.parentElement.ariaLabel}`);
  count.setAttribute("role", "status");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const content = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
    }
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = words.length ? `${shown} of ${rows.length} lines` : "";
  });
  tools.append(field, count);
  table.parentElement.before(tools);
}

for (const table of document.querySelectorAll("table")) {
  const rows = table.tBodies[0].rows.length;
  const columns = table.tHead.rows[0].cells.length;
  if (rows > 2) sortable(table);
  if (rows > 14 && columns > 2) filterable(table);
}

// A link to what is folded opens it.
function unfold() {
  const target = document.getElementById(location.hash.slice(1));
  const folded = target?.querySelector(":scope > details") ?? target?.closest("details");
  if (folded) folded.open = true;
  target?.scrollIntoView();
}
addEventListener("hashchange", unfold);
if (location.hash) unfold();

// The contents tell which section is on the screen.
const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
const watch = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      links.get(entry.target.id)?.classList.toggle("here", entry.isIntersecting);
    }
  },
  { rootMargin: "-20% 0% -75% 0%" },
);
for (const section of document.querySelectorAll("main > section")) watch.observe(section);
