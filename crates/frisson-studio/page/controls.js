// The parameters of a layer, of the forces and of the scene, as controls made from the schema.
import { computed, html, signal, useRef, useSignal } from "./third-party.js";
import {
  doc, edit, frame, layers, onlyChanged, range, schema, search, selectedLayer, trying,
} from "./state.js";
import { post } from "./api.js";
import { CurveEditor, valueOf } from "./curve.js";
import { controlOf, layerSchema, resolve, sliderRange, tidy, unitOf, words } from "./schema.js";
import { expect, latencies } from "./player.js";

/** What the pointer or the keyboard is at, for the explanation below. */
export const explained = signal(null);

let gesture = 0;
let sending = false;
let waiting = null;

let ended = false;

/** Says that what was dragged is let go, once all of it was sent: then the whole picture is made. */
export function letGo() {
  ended = true;
  if (!sending) tellEnd();
}

function tellEnd() {
  ended = false;
  trying(() => post("rest"));
}

/** Sends an edit; while one is on its way, only the newest of those that follow is sent. */
export async function send(edits, label, merge) {
  if (sending) { waiting = { edits, label, merge }; return; }
  sending = true;
  const started = performance.now();
  const done = await edit(edits, label, merge);
  if (done) {
    expect(done.revision);
    latencies.push({ started, answered: performance.now(), revision: done.revision });
  }
  sending = false;
  if (waiting) {
    const next = waiting;
    waiting = null;
    await send(next.edits, next.label, next.merge);
  } else if (ended) {
    tellEnd();
  }
  return done;
}

const written = computed(() => new Set(doc.value?.written ?? []));
const isWritten = path => written.value.has(path);

function set(path, value, name, merge) {
  return send([{ set: { path, value } }], name, merge);
}
function reset(path, name) {
  return send([{ remove: { path } }], `reset ${name}`, null);
}

function NumberControl({ path, name, control, value, id }) {
  const shown = useSignal(null);
  const dragging = useRef(0);
  const current = shown.value ?? value;
  const { low, high, log } = sliderRange(control, value);
  const toSlider = v => log ? Math.log(Math.max(v, low) / low) / Math.log(high / low) : (v - low) / (high - low);
  const fromSlider = t => tidy(log ? low * (high / low) ** t : low + t * (high - low), control.whole);
  const isNumber = typeof current === "number";
  const commit = (v, merge) => {
    if (!Number.isFinite(v)) return;
    let clipped = v;
    if (control.minimum !== undefined) clipped = Math.max(control.minimum, clipped);
    if (control.maximum !== undefined) clipped = Math.min(control.maximum, clipped);
    set(path, control.whole ? Math.round(clipped) : clipped, name, merge);
  };
  if (!isNumber && Array.isArray(current)) {
    return html`<button class="edge small" id=${id} title="One value for the whole shot" onClick=${() => set(path, tidy(valueOf(current, frame.value)), name, null)}>constant</button>
      <${Reset} path=${path} name=${name} />
      <${CurveEditor} name=${name} path=${path} keys=${current} domain=${range.value} span=${[low, high].every(Number.isFinite) ? [low, high] : [0, 1]} isFrames=${true}
        onKeys=${(keys, gesture) => set(path, keys, name, gesture)} />`;
  }
  return html`
    <input id=${id} type="number" step="any" value=${isNumber ? tidy(current, control.whole) : ""}
      placeholder=${value === null || value === undefined ? "auto" : ""}
      onChange=${e => e.target.value === "" ? reset(path, name) : commit(Number(e.target.value), null)} />
    <${Reset} path=${path} name=${name} />
    ${control.animated && isNumber && html`<button class="keyed" title="Keys along the shot" aria-label=${`keys of ${name}`} data-keys=${path}
      onClick=${() => set(path, [[range.value[0], tidy(current)], [range.value[1], tidy(current)]], name, null)}>curve</button>`}
    ${Number.isFinite(low) && Number.isFinite(high) && html`<input type="range" min="0" max="1" step="any" aria-label=${`${name}, slider`} class=${isNumber ? "" : "auto"}
      value=${isNumber ? toSlider(current) : 0} data-path=${path}
      aria-valuetext=${isNumber ? String(tidy(current)) : "auto"}
      onPointerDown=${() => { gesture += 1; dragging.current = gesture; }}
      onInput=${e => {
        shown.value = fromSlider(Number(e.target.value));
        commit(shown.value, `${path}#${dragging.current || (dragging.current = ++gesture)}`);
      }}
      onChange=${() => { shown.value = null; dragging.current = 0; letGo(); }} />`}`;
}

function Reset({ path, name }) {
  return html`<button class="reset" title="Back to the default" aria-label=${`reset ${name}`} tabindex=${isWritten(path) ? 0 : -1}
    onClick=${() => reset(path, name)}>↺</button>`;
}

