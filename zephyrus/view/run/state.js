// What the page shows is in its address: a link to a rollout, or to a filtered table, keeps.
const BLANK = { rollout: "", q: "", deep: "", template: "", type: "", stop: "", outcome: "", tool: "", issue: "", change: "", sort: "", page: "", side: "", keys: "" };
const FILTERS = ["q", "template", "type", "stop", "outcome", "tool", "issue", "change"];
const PAGE = 100;

function readState() {
  const given = new URLSearchParams(location.hash.slice(1));
  const state = { ...BLANK };
  for (const key of Object.keys(BLANK)) if (given.has(key)) state[key] = given.get(key);
  return state;
}

function fragment(state) {
  const kept = Object.entries(state).filter(([key, value]) => key in BLANK && value);
  return "#" + new URLSearchParams(kept).toString();
}

let waiting = null;
let timer = 0;

// The address that is still to be written, if any.
function flush() {
  clearTimeout(timer);
  if (waiting !== null && waiting !== (location.hash || "#")) history.replaceState(null, "", waiting);
  waiting = null;
}

// A rollout that is opened is a place to come back from; a filter is not. Browsers refuse to
// have the address changed at every key press.
function writeState(state, visit) {
  if (visit) {
    flush();
    if (fragment(state) !== (location.hash || "#")) history.pushState(null, "", fragment(state));
  } else {
    clearTimeout(timer);
    waiting = fragment(state);
    timer = setTimeout(flush, 200);
  }
}

// Back, Forward, or an address typed in: it is what holds.
function rereadState() {
  clearTimeout(timer);
  waiting = null;
  return readState();
}

const ISSUES = {
  failed: ["a call failed", (row) => row.failed > 0],
  limit: ["hit a limit", (row) => row.hit.length > 0],
  unanswered: ["no answer", (row) => row.answer === null],
  untooled: ["no tool call", (row) => row.calls === 0],
  images: ["with images", (row) => row.images > 0],
};

function issue(name) {
  if (name in ISSUES) return ISSUES[name][1];
  if (name.startsWith("kind-")) return (row) => row.kinds.includes(name.slice(5));
  if (name.startsWith("hit-")) return (row) => row.hit.includes(name.slice(4));
  return () => false;
}

const CHANGES = {
  better: ["B better", (entry) => entry.change > 0],
  worse: ["B worse", (entry) => entry.change !== null && entry.change < 0],
  same: ["same score", (entry) => entry.change === 0],
  answers: ["other answers", (entry) => entry.rows[0] && entry.rows[1] && entry.rows[0].answer !== entry.rows[1].answer],
  alone: ["in one run only", (entry) => !entry.rows[0] || !entry.rows[1]],
};

function terms(query) {
  return (query.toLowerCase().match(/"[^"]+"|\S+/g) || []).map((term) => term.replace(/^"(.+)"$/, "$1"));
}

// The entries that pass every filter, in order. A comparison passes if either side does.
function select(entries, state, deepWords) {
  const wanted = terms(state.q);
  const some = (entry, test) => entry.rows.some((row) => row && test(row));
  const passes = (entry) => {
    if (wanted.length) {
      const words = (deepWords && deepWords.get(entry)) || entry.words;
      if (!wanted.every((term) => words.includes(term))) return false;
    }
    for (const key of ["template", "type", "stop", "outcome"]) {
      if (state[key] && !some(entry, (row) => row[key] === state[key])) return false;
    }
    if (state.tool && !some(entry, (row) => row.tools.includes(state.tool))) return false;
    if (state.issue && !some(entry, issue(state.issue))) return false;
    return !state.change || !CHANGES[state.change] || CHANGES[state.change][1](entry);
  };
  return sorted(entries.filter(passes), state.sort);
}

const SORTS = {
  task: ["question", (entry) => entry.row.question],
  template: ["template", (entry) => entry.row.template],
  score: ["score", (entry) => entry.row.score],
  scoreb: ["score of B", (entry) => entry.rows[1] && entry.rows[1].score],
  change: ["change", (entry) => entry.change],
  stop: ["stop reason", (entry) => entry.row.stop],
  turns: ["turns", (entry) => entry.row.turns],
  calls: ["calls", (entry) => entry.row.calls],
  failed: ["failed calls", (entry) => entry.row.failed],
  tokens: ["tokens", (entry) => entry.row.tokens],
  seconds: ["time", (entry) => entry.row.seconds],
};

// By one value, those without it last; equal ones stay in the order of the run.
function sorted(entries, sort) {
  const down = sort.startsWith("-");
  const found = SORTS[down ? sort.slice(1) : sort];
  if (!found) return entries;
  const keyed = entries.map((entry) => [found[1](entry), entry]);
  const order = (x, y) => (typeof x === "string" ? x.localeCompare(y) : x - y);
  keyed.sort(([x, a], [y, b]) => {
    const [noX, noY] = [x === null || x === undefined, y === null || y === undefined];
    if (noX || noY) return noX - noY || a.place - b.place;
    return (down ? order(y, x) : order(x, y)) || a.place - b.place;
  });
  return keyed.map(([, entry]) => entry);
}
