function App({ index }) {
  const [state, setState] = useState(readState);
  const [deepWords, setDeepWords] = useState(null);
  const [progress, setProgress] = useState(null);
  const dialog = useRef(null);
  const left = useRef("");

  useEffect(() => {
    const read = () => setState(rereadState());
    addEventListener("popstate", read);
    addEventListener("hashchange", read);
    return () => { removeEventListener("popstate", read); removeEventListener("hashchange", read); };
  }, []);

  const change = (changes, visit) => setState((before) => {
    const after = { ...before, ...changes };
    writeState(after, visit);
    return after;
  });
  const set = (changes) => change(changes, false);
  const open = (rollout) => change({ rollout }, true);
  const close = () => { left.current = state.rollout; change({ rollout: "" }, true); };

  useEffect(() => {
    if (!state.deep || deepWords || progress !== null) return;
    setProgress(0);
    traceWords(index, index.entries, setProgress).then((words) => { setDeepWords(words); setProgress(null); });
  }, [state.deep]);

  const shown = useMemo(
    () => select(index.entries, state, state.deep ? deepWords : null),
    [deepWords, state.deep, state.sort, ...FILTERS.map((key) => state[key])],
  );
  const entry = index.byId.get(state.rollout);
  const place = entry ? shown.indexOf(entry) : -1;
  const step = (by) => {
    const next = shown[place + by];
    if (next && place >= 0) change({ rollout: next.id, page: pageOf(place + by) }, false);
    else if (place < 0 && shown.length) change({ rollout: shown[0].id, page: "" }, false);
  };
  const help = () => {
    dialog.current.showModal();
    dialog.current.querySelector("button").focus();
  };
  useKeys({ state, step, close, help });

  useLayoutEffect(() => {
    if (entry) {
      const row = document.querySelector(".rollouts tr.current");
      if (row) row.scrollIntoView({ block: "nearest" });
    } else if (left.current) {
      const before = index.byId.get(left.current);
      left.current = "";
      const link = before && document.querySelector(`.rollouts a[data-id="${CSS.escape(before.id)}"]`);
      if (link) link.focus();
    }
  }, [state.rollout]);

  const search = progress === null ? "" : `Unpacking traces: ${Math.round(100 * progress)} %`;
  const lost = state.rollout && !entry;
  return html`<div class=${entry ? "page split" : "page"}>
    <header><h1>${document.title}</h1><button type="button" class="help" aria-label="Keys" onClick=${help}>?</button></header>
    <main>
      <div class="list">
        <${Overview} index=${index} set=${set} />
        ${lost && html`<p class="notice" role="alert">This page has no rollout ${state.rollout}.</p>`}
        <${Filters} index=${index} state=${state} set=${set} shown=${shown.length} search=${search} />
        <${Table} index=${index} state=${state} set=${set} open=${open} shown=${shown} />
      </div>
      ${entry && html`<${Rollout} index=${index} entry=${entry} state=${state} set=${set} close=${close} step=${step} place=${place} total=${shown.length} />`}
    </main>
    <${Help} dialog=${dialog} state=${state} set=${set} />
  </div>`;
}

const pageOf = (place) => (place < PAGE ? "" : String(Math.floor(place / PAGE) + 1));

async function start() {
  const app = document.getElementById("app");
  try {
    const index = await unpack("index");
    index.entries = entriesOf(index);
    index.tokens = index.entries.some((entry) => entry.rows.some((row) => row && row.tokens));
    index.byId = new Map(index.entries.map((entry) => [entry.id, entry]));
    app.replaceChildren();
    render(html`<${App} index=${index} />`, app);
  } catch (error) {
    app.textContent = `This page can't be shown: ${error}. It needs a browser of 2023 or later.`;
  }
}

start();