const isColour = name => /colou?r$/.test(name);
const toHex = c => `#${c.map(v => Math.round(255 * Math.min(1, Math.max(0, v)) ** (1 / 2.2)).toString(16).padStart(2, "0")).join("")}`;
const fromHex = text => [1, 3, 5].map(k => tidy((parseInt(text.slice(k, k + 2), 16) / 255) ** 2.2));

function VectorControl({ path, name, control, value, id }) {
  const numbers = Array.isArray(value) ? value : Array(control.count).fill(null);
  if (control.count === 3 && isColour(name)) {
    return html`<input id=${id} type="color" value=${toHex(numbers.map(v => v ?? 0.5))}
      onInput=${e => set(path, fromHex(e.target.value), name, `${path}#colour`)} onChange=${letGo} /><${Reset} path=${path} name=${name} />`;
  }
  return html`<span></span><${Reset} path=${path} name=${name} />
    <span class="vector">${numbers.map((v, k) => html`<input type="number" step="any" id=${k === 0 ? id : undefined}
      aria-label=${`${name} ${"xyzw"[k]}`} value=${v === null ? "" : tidy(v, control.whole)}
      onChange=${e => {
        const next = numbers.map(x => x ?? 0);
        next[k] = Number(e.target.value);
        set(path, next, name, null);
      }} />`)}</span>`;
}

function ChoiceControl({ path, name, control, value, id }) {
  const known = control.choices.some(c => c.value === value);
  return html`<select id=${id} value=${known ? value : "?"} onChange=${e => e.target.value === "" ? reset(path, name) : set(path, e.target.value, name, null)}>
      ${(value === null || value === undefined) && html`<option value="?">auto</option>`}
      ${value !== null && value !== undefined && !known && html`<option value="?">own</option>`}
      ${control.choices.map(c => html`<option value=${c.value} title=${c.about ?? ""}>${words(c.value)}</option>`)}
    </select><${Reset} path=${path} name=${name} />`;
}

/** Pairs of numbers along something from 0 to 1. */
function PairsControl({ path, name, value, id }) {
  const keys = Array.isArray(value) && value.length ? value : [[0, 1], [1, 1]];
  return html`<span id=${id} class="faint" style="text-align:right">${keys.length} points</span><${Reset} path=${path} name=${name} />
    <${CurveEditor} name=${name} path=${path} keys=${keys} domain=${[0, 1]} span=${[0, 1]} isFrames=${false} onKeys=${(next, gesture) => set(path, next, name, gesture)} />`;
}

function plainControl(kind) {
  switch (kind) {
    case "number": return NumberControl;
    case "vector": return VectorControl;
    case "choice": return ChoiceControl;
    case "pairs": return PairsControl;
    default: return null;
  }
}

function Control({ path, name, control, value }) {
  const id = `p-${path}`;
  const Inner = plainControl(control.kind);
  const unit = unitOf(control.description);
  const explain = () => { explained.value = { path, name, control }; };
  let inner;
  if (Inner) {
    inner = html`<${Inner} ...${{ path, name, control, value, id }} />`;
  } else if (control.kind === "boolean") {
    inner = html`<span style="text-align:right"><input id=${id} type="checkbox" checked=${value === true}
      onChange=${e => set(path, e.target.checked, name, null)} /></span><${Reset} path=${path} name=${name} />`;
  } else if (control.kind === "text") {
    inner = html`<input id=${id} type="text" value=${value ?? ""} onChange=${e => set(path, e.target.value, name, null)} />
      <${Reset} path=${path} name=${name} />`;
  } else {
    inner = html`<span class="faint" style="text-align:right" id=${id}>${isWritten(path) ? "in the text" : "not given"}</span>
      <${Reset} path=${path} name=${name} />`;
  }
  return html`<div class=${`control ${isWritten(path) ? "changed" : ""}`} onPointerEnter=${explain} onFocusIn=${explain}>
    <label for=${id}>${words(name)}<span class="unit">${unit}</span>${control.change && control.change !== "live"
      && html`<span class="mark" title=${control.change === "rebuild" ? "the layer is built anew" : "the layer starts again"}>${control.change}</span>`}</label>
    ${inner}
  </div>`;
}

/** All controls below a table of the schema, flat, with their paths. */
function gather(properties, value, path, prefix, out, depth = 0) {
  for (const [name, raw] of Object.entries(properties ?? {})) {
    if (depth === 0 && name === "name") continue;
    const control = controlOf(raw);
    const own = `${path}.${name}`;
    const label = prefix ? `${prefix} ${name}` : name;
    const at = value?.[name];
    if (control.kind === "table" && depth < 3) {
      gather(control.properties, at ?? control.default ?? {}, own, prefix ? `${prefix} ${name}` : name, out, depth + 1);
    } else if (control.kind === "list" && Array.isArray(at)) {
      at.forEach((item, k) => gatherItem(control.item, item, `${own}[${k}]`, `${name} ${item?.name || k + 1}`, out, depth));
    } else if (control.kind === "raw" && Array.isArray(at) && at.length && typeof at[0] === "object" && !Array.isArray(at[0])) {
      at.forEach((item, k) => gatherItem({}, item, `${own}[${k}]`, `${name} ${k + 1}`, out, depth));
    } else {
      out.push({ path: own, name: label, control, value: at, group: control.group ?? (prefix || "Layer"), heading: prefix });
    }
  }
}

