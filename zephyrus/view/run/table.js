// The filters and the table of rollouts.
function counted(entries, pick) {
  const counts = new Map();
  for (const entry of entries) {
    const values = new Set(entry.rows.filter(Boolean).flatMap(pick));
    for (const value of values) if (value) counts.set(value, (counts.get(value) || 0) + 1);
  }
  return [...counts].sort(([x], [y]) => x.localeCompare(y)).map(([value, count]) => [value, value.replaceAll("_", " "), count]);
}

function choices(entries, two) {
  const count = (test) => entries.filter((entry) => entry.rows.some((row) => row && test(row))).length;
  const named = (prefix, found, say) => found.map(([value, words, n]) => [prefix + value, say(words), n]);
  return {
    template: counted(entries, (row) => [row.template]),
    type: counted(entries, (row) => [row.type]),
    stop: counted(entries, (row) => [row.stop]),
    outcome: Object.keys(OUTCOMES).map((name) => [name, OUTCOMES[name], count((row) => row.outcome === name)]).filter(([, , n]) => n),
    tool: counted(entries, (row) => row.tools),
    issue: [
      ...Object.entries(ISSUES).map(([name, [words, test]]) => [name, words, count(test)]).filter(([, , n]) => n),
      ...named("kind-", counted(entries, (row) => row.kinds), (words) => "error: " + words),
      ...named("hit-", counted(entries, (row) => row.hit), (words) => "limit: " + words),
    ],
    change: two ? Object.entries(CHANGES).map(([name, [words, test]]) => [name, words, entries.filter(test).length]) : [],
  };
}

function Filters({ index, state, set, shown, search }) {
  const two = index.runs.length === 2;
  const found = useMemo(() => choices(index.entries, two), [index]);
  const total = index.entries.length;
  const active = FILTERS.some((key) => state[key]);
  const sorts = Object.entries(SORTS).filter(([name]) => two || (name !== "change" && name !== "scoreb"));
  const [more, setMore] = useState(FILTERS.some((key) => key !== "q" && state[key]));
  return html`<div class="filters" role="search" aria-label="Rollouts">
    <div class="find">
      <input id="search" type="search" placeholder="Search…" aria-label="Search" value=${state.q} onInput=${(event) => set({ q: event.target.value, page: "" })} />
      <label class="deep"><input type="checkbox" name="deep" checked=${Boolean(state.deep)} onChange=${(event) => set({ deep: event.target.checked ? "1" : "", page: "" })} /> in traces</label>
      <button type="button" class="narrow" aria-expanded=${String(more)} onClick=${() => setMore(!more)}>Filter</button>
    </div>
    <div class=${more ? "choices" : "choices closed"}>
      ${two && html`<${Choice} label="Change" name="change" state=${state} set=${set} options=${found.change} />`}
      <${Choice} label="Outcome" name="outcome" state=${state} set=${set} options=${found.outcome} />
      <${Choice} label="Template" name="template" state=${state} set=${set} options=${found.template} />
      <${Choice} label="Answer" name="type" state=${state} set=${set} options=${found.type} />
      <${Choice} label="Stopped by" name="stop" state=${state} set=${set} options=${found.stop} />
      <${Choice} label="Tool" name="tool" state=${state} set=${set} options=${found.tool} />
      <${Choice} label="With" name="issue" state=${state} set=${set} options=${found.issue} />
      <label class="choice"><span>Order</span><select name="sort" value=${state.sort} onChange=${(event) => set({ sort: event.target.value, page: "" })}>
        <option value="">as run</option>
        ${sorts.map(([name, [words]]) => [html`<option value=${name}>${words} ↑</option>`, html`<option value=${"-" + name}>${words} ↓</option>`])}
      </select></label>
    </div>
    <p class="count"><span role="status">${search || `${shown.toLocaleString("en")}${shown === total ? "" : " of " + total.toLocaleString("en")} ${two ? "pair" : "rollout"}${total === 1 ? "" : "s"}`}</span>
      ${active && html` <button type="button" class="link" onClick=${() => set(Object.fromEntries(FILTERS.map((key) => [key, ""]).concat([["page", ""]])))}>clear filters</button>`}</p>
  </div>`;
}

const ONE = ["task", "template", "score", "answer", "stop", "turns", "calls", "tokens", "seconds"];
const TWO = ["task", "template", "score", "scoreb", "change", "calls", "tokens"];
const HEADS = { task: "Question", template: "Template", score: "Score", answer: "Answer", scoreb: "B", change: "Change", stop: "Stopped by", turns: "Turns", calls: "Calls", tokens: "Tokens", seconds: "Time" };

