
"use strict";
// Everything shown is untrusted text: it is set as textContent only.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const WORDS = { S: "supported", R: "refuted", N: "neutral" };
const TITLES = { rubric: "Rubric", f1: "Discussion F1", precision: "Precision", recall: "Recall", neutral_rate: "Neutral rate" };
let pinned = -1;

function make(tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}

function fill(select, labels) {
  const kept = Math.min(Math.max(select.selectedIndex, 0), labels.length - 1);
  select.replaceChildren(...labels.map((label) => make("option", label)));
  select.selectedIndex = kept;
}

function side() {
  return document.querySelector("input[name=side]:checked").value;
}

function judgement() {
  let index = $("pass").selectedIndex;
  for (let i = 0; i < $("judge").selectedIndex; i++) index += data.judges[i][1];
  return data.events[$("event").selectedIndex].said[index];
}

// A text with marks: where marks overlap, the strongest label shades, and every tag is shown.
function paint(place, text, claims, spansOf, role) {
  const letters = Array.from(text);
  const cuts = new Set([0, letters.length]);
  const marks = [];
  claims.forEach((claim, i) => spansOf(claim).forEach(([start, end]) => {
    marks.push({ start, end, i });
    cuts.add(start).add(end);
  }));
  const edges = [...cuts].sort((a, b) => a - b);
  const nodes = [];
  for (let k = 0; k + 1 < edges.length; k++) {
    const [start, end] = [edges[k], edges[k + 1]];
    const piece = letters.slice(start, end).join("");
    const over = marks.filter((mark) => mark.start <= start && mark.end >= end);
    if (over.length) {
      const kind = ["R", "S", "N"].find((letter) => over.some((m) => claims[m.i].label[0] === letter));
      const element = make("mark", piece, kind);
      element.dataset.claims = [...new Set(over.map((m) => m.i))].join(" ");
      nodes.push(element);
    } else {
      nodes.push(document.createTextNode(piece));
    }
    const ended = [...new Set(over.filter((m) => m.end === end).map((m) => m.i))];
    ended.forEach((i) => nodes.push(tag(claims[i], i, role)));
  }
  place.replaceChildren(...nodes);
}

function tag(claim, i, role) {
  const button = make("button", claim.tag, "tag " + claim.label[0]);
  button.type = "button";
  button.dataset.claims = String(i);
  button.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-label", claim.tag + ", " + WORDS[claim.label[0]] + " " + role + ": " + claim.text);
  button.title = claim.text;
  return button;
}

function show() {
  pinned = -1;
  const event = data.events[$("event").selectedIndex];
  fill($("pass"), Array.from({ length: data.judges[$("judge").selectedIndex][1] }, (_, i) => String(i + 1)));
  const said = judgement();
  const which = side();
  const claims = (said && said.claims[which]) || [];
  $("context").textContent = event.context;
  paint($("report"), event.report, claims, (c) => (which === "report" ? c.at : c.there), which === "report" ? "claim" : "evidence");
  paint($("reference"), event.reference, claims, (c) => (which === "report" ? c.there : c.at), which === "report" ? "evidence" : "claim");
  notice(said);
  scores(said);
  legend(claims);
  list(claims);
  rubric(said);
  const state = ["event", "judge", "pass"].map((id) => id + "=" + $(id).selectedIndex);
  history.replaceState(null, "", "#" + state.join("&") + "&side=" + which);
}

function notice(said) {
  const lines = [];
  if (!said) lines.push("This judgement is missing.");
  else {
    Object.entries(said.missing).forEach(([part, reason]) => lines.push("The " + part + " could not be had: " + reason));
    if (said.empty) lines.push("No report was written: it scores 0.");
    Object.entries(said.notes).forEach(([name, count]) => {
      if (/duplicates|over_cap|guard/.test(name)) lines.push(name.replaceAll("_", " ") + ": " + count);
    });
  }
  $("notice").textContent = lines.join("\n");
}

function scores(said) {
  const means = data.means[data.judges[$("judge").selectedIndex][0]] || {};
  $("scores").replaceChildren(...data.names.filter((name) => name in means).map((name) => {
    const value = said ? said.scores[name] : null;
    const box = make("div");
    const number = make("dd", typeof value === "number" ? value.toFixed(3) : "–");
    const mean = means[name];
    number.append(make("small", "run " + (typeof mean === "number" ? mean.toFixed(3) : "–")));
    box.append(make("dt", TITLES[name] || name), number);
    return box;
  }));
}

