// Tools that draw on the model. What is drawn sticks to triangles of the actor's own mesh and follows it.
import { Vector3, html, signal } from "./third-party.js";
import { post } from "./api.js";
import { addBead, addPolyline, clearGroup } from "./view.js";
import { doc, layers, places, say, selectedLayer, symmetry, tool, toolSize, trying, playing } from "./state.js";
import { send } from "./controls.js";
import { icon } from "./dialogs.js";

export const TOOLS = [
  { id: "look", name: "Look", key: "V", about: "Drag to orbit, right button or Shift to pan, wheel to zoom." },
  { id: "wrinkle", name: "Wrinkle", key: "W", about: "Drag across the skin: folds rise where the line is compressed. Drag a bead to move it." },
  { id: "fold", name: "Fold", key: "F", about: "Click points of a curve; Enter or a double click ends it, Escape lets it go." },
  { id: "pins", name: "Pins", key: "P", about: "Brush the vertices that a cloth is held by; with Shift take them away." },
  { id: "mask", name: "Select", key: "M", about: "Brush where the chosen layer acts; with Shift take away." },
  { id: "drop", name: "Drops", key: "D", about: "Click where drops come from." },
  { id: "ball", name: "Collider", key: "C", about: "Drag a ball out of the surface; drag its middle to move it." },
];

/** Points of a fold that is being drawn. */
const curve = [];
export const drawing = signal(false);

/** Kinds of layers that refine the mesh they are on. */
const REFINERS = ["wrinkles", "folds", "cloth"];

/** Whether a layer of a kind finds the actor's own triangles, with no refined ones in their place. */
function findsOwn(kind, mesh) {
  const before = layerFor(kind, mesh)?.index ?? Infinity;
  return !layers.value.some(l => l.index < before && REFINERS.includes(l.kind) && [].concat(l.params.on).includes(mesh));
}

/** Where something that was hit is on the actor's own mesh, and its mirror image where that is asked for. */
async function anchors(hits, kind) {
  const own = await Promise.all(hits.map(h => post("anchor", { mesh: h.name, corners: h.corners, weights: h.weights })));
  const sets = [own];
  if (symmetry.value) {
    const mirrored = p => [-p[0], p[1], p[2]];
    sets.push(await Promise.all(own.map((x, k) => post("anchor", { mesh: hits[k].name, position: mirrored(x.position) }))));
  }
  // A number of a triangle means another one where an earlier layer has refined the mesh; a position does not.
  const own_triangles = hits.every(h => findsOwn(kind, h.name));
  return sets.map(set => set.map(({ triangle, weights, position }) => own_triangles ? { triangle, weights } : position));
}

/** The layer of a kind on a mesh: the chosen one first. */
function layerFor(kind, mesh) {
  const is_on = l => l.kind === kind && [].concat(l.params.on).includes(mesh);
  const chosen = layers.value[selectedLayer.value];
  return chosen && is_on(chosen) ? chosen : layers.value.find(is_on);
}

function freshName(base, taken) {
  for (let k = 1; ; k += 1) {
    const name = k === 1 ? base : `${base}_${k}`;
    if (!taken.includes(name)) return name;
  }
}
const layerNames = () => [...layers.value.map(l => l.params.name), ...(doc.value?.off ?? []).map(l => l.name)];

async function addToLayer(kind, mesh, list, items, label, beside = {}) {
  const layer = layerFor(kind, mesh);
  const index = layer ? layer.index : layers.value.length;
  const edits = layer
    ? items.map(value => ({ append: { path: `${layer.path}.${list}`, value } }))
    : [{ append: { path: "layers", value: { [kind]: { name: freshName(kind, layerNames()), on: mesh, ...beside, [list]: items } } } }];
  await send(edits, label, null);
  selectedLayer.value = index;
}

const round = (v, digits = 4) => Number(v.toFixed(digits));

async function drawWrinkle(view, from, to) {
  if (from.name !== to.name) { say("a wrinkle lies on one mesh", "bad"); return; }
  const length = from.point.distanceTo(to.point);
  if (length < 1e-3 * view.size) return;
  const taken = (layerFor("wrinkles", from.name)?.params.tools ?? []).map(t => t.name);
  const sets = await anchors([from, to], "wrinkles");
  const items = sets.map(([a, b]) => {
    const name = freshName("line", taken);
    taken.push(name);
    return { name, a, b, width: round(toolSize.value * view.size) };
  });
  await addToLayer("wrinkles", from.name, "tools", items, "draw a wrinkle");
  say("a wrinkle was drawn: it folds where the animation compresses it");
}

