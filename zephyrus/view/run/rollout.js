// One rollout, or the same task's rollouts of two runs.
function useTrace(index, row) {
  const [found, setFound] = useState({});
  useEffect(() => {
    let here = true;
    traceOf(index, row).then((trace) => here && setFound({ row, trace }), (error) => here && setFound({ row, error }));
    return () => { here = false; };
  }, [row]);
  return found.row === row ? found : {};
}

function Fact({ name, children, bad }) {
  return html`<div class=${bad ? "bad" : ""}><dt>${name}</dt><dd>${children}</dd></div>`;
}

const of = (used, limit) => used.toLocaleString("en") + (typeof limit === "number" ? ` of ${limit.toLocaleString("en")}` : "");

function Facts({ row, trace, run }) {
  const { limits } = run;
  const rewards = Object.entries(row.rewards || {});
  return html`<div class="facts">
    <dl class="rewards" aria-label="Rewards">${rewards.length
      ? rewards.map(([name, value]) => html`<div key=${name} class=${name === "reward" ? "total" : ""}><dt>${name.replaceAll("_", " ")}</dt><dd>${number(value)}</dd></div>`)
      : html`<div><dt>reward</dt><dd>${OUTCOMES[row.outcome]}</dd></div>`}</dl>
    <dl class="counts" aria-label="Counts">
      <${Fact} name="stopped by" bad=${row.stop !== "answered"}>${row.stop}<//>
      ${row.hit.length > 0 && html`<${Fact} name="limits hit" bad=${true}>${row.hit.join(", ")}<//>`}
      <${Fact} name="turns">${of(row.turns, limits.turns)}<//>
      <${Fact} name="tool calls">${of(row.calls, limits.calls)}<//>
      ${row.failed > 0 && html`<${Fact} name="failed" bad=${true}>${row.failed} <small>${row.kinds.join(", ").replaceAll("_", " ")}</small><//>`}
      ${trace.recovered > 0 && html`<${Fact} name="calls read from text">${trace.recovered}<//>`}
      <${Fact} name="tokens">${typeof limits.tokens === "number" ? html`${of(row.tokens, limits.tokens)} ` : ""}${row.prompt.toLocaleString("en")} prompt, ${row.completion.toLocaleString("en")} completion<//>
      <${Fact} name="time">${duration(row.seconds)} <small>policy ${duration(trace.policy_seconds)}</small><//>
      ${trace.required.length > 0 && html`<${Fact} name="required tool">${trace.required.join(", ")}<//>`}
      <${Fact} name="seed, repeat">${row.seed}, ${row.repeat}<//>
    </dl>
  </div>`;
}

// Whether an answer or a gold answer is a whole text (a report, a reference).
const SHORT = 200;

function Answers({ row, trace }) {
  const given = trace.answer === null ? "none given" : trace.answer;
  const cells = [["Answer", given, row.outcome], ["Gold", trace.gold || "–", ""]];
  const long = cells.some(([, text]) => text.length > SHORT);
  return html`<div class=${long ? "answers long" : "answers"}>${cells.map(([name, text, kind]) => html`<section key=${name}>
    <h3>${long && name === "Gold" ? "Reference" : name}${name === "Answer" && html` <${Score} row=${row} />`}</h3>
    <${Long} name=${name === "Answer" ? "given " + kind : "gold"} text=${text} lines=${12} letters=${700} /></section>`)}</div>`;
}

function Body({ index, row, base }) {
  const { trace, error } = useTrace(index, row);
  if (error) return html`<p class="notice" role="alert">This rollout can't be unpacked: ${String(error)}</p>`;
  if (!trace) return html`<p class="wait" role="status">Unpacking…</p>`;
  return html`<div class="body">
    ${trace.error && html`<div class="notice"><strong>The world or the endpoint broke; this rollout is not scored.</strong><${Long} text=${trace.error} lines=${12} /></div>`}
    ${trace.unscored && html`<div class="notice"><strong>Not scored:</strong> ${trace.unscored}</div>`}
    <${Answers} row=${row} trace=${trace} />
    <${Facts} row=${row} trace=${trace} run=${index.runs[row.run]} />
    <${Trace} trace=${trace} index=${index} base=${base} />
  </div>`;
}

// What was asked; in a comparison it is the same in both.
function Question({ index, row }) {
  const { trace } = useTrace(index, row);
  const step = trace && asked(trace);
  return html`<div class="step user"><h3>Task</h3>${step ? html`<${Said} step=${step} />` : html`<div class="text">${row.lead} ${row.question}</div>`}</div>`;
}

function Rollout({ index, entry, state, set, close, step, place, total }) {
  const head = useRef(null);
  const pane = useRef(null);
  useLayoutEffect(() => {
    pane.current.scrollTop = 0;
    if (getComputedStyle(pane.current).overflowY === "visible") scrollTo(0, 0);
    head.current.focus({ preventScroll: true });
  }, [entry.id]);
  const two = index.runs.length === 2;
  return html`<section class="rollout" aria-label="Rollout" ref=${pane}>
    <div class="bar-of-it">
      <button type="button" onClick=${close}>‹ All</button>
      <button type="button" disabled=${place <= 0} aria-label="Previous rollout" onClick=${() => step(-1)}>↑</button>
      <button type="button" disabled=${place < 0 || place + 1 >= total} aria-label="Next rollout" onClick=${() => step(1)}>↓</button>
      <span class="place">${place < 0 ? "not among the filtered" : `${(place + 1).toLocaleString("en")} of ${total.toLocaleString("en")}`}</span>
      ${two && html`<span class="sides" role="group" aria-label="Runs">${[["", "Both"], ["a", "A"], ["b", "B"]].map(([side, words]) => html`<button
        type="button" key=${side} aria-pressed=${String(state.side === side)} onClick=${() => set({ side })}>${words}</button>`)}</span>`}
    </div>
    <h2 ref=${head} tabindex="-1">${entry.name}</h2>
    <p class="chips">${entry.row.template && html`<${Chip}>${entry.row.template.replaceAll("_", " ")}<//>`} ${entry.row.type && html`<${Chip}>${entry.row.type}<//>`}
      ${two && entry.change !== null && html` <${Chip} kind=${entry.change > 0 ? "good" : entry.change < 0 ? "bad" : ""}>change ${signed(entry.change)}<//>`}</p>
    <${Question} key=${entry.id} index=${index} row=${entry.row} />
    ${two
      ? html`<div class=${"both side-" + (state.side || "both")}>${entry.rows.map((row, i) => (!state.side || state.side === "ab"[i]) && html`<div key=${i} class="one">
          <h3 class="whose"><span class="letter">${LETTER[i]}</span> ${index.runs[i].name} <small>${index.runs[i].policy}</small></h3>
          ${row ? html`<${Body} key=${row.at} index=${index} row=${row} base=${"ab"[i] + "-"} />` : html`<p class="nothing">This run has no such rollout.</p>`}</div>`)}</div>`
      : html`<${Body} key=${entry.id} index=${index} row=${entry.row} base="" />`}
  </section>`;
}
