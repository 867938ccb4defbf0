// The head of the page: what the runs came to, and how they were made.
const LETTER = ["A", "B"];

function Overview({ index, set }) {
  const two = index.runs.length === 2;
  const [open, setOpen] = useState(false);
  return html`<section class="overview" aria-label="Summary">
    <div class=${two ? "cards two" : "cards"}>
      ${index.runs.map((run, i) => html`<${Cards} key=${i} run=${run} letter=${two ? LETTER[i] : ""} />`)}
      ${two && html`<${Difference} difference=${index.difference} index=${index} />`}
    </div>
    <button type="button" class="fold" aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>${open ? "▾" : "▸"} By template; settings</button>
    ${open && html`<div class="more-of-it"><${Templates} runs=${index.runs} set=${set} />
      ${two && html`<${Differing} runs=${index.runs} />`}
      ${index.runs.map((run, i) => html`<${Settings} key=${i} run=${run} letter=${two ? LETTER[i] : ""} />`)}</div>`}
  </section>`;
}

function Card({ name, value, small }) {
  return html`<div><dt>${name}</dt><dd>${value}${small && html`<small>${small}</small>`}</dd></div>`;
}

function interval(range) {
  return Array.isArray(range) ? `95 %: ${number(range[0])}–${number(range[1])}` : "";
}

function Cards({ run, letter }) {
  const { summary } = run;
  const rewards = Object.entries(summary.rewards).filter(([name]) => name !== "score");
  const first = rewards.filter(([name]) => name === "reward");
  const unfinished = run.wanted > run.rollouts ? `of ${run.wanted.toLocaleString("en")} wanted` : "";
  return html`<div class="run">
    ${letter && html`<h2><span class="letter">${letter}</span> ${run.name}${run.policy && html` <small>${run.policy}</small>`}</h2>`}
    <dl>
      ${summary.accuracy !== null && html`<${Card} name="accuracy" value=${number(summary.accuracy)} small=${interval(summary.accuracy_ci95)} />`}
      ${[...first, ...(summary.accuracy === null ? rewards.filter(([name]) => name !== "reward") : [])].slice(0, 4).map(([name, value]) => html`<${Card}
        key=${name} name=${name === "reward" ? "mean reward" : name} value=${number(value)} />`)}
      <${Card} name="rollouts" value=${run.rollouts.toLocaleString("en")} small=${unfinished} />
      <${Card} name="failed calls" value=${percent(summary.failure_rate)} />
      <${Card} name="calls per turn" value=${number(summary.tools_per_turn, 2)} />
    </dl>
  </div>`;
}

function Difference({ difference, index }) {
  const changes = index.entries.map((entry) => entry.change).filter((change) => change !== null);
  const count = (test) => changes.filter(test).length.toLocaleString("en");
  return html`<div class="run">
    <h2>B against A</h2>
    <dl>
      <${Card} name="change" value=${difference ? signed(difference.mean) : "–"}
        small=${difference && difference.ci95 ? `95 %: ${signed(difference.ci95[0])} to ${signed(difference.ci95[1])}` : ""} />
      <${Card} name="better" value=${count((x) => x > 0)} />
      <${Card} name="same" value=${count((x) => x === 0)} />
      <${Card} name="worse" value=${count((x) => x < 0)} />
    </dl>
  </div>`;
}

function Templates({ runs, set }) {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.summary.templates)))].sort();
  if (!names.length) return null;
  return html`<table class="templates"><caption>Accuracy by template</caption>
    <thead><tr><th scope="col">Template</th>${runs.map((run, i) => html`<th scope="col" key=${i} colspan="2">${runs.length === 2 ? LETTER[i] : "Accuracy, 95 %"}</th>`)}</tr></thead>
    <tbody>${names.map((name) => html`<tr key=${name}>
      <th scope="row"><button type="button" class="link" onClick=${() => set({ template: name, page: "" })}>${name}</button></th>
      ${runs.map((run, i) => {
        const group = run.summary.templates[name];
        if (!group) return html`<td key=${i} colspan="2">–</td>`;
        return [
          html`<td class="number">${number(group.accuracy)} <small>of ${group.n}</small></td>`,
          html`<td><${Bar} value=${group.accuracy} range=${group.accuracy_ci95} /></td>`,
        ];
      })}
    </tr>`)}</tbody>
  </table>`;
}

function lines(value, indent = "") {
  return Object.entries(value).flatMap(([key, item]) =>
    item && typeof item === "object" && !Array.isArray(item)
      ? [indent + key + ":", ...lines(item, indent + "  ")]
      : [indent + key + ": " + (Array.isArray(item) ? item.join(", ") : String(item))]);
}

function flat(value, prefix = "") {
  return Object.entries(value).flatMap(([key, item]) =>
    item && typeof item === "object" && !Array.isArray(item) ? flat(item, prefix + key + ".") : [[prefix + key, String(item)]]);
}

// What two runs were made with that is not the same.
function Differing({ runs }) {
  const [ours, theirs] = runs.map((run) => new Map(flat(run.config)));
  const names = [...new Set([...ours.keys(), ...theirs.keys()])].filter((name) => ours.get(name) !== theirs.get(name));
  return html`<table class="templates"><caption>Settings that differ</caption>
    <thead><tr><th scope="col">Setting</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
    <tbody>${names.map((name) => html`<tr key=${name}><th scope="row">${name}</th><td>${ours.get(name) ?? "–"}</td><td>${theirs.get(name) ?? "–"}</td></tr>`)}
    ${!names.length && html`<tr><td colspan="3">none</td></tr>`}</tbody></table>`;
}

function Settings({ run, letter }) {
  return html`<section class="settings"><h2>${letter ? `Settings of ${letter}` : "Settings"}</h2><pre>${lines(run.config).join("\n")}</pre></section>`;
}