async function drawFold(view) {
  const hits = curve.splice(0);
  drawing.value = false;
  clearGroup(view.marks);
  view.touch();
  if (hits.length < 2) return;
  if (hits.some(h => h.name !== hits[0].name)) { say("a fold lies on one mesh", "bad"); return; }
  const taken = (layerFor("folds", hits[0].name)?.params.folds ?? []).map(f => f.name);
  const width = toolSize.value * view.size;
  const sets = await anchors(hits, "folds");
  const items = sets.map(points => {
    const name = freshName("fold", taken);
    taken.push(name);
    return { name, points, amplitude: round(0.35 * width), width: round(width) };
  });
  await addToLayer("folds", hits[0].name, "folds", items, "draw a fold");
  say("a fold was drawn");
}

async function drawSource(view, hit) {
  const sets = await anchors([hit], "drops");
  const sources = sets.map(([at]) => ({ single: { at, mass: 2e-5, count: 8, every: 15 } }));
  await addToLayer("drops", hit.name, "sources", sources, "add a source of drops", { liquid: { preset: "water" } });
  say("drops will come from there");
}

async function addBall(view, hit, radius) {
  const names = (doc.value?.scene?.colliders ?? []).map(c => c.name);
  const centre = hit.point.toArray().map(x => round(x));
  const value = { name: freshName("ball", names), shape: { sphere: { center: centre, radius: round(radius) } }, color: [0.35, 0.45, 0.65] };
  await send([{ append: { path: "colliders", value } }], "add a collider", null);
  say("a ball was added: layers that look at colliders bump into it");
}

/** Vertices of the actor's own mesh within a brush. */
function brushed(view, hit) {
  const radius = 0.5 * toolSize.value * view.size;
  const own = hit.mesh.topology.head.own_vertices;
  const found = [];
  const p = new Vector3();
  for (let v = 0; v < own; v += 1) {
    if (hit.mesh.vertex(v, p).distanceTo(hit.point) <= radius) found.push(v);
  }
  return found;
}

/** Where the brush writes to: pins of a cloth, or the mask of the chosen layer. */
function brushPath(mesh) {
  if (tool.value === "pins") {
    const layer = layerFor("cloth", mesh);
    return layer && { layer, key: "pins", path: `${layer.path}.pins` };
  }
  const layer = layers.value[selectedLayer.value];
  const keys = { flesh: "mask", hair: "scalp", cloth: "pins" };
  const key = layer && keys[layer.kind];
  return key && [].concat(layer.params.on).includes(mesh) ? { layer, key, path: `${layer.path}.${key}` } : null;
}

/** One pointer on the canvas, from press to release. */
export function attach(view) {
  const { canvas } = view;
  let press = null;
  const at = event => {
    const box = canvas.getBoundingClientRect();
    return view.hit(event.clientX - box.left, event.clientY - box.top);
  };
  const bead = event => {
    const box = canvas.getBoundingClientRect();
    const p = new Vector3();
    let best = null;
    for (const place of places.value) {
      const where = view.whereIs(place);
      if (!where) continue;
      p.copy(where).project(view.camera);
      const x = (p.x + 1) / 2 * box.width - (event.clientX - box.left);
      const y = (1 - p.y) / 2 * box.height - (event.clientY - box.top);
      const distance = Math.hypot(x, y);
      if (distance < 11 && (!best || distance < best.distance)) best = { place, distance };
    }
    return best?.place ?? null;
  };
  const free = () => tool.value === "look";

  canvas.addEventListener("pointerdown", event => {
    if (event.button !== 0 || free()) return;
    const grabbed = bead(event);
    const hit = at(event);
    if (!grabbed && !hit) return;
    view.controls.enabled = false;
    canvas.setPointerCapture(event.pointerId);
    press = { hit, grabbed, last: hit, chosen: new Set(), remove: event.shiftKey };
    if (hit && (tool.value === "pins" || tool.value === "mask")) startBrush(view, press, hit);
  }, { capture: true });

  canvas.addEventListener("pointermove", event => {
    if (!press) return;
    const hit = at(event);
    press.last = hit ?? press.last;
    clearGroup(view.marks);
    const size = 0.006 * view.size;
    if (press.grabbed && hit) addBead(view.marks, hit.point, size);
    else if (tool.value === "wrinkle" && hit) {
      addBead(view.marks, press.hit.point, size);
      addBead(view.marks, hit.point, size);
      addPolyline(view.marks, [press.hit.point, hit.point]);
    } else if (tool.value === "ball") {
      const box = canvas.getBoundingClientRect();
      const scale = 2 * Math.tan(view.camera.fov * Math.PI / 360) * view.camera.position.distanceTo(press.hit.point) / box.height;
      press.x ??= event.clientX;
      press.y ??= event.clientY;
      press.radius = Math.max(0.01 * view.size, Math.hypot(event.clientX - press.x, event.clientY - press.y) * scale);
      addBead(view.marks, press.hit.point, press.radius);
    } else if (press.target && hit) {
      stroke(view, press, hit);
    }
    view.touch();
  });

  canvas.addEventListener("pointerup", async event => {
    if (!press) return;
    const done = press;
    press = null;
    view.controls.enabled = true;
    if (tool.value !== "fold") clearGroup(view.marks);
    view.touch();
    await trying(() => finish(view, done));
  });

  canvas.addEventListener("dblclick", () => { if (tool.value === "fold") trying(() => drawFold(view)); });
  view.painters.add(() => {
    if (!curve.length) return;
    clearGroup(view.marks);
    const where = curve.map(h => view.whereIs({ mesh: h.name, corners: h.corners, weights: h.weights })).filter(Boolean);
    where.forEach(p => addBead(view.marks, p, 0.006 * view.size));
    addPolyline(view.marks, where);
  });
}