// Explicit roles, since as cards on a narrow screen table elements would lose theirs.
function Table({ index, state, set, open, shown }) {
  const two = index.runs.length === 2;
  const columns = (two ? TWO : ONE).filter((name) => name !== "tokens" || index.tokens);
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  const page = Math.min(Math.max(Number(state.page) || 1, 1), pages);
  const some = shown.slice((page - 1) * PAGE, page * PAGE);
  return html`<div>
    <table class="rollouts" role="table" aria-label="Rollouts">
      <thead role="rowgroup"><tr role="row">${columns.map((name) => html`<${Head} key=${name} name=${name} two=${two} state=${state} set=${set} />`)}</tr></thead>
      <tbody role="rowgroup">${some.map((entry) => html`<${Row} key=${entry.id} entry=${entry} columns=${columns} current=${entry.id === state.rollout} state=${state} open=${open} />`)}</tbody>
    </table>
    ${!shown.length && html`<p class="none">${index.entries.length ? "Nothing passes these filters." : "This run has no rollouts yet."}</p>`}
    ${pages > 1 && html`<nav class="pages" aria-label="Pages">
      <button type="button" disabled=${page === 1} onClick=${() => set({ page: String(page - 1) })}>‹ Previous</button>
      <span>${((page - 1) * PAGE + 1).toLocaleString("en")}–${Math.min(page * PAGE, shown.length).toLocaleString("en")} of ${shown.length.toLocaleString("en")}</span>
      <button type="button" disabled=${page === pages} onClick=${() => set({ page: String(page + 1) })}>Next ›</button>
    </nav>`}
  </div>`;
}

function Head({ name, two, state, set }) {
  if (!(name in SORTS)) return html`<th role="columnheader" scope="col" class=${name}>${HEADS[name]}</th>`;
  const up = state.sort === name;
  const down = state.sort === "-" + name;
  const numeric = !["task", "template", "stop", "score", "scoreb"].includes(name);
  const next = down || (up && !numeric) ? (up ? "-" + name : numeric ? name : "") : numeric && !up ? "-" + name : up ? "" : name;
  return html`<th role="columnheader" scope="col" class=${name} aria-sort=${up ? "ascending" : down ? "descending" : "none"}>
    <button type="button" onClick=${() => set({ sort: next, page: "" })}>${two && name === "score" ? "A" : HEADS[name]}<span aria-hidden="true">${up ? " ↑" : down ? " ↓" : ""}</span></button></th>`;
}

function Row({ entry, columns, current, state, open }) {
  const both = (pick) => entry.rows.map((row) => (row ? pick(row) : "–")).join(" → ");
  const cells = {
    task: html`<a data-id=${entry.id} href=${fragment({ ...state, rollout: entry.id })} aria-current=${current ? "true" : undefined}
        onClick=${(event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); event.stopPropagation(); open(entry.id); } }}>${entry.row.question || entry.name}</a>
      <small>${entry.name}</small>`,
    template: entry.row.template.replaceAll("_", " "),
    score: html`<${Score} row=${entry.rows[0]} />`,
    scoreb: html`<${Score} row=${entry.rows[1]} />`,
    change: html`<span class=${entry.change > 0 ? "up" : entry.change < 0 ? "down" : ""}>${signed(entry.change)}</span>`,
    answer: html`<span class="given">${entry.row.answer === null ? "none given" : entry.row.answer}</span>${entry.row.gold && html`<small>gold: ${entry.row.gold}</small>`}`,
    stop: html`${entry.row.stop}${entry.row.hit.filter((name) => name !== entry.row.stop).map((name) => html` <${Chip} kind="warn">${name}<//>`)}`,
    turns: both((row) => row.turns),
    calls: html`${both((row) => row.calls)}${entry.rows.length === 1 && entry.row.failed > 0 && html` <span class="down">(${entry.row.failed} failed)</span>`}`,
    tokens: both((row) => row.tokens.toLocaleString("en")),
    seconds: duration(entry.row.seconds),
  };
  return html`<tr role="row" class=${current ? "current" : ""} onClick=${() => { if (!String(getSelection())) open(entry.id); }}>
    ${columns.map((name) => html`<td key=${name} role="cell" class=${name === "score" && entry.rows.length === 2 ? "score paired" : name === "stop" && entry.row.stop === "answered" && !entry.row.hit.length ? "stop quiet" : name} data-head=${name === "score" ? "A" : HEADS[name]}>${cells[name]}</td>`)}</tr>`;
}
