// Curves: keys `[x, value]` joined by straight lines, drawn and dragged.
import { html, useRef, useSignal } from "./third-party.js";
import { frame } from "./state.js";
import { tidy } from "./schema.js";

const WIDTH = 300;
const HEIGHT = 96;
const EDGE = 8;

/** Value of keys at a place, straight between them and held at both ends. */
export function valueOf(keys, x) {
  if (x <= keys[0][0]) return keys[0][1];
  for (let k = 1; k < keys.length; k += 1) {
    const [[x0, y0], [x1, y1]] = [keys[k - 1], keys[k]];
    if (x <= x1) return y0 + (y1 - y0) * (x1 > x0 ? (x - x0) / (x1 - x0) : 1);
  }
  return keys[keys.length - 1][1];
}

/** Keys and their plot: `domain` along, `span` up; `onKeys(keys, gesture)` takes what was made of them. */
export function CurveEditor({ name, path, keys, domain, span, isFrames, onKeys }) {
  const box = useRef(null);
  const chosen = useSignal(0);
  const held = useRef(null);
  const low = Math.min(span[0], ...keys.map(k => k[1]));
  const high = Math.max(span[1], ...keys.map(k => k[1]));
  const first = Math.min(domain[0], keys[0][0]);
  const last = Math.max(domain[1], keys[keys.length - 1][0]);
  const toX = x => EDGE + (WIDTH - 2 * EDGE) * (x - first) / (last - first || 1);
  const toY = y => HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (y - low) / (high - low || 1);
  const place = event => {
    const r = box.current.getBoundingClientRect();
    const share = v => Math.min(1, Math.max(0, v));
    const x = first + (last - first) * share(((event.clientX - r.left) / r.width * WIDTH - EDGE) / (WIDTH - 2 * EDGE));
    const y = low + (high - low) * share((HEIGHT - EDGE - (event.clientY - r.top) / r.height * HEIGHT) / (HEIGHT - 2 * EDGE));
    return [isFrames ? Math.round(x) : tidy(x), tidy(y)];
  };
  const put = (index, key, gesture) => {
    const others = keys.filter((k, i) => i !== index && k[0] !== key[0]);
    const next = [...others, key].sort((p, q) => p[0] - q[0]);
    chosen.value = next.indexOf(key);
    held.current = { ...held.current, index: chosen.value };
    onKeys(next, gesture);
  };
  const remove = index => {
    if (keys.length < 2) return;
    chosen.value = Math.max(0, index - 1);
    onKeys(keys.filter((_, i) => i !== index), null);
  };
  const down = event => {
    event.preventDefault();
    box.current.setPointerCapture(event.pointerId);
    const r = box.current.getBoundingClientRect();
    const [px, py] = [(event.clientX - r.left) / r.width * WIDTH, (event.clientY - r.top) / r.height * HEIGHT];
    const near = keys.findIndex(k => Math.hypot(toX(k[0]) - px, toY(k[1]) - py) < 11);
    held.current = { gesture: `${name}#curve${performance.now()}`, index: near };
    if (near >= 0) chosen.value = near;
    else put(-1, place(event), held.current.gesture);
  };
  const move = event => {
    if (event.buttons && held.current && held.current.index >= 0) put(held.current.index, place(event), held.current.gesture);
  };
  const nudge = event => {
    const index = Math.min(chosen.value, keys.length - 1);
    const [x, y] = keys[index];
    const dy = (high - low) / 50;
    const steps = { ArrowUp: [x, tidy(y + dy)], ArrowDown: [x, tidy(y - dy)], ArrowLeft: [x - (isFrames ? 1 : 0.02), y], ArrowRight: [x + (isFrames ? 1 : 0.02), y] };
    if (event.key === "Delete" || event.key === "Backspace") remove(index);
    else if (steps[event.key]) put(index, steps[event.key], null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const line = [[first, valueOf(keys, first)], ...keys, [last, valueOf(keys, last)]].map(([x, y]) => `${toX(x)},${toY(y)}`).join(" ");
  const one = keys[Math.min(chosen.value, keys.length - 1)];
  return html`<div class="curve" data-curve=${path}>
    <svg ref=${box} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="application" tabindex="0" aria-label=${`${name}: ${keys.length} keys; arrows move the chosen one, Delete removes it`}
      onPointerDown=${down} onPointerMove=${move} onPointerUp=${() => { held.current = null; }} onKeyDown=${nudge}
      onDblClick=${e => { e.preventDefault(); const k = keys.findIndex(key => key === one); if (k >= 0) remove(k); }}>
      ${isFrames && html`<line class="now" x1=${toX(frame.value)} x2=${toX(frame.value)} y1="0" y2=${HEIGHT} />`}
      <polyline points=${line} />
      ${keys.map((k, i) => html`<circle class=${k === one ? "chosen" : ""} cx=${toX(k[0])} cy=${toY(k[1])} r="4.5" key=${i} />`)}
    </svg>
    <div class="row">
      <span class="faint">${isFrames ? "frame" : "at"}</span><input type="number" step="any" aria-label=${`${name}, place of the key`} value=${tidy(one[0])}
        onChange=${e => put(keys.indexOf(one), [Number(e.target.value), one[1]], null)} />
      <span class="faint">value</span><input type="number" step="any" aria-label=${`${name}, value of the key`} value=${tidy(one[1])}
        onChange=${e => put(keys.indexOf(one), [one[0], Number(e.target.value)], null)} />
    </div></div>`;
}