async function finish(view, done) {
  if (done.grabbed) {
    if (!done.last || done.last.name !== done.grabbed.mesh) return;
    const [[anchor]] = await anchors([done.last], layers.value[done.grabbed.layer]?.kind);
    await send([{ set: { path: done.grabbed.path, value: anchor } }], "move a point", null);
    return;
  }
  switch (tool.value) {
    case "wrinkle": return drawWrinkle(view, done.hit, done.last);
    case "fold":
      curve.push(done.hit);
      drawing.value = true;
      return view.showFrame();
    case "drop": return drawSource(view, done.hit);
    case "ball": return addBall(view, done.hit, done.radius ?? 0.05 * view.size);
    case "pins":
    case "mask": return endBrush(view, done);
    default: return undefined;
  }
}

function startBrush(view, press, hit) {
  press.target = brushPath(hit.name);
  if (!press.target) {
    say(tool.value === "pins" ? "pins hold a cloth: add a cloth layer on this mesh first" : "choose a flesh, hair or cloth layer of this mesh first", "bad");
    return;
  }
  press.mesh = hit.mesh;
  const before = press.target.layer.params[press.target.key]?.vertices ?? [];
  before.forEach(v => press.chosen.add(v));
  stroke(view, press, hit);
}

function stroke(view, press, hit) {
  if (!press.target || hit.name !== press.mesh.shape.name) return;
  for (const v of brushed(view, hit)) press.remove ? press.chosen.delete(v) : press.chosen.add(v);
  const weights = new Float32Array(press.mesh.shape.count);
  press.chosen.forEach(v => { weights[v] = 1; });
  view.covered = new Map([[hit.name, weights]]);
  view.showFrame();
}

async function endBrush(view, done) {
  view.covered = null;
  if (!done.target) return;
  const vertices = [...done.chosen].sort((x, y) => x - y);
  const edits = [{ set: { path: done.target.path, value: { vertices } } }];
  await send(edits, `brush ${done.target.key}`, null);
  view.showFrame();
  say(`${done.target.key}: ${vertices.length} vertices`);
}

/** Keys that drawing listens to; answers whether one was taken. */
export function drawKey(event, view) {
  if (!drawing.value) return false;
  if (event.key === "Enter") { trying(() => drawFold(view)); return true; }
  if (event.key === "Escape") {
    curve.length = 0;
    drawing.value = false;
    clearGroup(view.marks);
    view.touch();
    return true;
  }
  return false;
}

export function Tools() {
  const chosen = TOOLS.find(t => t.id === tool.value);
  return html`<div class="section">
    <h2>Tools</h2>
    <div class="tools" role="toolbar" aria-label="tools">
      ${TOOLS.map(t => html`<button key=${t.id} data-tool=${t.id} aria-pressed=${tool.value === t.id} title=${`${t.name} (${t.key}): ${t.about}`}
        onClick=${() => { tool.value = t.id; if (t.id !== "look") playing.value = false; }}>${icon(t.id)}${t.name}</button>`)}
      <button aria-pressed=${symmetry.value} title="Left and right alike (X)" onClick=${() => { symmetry.value = !symmetry.value; }}>${icon("mirror")}Mirror</button>
    </div>
    <p class="faint" style="margin:6px 0 4px;min-height:54px;font-size:12px">${chosen.about}</p>
    <label class="row"><span class="faint">Size</span><input type="range" min="0.005" max="0.3" step="0.001" value=${toolSize.value} aria-label="size of the tool"
      onInput=${e => { toolSize.value = Number(e.target.value); }} /></label>
  </div>`;
}
