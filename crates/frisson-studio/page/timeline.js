// Play, scrub, step, loop.
import { html, useRef } from "./third-party.js";
import { again, engine, fps, frame, graphsOpen, job, looping, playing, range, remote, speed } from "./state.js";
import { icon } from "./dialogs.js";

export function go(number) {
  const [first, last] = range.value;
  frame.value = Math.min(last, Math.max(first, Math.round(number)));
}
export function stepBy(count) {
  playing.value = false;
  go(frame.value + count);
}

export function Timeline() {
  const rail = useRef(null);
  const [first, last] = range.value;
  const span = Math.max(1, last - first);
  const share = number => `${100 * (number - first) / span}%`;
  const scrub = event => {
    const box = rail.current.getBoundingClientRect();
    playing.value = false;
    go(first + span * (event.clientX - box.left) / box.width);
  };
  const findings = job.value?.findings ?? [];
  return html`<div class="transport">
    <button class="square" title="To the start (Home)" aria-label="to the start" onClick=${() => go(first)}>${icon("start")}</button>
    <button class="square" title="One frame back (←)" aria-label="one frame back" onClick=${() => stepBy(-1)}>${icon("back")}</button>
    <button class="square main" id="play" title="Play or pause (space)" aria-label=${playing.value ? "pause" : "play"} aria-pressed=${playing.value}
      onClick=${() => { playing.value = !playing.value; }}>${icon(playing.value ? "pause" : "play")}</button>
    <button class="square" title="One frame on (→)" aria-label="one frame on" onClick=${() => stepBy(1)}>${icon("next")}</button>
    <button class="square" title="Loop (L)" aria-label="loop" aria-pressed=${looping.value} onClick=${() => { looping.value = !looping.value; }}>${icon("loop")}</button>
    <select class="number" style="width:70px" aria-label="speed" value=${speed.value} onChange=${e => { speed.value = Number(e.target.value); }}>
      ${[0.1, 0.25, 0.5, 1, 2].map(s => html`<option value=${s}>${s}×</option>`)}</select>
    <div class="rail" ref=${rail} role="slider" tabindex="0" aria-label="frame" aria-valuemin=${first} aria-valuemax=${last} aria-valuenow=${frame.value}
      onPointerDown=${e => { rail.current.setPointerCapture(e.pointerId); scrub(e); }}
      onPointerMove=${e => { if (e.buttons) scrub(e); }}>
      <div class="bed">${(engine.value?.ready ?? []).map(([from, to]) =>
        html`<div class="ready" style=${`left:${share(from)};width:${100 * (to - from + 1) / (span + 1)}%`}></div>`)}</div>
      ${findings.map(f => html`<button class="found" title=${f.text} aria-label=${f.text} style=${`left:${share(f.frame)}`} onPointerDown=${e => { e.stopPropagation(); go(f.frame); }}></button>`)}
      <div class="head" style=${`left:${share(frame.value)}`}></div>
    </div>
    <input class="number" type="number" aria-label="frame number" value=${frame.value} onChange=${e => { playing.value = false; go(Number(e.target.value)); }} />
    <span class="clock">${(frame.value / fps.value).toFixed(2)} s</span>
    <button class="edge" aria-pressed=${again.value} title="After an edit: simulate again from the start, instead of going on from this frame"
      onClick=${() => { again.value = !again.value; }}>From start</button>
    <button class="edge" aria-pressed=${graphsOpen.value} title="Graphs and findings (G)" onClick=${() => { graphsOpen.value = !graphsOpen.value; }}>Graphs</button>
  </div>`;
}
