"use strict";
// Everything shown is untrusted text: Preact sets it as text, and Trusted Types forbid all else.
const { h, render } = preact;
const { useEffect, useLayoutEffect, useMemo, useRef, useState } = preactHooks;
const html = htm.bind(h);

const whole = document.readyState === "loading"
  ? new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }))
  : Promise.resolve();

// The text of a data element; the file may still be on its way behind the script.
async function stored(id) {
  if (!document.getElementById(id)) await whole;
  return document.getElementById(id).textContent;
}

// What Python's `packed` made: gzip in Base64.
async function unpack(id) {
  const binary = atob(await stored(id));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const pieces = new Map();

function piece(index, run, number) {
  const id = "piece-" + run + "-" + number;
  if (!pieces.has(id)) pieces.set(id, unpack(id));
  return pieces.get(id);
}

async function traceOf(index, row) {
  const some = await piece(index, row.run, Math.floor(row.at / index.piece));
  return some[row.at % index.piece];
}

const OUTCOMES = { full: "full score", partial: "partial score", zero: "no score", unscored: "not scored", broken: "broke" };

function outcome(row) {
  if (row.stop === "infrastructure") return "broken";
  if (row.score === null) return "unscored";
  return row.score >= 1 ? "full" : row.score > 0 ? "partial" : "zero";
}

// What the table lists: a rollout, or the same task's rollouts of two runs.
function entriesOf(index) {
  index.rows.forEach((rows, run) => rows.forEach((row, at) => {
    Object.assign(row, { run, at, outcome: outcome(row), tokens: row.prompt + row.completion });
  }));
  const count = new Map();
  const both = index.pairs
    ? index.pairs.map(([i, j]) => [i === null ? null : index.rows[0][i], j === null ? null : index.rows[1][j]])
    : index.rows[0].map((row) => [row]);
  return both.map((rows, place) => {
    const row = rows[0] || rows[1];
    const number = count.get(row.task) || 0;
    count.set(row.task, number + 1);
    const scored = rows.length === 2 && rows.every((some) => some && some.score !== null);
    const words = rows.filter(Boolean).flatMap((some) => [
      some.task, some.template, some.type, some.lead, some.question, some.answer, some.gold, some.stop, some.why, ...some.kinds, ...some.tools,
    ]);
    return {
      id: rows.length === 2 ? row.task + "#" + number : row.task + "#" + row.seed + "." + row.repeat,
      name: row.task + (number ? " · " + (number + 1) : ""),
      place, rows, row,
      change: scored ? rows[1].score - rows[0].score : null,
      words: words.join("\n").toLowerCase(),
    };
  });
}

// Lower-case words of every trace, by entry, for the search in traces.
async function traceWords(index, entries, progress) {
  const found = new Map();
  let done = 0;
  for (const entry of entries) {
    const texts = [entry.words];
    for (const row of entry.rows.filter(Boolean)) {
      const trace = await traceOf(index, row);
      texts.push(trace.answer, trace.gold, trace.error, trace.unscored);
      for (const step of trace.steps) {
        texts.push(step.text, step.reasoning);
        for (const call of step.calls || []) texts.push(call.name, call.arguments, call.observed);
        for (const image of step.images || []) texts.push(image.alt);
      }
    }
    found.set(entry, texts.filter(Boolean).join("\n").toLowerCase());
    if (++done % index.piece === 0) progress(done / entries.length);
  }
  return found;
}
