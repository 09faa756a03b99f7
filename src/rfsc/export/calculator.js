
const byId = (id) => document.getElementById(id);
const inputs = FIELDS.map((_, j) => byId(`field${j}`));

// what is entered: null if nothing is, undefined if it is not a value of the field
function entered(j) {
  if (FIELDS[j].levels) return FIELDS[j].cells[inputs[j].selectedIndex];
  if (inputs[j].validity.badInput) return undefined;
  if (inputs[j].value === "") return null;
  return FIELDS[j].is_date ? inputs[j].value : Number(inputs[j].value);
}

function percent(share) {
  if (share < 0.001) return "<0.1\u00a0%";
  return share > 0.999 ? ">99.9\u00a0%" : `${(100 * share).toFixed(1)}\u00a0%`;
}

function written(field, cell) {
  if (cell === null) return "not known";
  if (field.is_date) return cell;
  if (!field.levels) return `${Number(cell.toPrecision(6))}${field.unit && ` ${field.unit}`}`;
  return cell === field.another ? "another" : cell === "" ? "(empty text)" : String(cell);
}

function element(tag, text, parent) {
  const made = document.createElement(tag);
  made.textContent = text;
  return parent.appendChild(made);
}

// the sentence below a field, or nothing
function warning(field, cell) {
  if (cell === undefined) return field.levels ? "Choose one of the list." : `This is not a ${field.is_date ? "date" : "number"}.`;
  if (field.levels || cell === null || field.low === null) return "";
  const rounding = 1e-12 * (field.high - field.low);
  if (cell >= field.low - rounding && cell <= field.high + rounding) return "";
  if (field.is_date && cell >= field.low && cell <= field.high) return ""; // texts, in the order of time
  return "Outside of the training range: the result is extrapolated.";
}

// by how much each value changes a probability, compared with a typical number or with the other levels
function reasons(row, label) {
  const now = predict(row).probability[label];
  const found = [];
  for (const field of FIELDS) {
    const compared = (field.levels ?? [field.typical]).filter((cell) => cell !== null && cell !== row[field.name]);
    const there = compared.map((cell) => predict({ ...row, [field.name]: cell }).probability[label]);
    if (there.length === 0) continue;
    const difference = now - there.reduce((a, b) => a + b) / there.length;
    const ends = [Math.min(...there), Math.max(...there)].map(percent);
    const others = compared.length > 1 ? "the other levels" : written(field, compared[0]);
    found.push({
      value: `${field.name}: ${written(field, row[field.name])}`,
      instead: `With ${others} it would be ${ends[0] === ends[1] ? ends[0] : ends.join(" to ")}.`,
      difference: Math.abs(difference) > 1e-12 ? difference : 0,
    });
  }
  return found.sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
}

function showReasons(id, found) {
  const list = byId(id);
  list.replaceChildren();
  for (const one of found) {
    const item = element("li", "", list);
    element("strong", one.value, item);
    element("span", one.instead, item);
  }
  list.closest("div").hidden = found.length === 0;
}

// how often the class was true of rows with about this probability, or nothing
function observed(share) {
  if (OBSERVED.length === 0) return "";
  const found = OBSERVED.findIndex(([highest]) => share <= highest);
  const place = found < 0 ? OBSERVED.length - 1 : found;
  const [to, rows, happened, low, high] = OBSERVED[place];
  const from = place > 0 ? percent(OBSERVED[place - 1][0]) : "";
  const isLast = place === OBSERVED.length - 1;
  const range = place === 0 ? `up to ${percent(to)}` : isLast ? `above ${from}` : `of ${from} to ${percent(to)}`;
  return `Of ${rows} left-out rows with a probability ${range}, ${percent(happened)} were “${NAMES[1]}” (95\u00a0% interval ${percent(low)} to ${percent(high)}).`;
}

function showClasses(answer) {
  const list = byId("classes");
  list.replaceChildren();
  for (const [k, label] of LABELS.entries()) {
    const share = answer.probability[label];
    const item = element("li", "", list);
    item.dataset.value = share;
    element("span", NAMES[k], item);
    element("b", percent(share), item);
    element("i", "", item).style.width = `${100 * share}%`;
  }
}

function update() {
  const cells = FIELDS.map((_, j) => entered(j));
  FIELDS.forEach((field, j) => {
    const text = warning(field, cells[j]);
    byId(`warning${j}`).textContent = text;
    inputs[j].setAttribute("aria-invalid", cells[j] === undefined);
  });
  const isEmpty = FIELDS.length > 0 && cells.every((cell) => cell === null);
  const lacking = FIELDS.filter((field, j) => cells[j] === undefined || (field.needed && cells[j] === null));
  const row = Object.fromEntries(FIELDS.map((field, j) => [field.name, cells[j]]));
  const answer = isEmpty || lacking.length ? null : predict(row);
  const predicted = answer && LABELS.indexOf(answer.label);
  const k = LABELS.length === 2 ? 1 : predicted;
  const label = LABELS[k];
  const share = answer && answer.probability[label];
  byId("of").textContent = answer ? `Probability of “${NAMES[k]}”` : "Probability";
  byId("probability").textContent = answer ? percent(share) : "–";
  byId("probability").dataset.value = answer ? share : "";
  const names = lacking.map((field) => field.name).join(", ");
  byId("state").textContent = answer ? `Predicted class: ${NAMES[predicted]}` : `Enter ${names || "at least one value"}.`;
  byId("observed").textContent = answer ? observed(share) : "";
  byId("details").hidden = !answer;
  if (answer) {
    const found = reasons(row, label);
    showClasses(answer);
    showReasons("raises", found.filter((one) => one.difference > 0));
    showReasons("lowers", found.filter((one) => one.difference < 0));
    showReasons("neither", found.filter((one) => one.difference === 0));
  }
  const given = FIELDS.map((field, j) => [field.name, inputs[j].value]).filter(([, value]) => value !== "");
  byId("link").href = `#${new URLSearchParams(given)}`;
}

function fill(values) {
  FIELDS.forEach((field, j) => { inputs[j].value = values[j] ?? ""; });
  update();
}

function followLink() {
  const given = new URLSearchParams(location.hash.slice(1));
  fill(FIELDS.map((field) => given.get(field.name)));
}

byId("form").addEventListener("submit", (event) => event.preventDefault());
for (const event of ["input", "change"]) byId("form").addEventListener(event, update);
byId("clear").addEventListener("click", () => fill([]));
addEventListener("hashchange", followLink);
followLink();
