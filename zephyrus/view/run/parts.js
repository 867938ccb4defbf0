// Small pieces that several parts of the page show.
const MARKS = { full: "✓", partial: "◐", zero: "✗", unscored: "–", broken: "!" };

const plural = (n, word) => n.toLocaleString("en") + " " + word + (n === 1 ? "" : "s");
const number = (value, digits = 3) => (typeof value === "number" ? value.toFixed(digits) : "–");
const signed = (value) => (typeof value === "number" ? (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(3) : "–");
const percent = (value) => (typeof value === "number" ? (100 * value).toFixed(1) + " %" : "–");

function duration(seconds) {
  if (typeof seconds !== "number") return "–";
  if (seconds < 0.00005) return "0 ms";
  if (seconds < 0.0095) return (1000 * seconds).toFixed(1) + " ms";
  if (seconds < 1) return Math.round(1000 * seconds) + " ms";
  return seconds < 100 ? seconds.toFixed(1) + " s" : Math.round(seconds).toLocaleString("en") + " s";
}

// A score with its mark: colour never tells it alone.
function Score({ row }) {
  if (!row) return html`<span class="score none">no rollout</span>`;
  const words = row.score === null ? OUTCOMES[row.outcome] : number(row.score);
  return html`<span class=${"score " + row.outcome}><span aria-hidden="true">${MARKS[row.outcome]} </span>${words}</span>`;
}

function Chip({ kind, children }) {
  return html`<span class=${"chip " + (kind || "")}>${children}</span>`;
}

const LINES = 18;
const LETTERS = 1600;

function beginning(text, lines, letters) {
  const some = text.split("\n", lines).join("\n");
  return some.length > letters ? some.slice(0, letters).replace(/\s+\S{0,40}$/, "") : some;
}

// A text of any length: the beginning of a long one, and the rest when asked.
function Long({ text, name, lines = LINES, letters = LETTERS }) {
  const [open, setOpen] = useState(false);
  const long = text.length > letters || text.split("\n", lines + 4).length > lines + 3;
  const shown = open || !long ? text : beginning(text, lines, letters);
  return html`<div class=${"text " + (name || "")}>${shown}${long && html`<button
    type="button" class="more" aria-expanded=${String(open)} onClick=${() => setOpen(!open)}
  >${open ? "show less" : `… show all ${text.length.toLocaleString("en")} characters`}</button>`}</div>`;
}

function Bar({ value, range }) {
  const place = (x) => 100 * Math.min(Math.max(x, 0), 1) + "%";
  return html`<span class="bar" aria-hidden="true"><span class="filled" style=${{ width: place(value) }}></span>${range && html`<span
    class="range" style=${{ left: place(range[0]), width: 100 * Math.max(Math.min(range[1], 1) - Math.max(range[0], 0), 0) + "%" }}></span>`}</span>`;
}

// A select of what occurs, with how often; it is left out where there is no choice.
function Choice({ label, name, state, set, options }) {
  if (options.length < 2 && !state[name]) return null;
  const known = !state[name] || options.some(([value]) => value === state[name]);
  return html`<label class="choice"><span>${label}</span><select name=${name} value=${state[name]}
      class=${state[name] ? "set" : ""} onChange=${(event) => set({ [name]: event.target.value, page: "" })}>
    <option value="">any</option>
    ${!known && html`<option value=${state[name]}>${state[name]}</option>`}
    ${options.map(([value, words, count]) => html`<option key=${value} value=${value}>${words}${count === undefined ? "" : ` (${count.toLocaleString("en")})`}</option>`)}
  </select></label>`;
}