function gatherItem(item, value, path, heading, out, depth) {
  let node = resolve(item);
  // One of several forms: the one whose key is there.
  if (node.oneOf) {
    const key = Object.keys(value ?? {})[0];
    const form = node.oneOf.map(resolve).find(x => x.properties?.[key]);
    if (form) {
      const inside = resolve(form.properties[key]);
      gather(inside.properties ?? {}, value[key], `${path}.${key}`, heading, out, depth + 1);
    }
    return;
  }
  if (node.properties) gather(node.properties, value, path, heading, out, depth + 1);
}

/** The controls of a layer, in the order of the schema, by groups. */
export function controlsOf(layer) {
  const node = layerSchema(layer.kind);
  const out = [];
  if (node) gather(node.properties, layer.params, layer.path, "", out);
  return out;
}

const sceneControls = computed(() => {
  const root = schema.value;
  const scene = doc.value?.scene;
  if (!root || !scene) return [];
  const out = [];
  for (const name of ["fps", "frames", "preroll", "gravity", "seed"]) {
    const control = controlOf(root.properties[name]);
    if (name === "frames") Object.assign(control, { kind: "vector", count: 2, whole: true });
    out.push({ path: name, name, control, value: scene[name], group: "Shot" });
  }
  for (const [name, lists] of [["forces", scene.forces], ["colliders", scene.colliders]]) {
    const item = resolve(root.properties[name].items);
    (lists ?? []).forEach((value, k) => gatherItem(item, value, `${name}[${k}]`, `${name.slice(0, -1)} ${value?.name ?? Object.keys(value)[0]}`, out, 0));
  }
  return out;
});

/** Whether a group says which vertices: it is brushed or written, and folded away here. */
const isSelection = controls => controls.some(c => c.path.endsWith(".vertices_file"));

/** What such a group says, in a few words. */
function selected(controls) {
  const given = controls.filter(c => isWritten(c.path)).map(c => {
    const key = c.path.split(".").at(-1);
    if (key === "vertices") return `${c.value?.length ?? 0} vertices`;
    return typeof c.value === "string" ? `${key} ${c.value}` : key;
  });
  return given.length ? given.join(", ") : "everything";
}

/** The right panel: what can be tuned. */
export function Tune() {
  const layer = layers.value[selectedLayer.value];
  const all = selectedLayer.value < 0 || !layer ? sceneControls.value : controlsOf(layer);
  const asked = search.value.trim().toLowerCase();
  const fits = c => (!asked || words(c.name).toLowerCase().includes(asked) || c.name.includes(asked)
    || c.control.description.toLowerCase().includes(asked)) && (!onlyChanged.value || isWritten(c.path));
  const groups = new Map();
  for (const control of all.filter(fits)) {
    const key = control.heading || control.group;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(control);
  }
  const about = explained.value;
  return html`
    <div class="section row">
      <input type="search" id="search" placeholder="Find a parameter  ( / )" aria-label="Find a parameter" value=${search.value}
        onInput=${e => { search.value = e.target.value; }} />
      <button class="edge" id="only-changed" aria-pressed=${onlyChanged.value} title="Only what the text gives" onClick=${() => { onlyChanged.value = !onlyChanged.value; }}>Changed</button>
    </div>
    <div class="scroll" id="parameters">
      ${[...groups].map(([name, controls]) => html`<details class="group" open=${!isSelection(controls) || asked !== "" || onlyChanged.value} key=${`${selectedLayer.value}/${name}`}>
        <summary>${words(name)}${isSelection(controls) && html` <span class="plain">${selected(controls)}</span>`}</summary>
        ${controls.map(c => html`<${Control} key=${c.path} path=${c.path} name=${c.heading ? c.name.slice(c.heading.length + 1) || c.name : c.name} control=${c.control} value=${c.value} />`)}
      </details>`)}
      ${groups.size === 0 && html`<p class="section faint">${doc.value?.scene ? "Nothing of that name." : "The text has mistakes: see the Text tab."}</p>`}
    </div>
    <div class="meaning" aria-live="polite">${about
      ? html`<b>${words(about.name)}</b> ${about.control.description}
          ${about.control.change && html` <span class="faint">Change: ${about.control.change}.</span>`}`
      : "Point at a parameter to read what it does."}</div>`;
}
