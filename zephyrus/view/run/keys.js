// Keys. Single letters can be switched off, since dictation software types them.
const KEYS = [
  ["j", "next rollout (in the table: next row)"],
  ["k", "previous rollout"],
  ["Enter", "open the row"],
  ["Esc", "back to the table"],
  ["n", "next turn"],
  ["p", "previous turn"],
  ["e", "next turn with a failed call"],
  ["/", "search"],
  ["?", "this list"],
];

function typing(element) {
  return element.matches("input:not([type=checkbox]), select, textarea, [contenteditable]");
}

// Move the focus to the next turn that `test` likes; true if there is one.
function toTurn(by, test) {
  const turns = [...document.querySelectorAll("[data-turn]")].filter(test);
  const here = document.activeElement.closest("[data-turn]");
  const after = (turn) => Boolean(here && here.compareDocumentPosition(turn) & Node.DOCUMENT_POSITION_FOLLOWING);
  const next = by > 0 ? turns.find((turn) => !here || after(turn)) : turns.filter((turn) => here && turn !== here && !after(turn)).pop();
  if (!next) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
}

function toRow(by) {
  const links = [...document.querySelectorAll(".rollouts tbody a")];
  const here = links.indexOf(document.activeElement);
  const next = links[here < 0 ? (by > 0 ? 0 : -1) : here + by];
  if (next) next.focus();
}

function useKeys({ state, step, close, help }) {
  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (event.key === "Escape") {
        if (typing(event.target)) event.target.blur();
        else if (state.rollout) close();
        return;
      }
      if (typing(event.target) || state.keys === "off") return;
      const move = { j: 1, k: -1, "]": 1, "[": -1 }[event.key];
      if (move) state.rollout ? step(move) : toRow(move);
      else if (event.key === "n") toTurn(1, () => true);
      else if (event.key === "p") toTurn(-1, () => true);
      else if (event.key === "e") toTurn(1, (turn) => "failed" in turn.dataset);
      else if (event.key === "/") document.getElementById("search").focus();
      else if (event.key === "?") help();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}

function Help({ dialog, state, set }) {
  return html`<dialog ref=${dialog} aria-labelledby="help-head">
    <h2 id="help-head">Keys</h2>
    <dl class="keys">${KEYS.map(([key, words]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${words}</dd></div>`)}</dl>
    <p><label><input type="checkbox" name="keys" checked=${state.keys !== "off"} onChange=${(event) => set({ keys: event.target.checked ? "" : "off" })} /> single-letter keys</label></p>
    <p class="hint">The address holds the rollout and the filters: copy it to share what you see.</p>
    <form method="dialog"><button type="button" onClick=${() => dialog.current.close()}>Close</button></form>
  </dialog>`;
}