function legend(claims) {
  const parts = Object.entries(WORDS).map(([letter, word]) => {
    const item = make("span");
    const count = claims.filter((claim) => claim.label[0] === letter).length;
    item.append(make("span", letter, "tag " + letter), " " + word + ": " + count);
    return item;
  });
  $("legend").replaceChildren(...parts);
}

function list(claims) {
  const rows = claims.map((claim, i) => {
    const row = make("tr");
    row.dataset.row = String(i);
    const first = make("td");
    first.append(tag(claim, i, "claim"));
    const words = make("td", claim.text);
    if (!claim.at.length) words.append(" ", make("span", "(its words are not in the text)", "absent"));
    const evidence = make("td", claim.evidence);
    if (claim.evidence && !claim.there.length) evidence.append(" ", make("span", "(not in the text)", "absent"));
    row.append(first, words, evidence, make("td", claim.why));
    return row;
  });
  $("claims").tBodies[0].replaceChildren(...rows);
}

function rubric(said) {
  const rows = ((said && said.criteria) || []).map(([name, score, why]) => {
    const row = make("tr");
    row.append(make("td", name), make("td", String(score ?? "–")), make("td", why));
    return row;
  });
  $("rubric").tBodies[0].replaceChildren(...rows);
  $("rubric").hidden = $("rubric-head").hidden = !rows.length;
}

function light(claims) {
  document.querySelectorAll("[data-claims]").forEach((element) => {
    const on = element.dataset.claims.split(" ").some((i) => claims.includes(i));
    element.classList.toggle("lit", on);
    if (element.tagName === "BUTTON") element.setAttribute("aria-pressed", String(on && Number(element.dataset.claims) === pinned));
  });
  document.querySelectorAll("[data-row]").forEach((row) => row.classList.toggle("lit", claims.includes(row.dataset.row)));
}

function rest() {
  light(pinned < 0 ? [] : [String(pinned)]);
}

document.addEventListener("mouseover", (event) => {
  const element = event.target.closest("[data-claims]");
  if (element) light(element.dataset.claims.split(" "));
  else rest();
});
document.addEventListener("focusin", (event) => {
  const element = event.target.closest("button[data-claims]");
  if (element) light([element.dataset.claims]);
});
document.addEventListener("focusout", rest);
document.addEventListener("click", (event) => {
  const element = event.target.closest("[data-claims]");
  if (!element) return;
  const claim = Number(element.dataset.claims.split(" ")[0]);
  pinned = pinned === claim ? -1 : claim;
  rest();
  if (pinned < 0) return;
  for (const place of [$("report"), $("reference")]) {
    const found = [...place.querySelectorAll("mark")].find((mark) => mark.dataset.claims.split(" ").includes(String(claim)));
    if (found && !place.contains(element)) found.scrollIntoView({ block: "nearest" });
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    pinned = -1;
    rest();
  } else if (event.target.tagName !== "SELECT" && (event.key === "]" || event.key === "[")) {
    step(event.key === "]" ? 1 : -1);
  }
});

function step(by) {
  const select = $("event");
  select.selectedIndex = Math.min(Math.max(select.selectedIndex + by, 0), data.events.length - 1);
  show();
}

$("previous").addEventListener("click", () => step(-1));
$("next").addEventListener("click", () => step(1));
["event", "judge", "pass"].forEach((id) => $(id).addEventListener("change", show));
document.querySelectorAll("input[name=side]").forEach((input) => input.addEventListener("change", show));

fill($("event"), data.events.map((event) => event.id));
fill($("judge"), data.judges.map(([name]) => name));
const wanted = new URLSearchParams(location.hash.slice(1));
if (wanted.get("side") === "reference") document.querySelector("input[value=reference]").checked = true;
for (const id of ["event", "judge"]) {
  const index = Number(wanted.get(id) || 0);
  if (index >= 0 && index < $(id).options.length) $(id).selectedIndex = index;
}
fill($("pass"), Array.from({ length: data.judges[$("judge").selectedIndex][1] }, (_, i) => String(i + 1)));
const pass = Number(wanted.get("pass") || 0);
if (pass >= 0 && pass < $("pass").options.length) $("pass").selectedIndex = pass;
show();
