// Measures of the layers over time, and what the judge found; a click jumps there.
import { effect, html, signal, uPlot, uPlotStyle, useEffect, useRef } from "./third-party.js";
import { getJson, post } from "./api.js";
import { engine, frame, graphsOpen, job, playing, remote, say, theme, trying } from "./state.js";
import { go } from "./timeline.js";

const style = document.createElement("style");
style.textContent = uPlotStyle;
document.head.append(style);

const series = signal([]);
const hidden = signal(new Set());
const COLOURS = ["#d9542b", "#2f7fd0", "#3a9a5f", "#a259c4", "#c79a1e", "#3aa6a0", "#c2487c", "#7a7f8c"];

let asked = "";
let busy = false;
effect(() => {
  if (!graphsOpen.value || !engine.value) return;
  const key = `${remote.value.opened}/${engine.value.take}/${JSON.stringify(engine.value.ready)}`;
  if (key === asked || busy) return;
  busy = true;
  // Not with every frame that is simulated.
  setTimeout(() => trying(async () => {
    asked = key;
    try {
      const found = await getJson("measures");
      if (series.peek().length === 0) hidden.value = hiddenAtFirst(found);
      series.value = found;
    } finally { busy = false; }
  }), 400);
});

/** Of many measures the first four that change are shown at first: a level line tells nothing. */
function hiddenAtFirst(found) {
  const moves = found.filter(s => s.values.some(([, v]) => v !== s.values[0][1]));
  const first = (moves.length ? moves : found).slice(0, 4);
  return new Set(found.filter(s => !first.includes(s)).map(s => `${s.layer}/${s.name}`));
}

/** Measures of one unit and one order of size share a scale: thousands would press shares of one flat. */
function scaleOf(s) {
  const most = s.values.reduce((most, [, v]) => Math.max(most, Math.abs(v)), 0);
  return `${s.unit}/${most > 0 ? Math.floor(Math.log10(most) / 2) : 0}`;
}

/** Numbers on an axis: short, whatever their size. */
const ticks = (_, values) => values.map(v => v === null ? "" : Math.abs(v) >= 1e4 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toExponential(0) : String(Number(v.toPrecision(5))));

/** The value of a measure at a frame. */
const valueAt = (s, number) => {
  const found = s.values.find(([n]) => n === number);
  return found ? Number(found[1].toPrecision(4)) : "";
};

export function Graphs({ view }) {
  const place = useRef(null);
  const plot = useRef(null);
  const chosen = series.value.filter(s => !hidden.value.has(`${s.layer}/${s.name}`)).slice(0, 8);
  useEffect(() => {
    const numbers = [...new Set(chosen.flatMap(s => s.values.map(([n]) => n)))].sort((x, y) => x - y);
    const rows = chosen.map(s => { const known = new Map(s.values); return numbers.map(n => known.get(n) ?? null); });
    const text = getComputedStyle(place.current).color;
    if (numbers.length < 2 || chosen.length === 0) return undefined;
    // Two scales have an axis, left and right; what has another is told by the numbers beside its name.
    const scales = [...new Set(chosen.map(scaleOf))];
    const axis = (scale, side) => ({ scale, side, stroke: COLOURS[chosen.findIndex(s => scaleOf(s) === scale) % COLOURS.length], grid: { show: side === 3, stroke: "#8883" }, size: 52, values: ticks });
    plot.current = new uPlot({
      width: place.current.clientWidth - 8, height: 178, legend: { show: false }, cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false } },
      axes: [{ stroke: text, grid: { stroke: "#8883" }, size: 28 }, axis(scales[0], 3), ...(scales[1] ? [axis(scales[1], 1)] : [])],
      series: [{}, ...chosen.map((s, k) => ({ scale: scaleOf(s), label: `${s.layer} ${s.name}`, stroke: COLOURS[k % COLOURS.length], width: 1.6 }))],
      hooks: {
        draw: [u => {
          const x = u.valToPos(frame.peek(), "x", true);
          u.ctx.save();
          u.ctx.strokeStyle = text;
          u.ctx.setLineDash([4, 4]);
          u.ctx.beginPath();
          u.ctx.moveTo(x, u.bbox.top);
          u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
          u.ctx.stroke();
          u.ctx.restore();
        }],
        ready: [u => u.over.addEventListener("click", e => {
          playing.value = false;
          go(u.posToVal(e.offsetX, "x"));
        })],
      },
    }, [numbers, ...rows], place.current);
    const { canvas } = plot.current.ctx;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${chosen.map(s => `${s.layer} ${s.name}`).join(", ")} over the frames; the numbers beside the names are those of the present frame`);
    return () => { plot.current?.destroy(); plot.current = null; };
  }, [series.value, hidden.value, theme.value]);
  useEffect(() => effect(() => { frame.value; plot.current?.redraw(false, false); }), []);
  const toggle = key => {
    const next = new Set(hidden.value);
    if (!next.delete(key)) next.add(key);
    hidden.value = next;
  };
  const findings = job.value?.findings;
  return html`<div class="graphs" role="region" aria-label="graphs">
    <div class="names">${series.value.map(s => {
      const key = `${s.layer}/${s.name}`;
      const place_ = chosen.indexOf(s);
      return html`<label key=${key}><input type="checkbox" checked=${!hidden.value.has(key)} onChange=${() => toggle(key)} />
        <span style=${`width:9px;height:9px;border-radius:5px;flex:none;background:${place_ >= 0 ? COLOURS[place_ % COLOURS.length] : "transparent"}`}></span>
        <span class="grow">${s.layer} ${s.name}</span><span class="faint value">${valueAt(s, frame.value)} ${s.unit === "-" ? "" : s.unit}</span></label>`;
    })}${series.value.length === 0 && html`<p class="faint">The layers measure nothing yet.</p>`}</div>
    <div class="plot" ref=${place}></div>
    <div class="findings">${findings === null || findings === undefined
      ? html`<div class="section faint">The judge looks at finished bakes: pops, jitter, stretch, what goes through what.
          ${remote.value?.baked && html`<p><button class="edge" onClick=${() => trying(() => post("job", { task: "judge" }))}>Judge the bake</button></p>`}</div>`
      : findings.length === 0 ? html`<div class="section faint">The judge has no complaint.</div>`
      : findings.map(f => html`<button class="finding" key=${f.number} onClick=${() => { playing.value = false; go(f.frame); if (f.place) view.lookAt(f.place, 0.45 * f.size + 1e-3); }}>
          <b>${f.number}. frame ${f.frame}</b> ${f.text}</button>`)}</div>
  </div>`;
}
