// The conversation of one rollout.
function argumentsOf(text) {
  try {
    const value = JSON.parse(text);
    if (value && typeof value === "object" && !Array.isArray(value)) return Object.entries(value);
  } catch { /* as the model wrote it */ }
  return null;
}

function Call({ call }) {
  const given = argumentsOf(call.arguments);
  return html`<div class=${call.error ? "call failed" : "call"}>
    <div class="asked"><code class="tool">${call.name}</code>
      ${call.error && html` <${Chip} kind="bad">${call.error.replaceAll("_", " ")}<//>`}
      <small class="took">${duration(call.seconds)}</small>
      ${given
        ? html`<dl class="arguments">${given.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${typeof value === "string" ? value : JSON.stringify(value)}</dd></div>`)}</dl>`
        : html`<${Long} name="raw" text=${call.arguments || "(no arguments)"} />`}</div>
    ${call.observed === null
      ? html`<p class="nothing">No observation.</p>`
      : html`<${Long} name="observation" text=${call.observed || "(empty)"} />`}
  </div>`;
}

function Picture({ image, room }) {
  const [source, setSource] = useState(null);
  useEffect(() => {
    let here = true;
    if (image.at !== null) stored("image-" + image.at).then((text) => here && setSource("data:image/png;base64," + text));
    return () => { here = false; };
  }, [image]);
  if (image.at === null) return html`<p class="nothing">An image that is not in this page, to keep it small: ${image.alt || "without a description"}</p>`;
  return html`<figure>${source && html`<img src=${source} alt=${image.alt || "An image without a description"} />`}
    <figcaption aria-hidden="true">${image.alt}</figcaption></figure>`;
}

const ANSWER = /<(answer|report)>[\s\S]*<\/\1>/;

function Turn({ step, base }) {
  const failed = step.calls.filter((call) => call.error).length;
  const said = step.text.trim();
  return html`<div class="step assistant" id=${base + "turn-" + step.turn} role="group" aria-label=${"Turn " + step.turn} tabindex="-1" data-turn=${step.turn} data-failed=${failed ? "" : undefined}>
    <h3>Turn ${step.turn}<small>${step.calls.length ? plural(step.calls.length, "call") : ""}${failed ? `, ${failed} failed` : ""}</small></h3>
    ${step.reasoning.trim() && html`<div class="reasoning"><h4>Reasoning</h4><${Long} text=${step.reasoning.trim()} /></div>`}
    ${said && html`<${Long} name=${ANSWER.test(said) ? "said answer" : "said"} text=${said} lines=${60} />`}
    ${step.calls.map((call, i) => html`<${Call} key=${i} call=${call} />`)}
    ${!said && !step.calls.length && html`<p class="nothing">An empty message.</p>`}
  </div>`;
}

function Said({ step }) {
  return html`${step.text && html`<${Long} text=${step.text} lines=${40} />`}
    ${step.images.map((image, i) => html`<${Picture} key=${i} image=${image} />`)}`;
}

function Step({ step, index, base }) {
  if (step.role === "assistant") return html`<${Turn} step=${step} base=${base} />`;
  if (step.role === "system") {
    return html`<details class="step system"><summary>System prompt</summary><div class="text">${index.texts[step.shared]}</div></details>`;
  }
  return html`<div class=${"step " + step.role}><h3>${step.role === "user" ? "Observation" : "Tool"}</h3><${Said} step=${step} /></div>`;
}

const asked = (trace) => trace.steps.find((step) => step.role === "user");

function Trace({ trace, index, base }) {
  const task = asked(trace);
  return html`<div class="trace">${trace.steps.map((step, i) => step !== task && html`<${Step} key=${i} step=${step} index=${index} base=${base} />`)}</div>`;
}
