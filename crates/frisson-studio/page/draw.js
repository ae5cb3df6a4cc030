// Tools that draw on the model: one pointer, from press to release. What is drawn sticks to triangles of the actor's own mesh.
import { Vector3, effect, html, signal, untracked } from "./third-party.js";
import { anchors } from "./anchors.js";
import { brushedKey, endBrush, showChosen, startBrush, stroke, targets } from "./brush.js";
import { send } from "./controls.js";
import { icon } from "./dialogs.js";
import { addBall, balls, drawSource, moveBall } from "./objects.js";
import { addBead, addPolyline, clearGroup } from "./overlays.js";
import { brushFalloff, layers, places, playing, selectedLayer, symmetry, tool, toolSize, trying } from "./state.js";
import { combed, drawFold, drawGuide, drawParting, drawWrinkle } from "./strokes.js";

export const TOOLS = [
  { id: "look", name: "Look", key: "V", about: "Drag to orbit, right button or Shift to pan, wheel to zoom." },
  { id: "wrinkle", name: "Wrinkle", key: "W", about: "Drag across the skin. Drag a bead to move it; click a line for a point between, drag it off sideways for its width." },
  { id: "fold", name: "Fold", key: "F", about: "Click points of a curve; Enter or a double click ends it, Escape lets it go. Drag a line off sideways for its width." },
  { id: "pins", name: "Pins", key: "P", about: "Brush the vertices that a cloth is held by; with Shift take them away. Falloff holds the rim softly." },
  { id: "mask", name: "Select", key: "M", about: "Brush where the chosen layer acts, softer towards the rim; with Shift take away." },
  { id: "comb", name: "Comb", key: "H", about: "Drag from the scalp along the way the hair shall lie: a guide for the wisps around." },
  { id: "part", name: "Parting", key: "N", about: "Drag over the scalp: hair goes to either side of the stroke." },
  { id: "drop", name: "Drops", key: "D", about: "Click where drops come from." },
  { id: "ball", name: "Collider", key: "C", about: "Drag a ball out of the surface; drag its middle to move it." },
];

/** Points of a fold that is being drawn. */
const curve = [];
export const drawing = signal(false);

/** How near the pointer must be to a bead and to a line [pixels]. */
const NEAR_BEAD = 11;
const NEAR_LINE = 7;

function place(view, event) {
  const box = view.canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** The bead under the pointer. */
function beadAt(view, x, y) {
  let best = null;
  for (const one of places.value) {
    const where = view.whereIs(one);
    if (!where) continue;
    const distance = view.toScreen(where).distanceTo(new Vector3(x, y, 0));
    if (distance < NEAR_BEAD && (!best || distance < best.distance)) best = { place: one, distance };
  }
  return best?.place ?? null;
}

/** The ball whose middle is under the pointer. */
function ballAt(view, x, y) {
  return balls().find(({ ball }) => view.toScreen(new Vector3().fromArray(ball.center)).distanceTo(new Vector3(x, y, 0)) < NEAR_BEAD) ?? null;
}

/** The line of a wrinkle or fold under the pointer: whose it is, and after which of its points. */
function lineAt(view, x, y) {
  if (tool.value !== "wrinkle" && tool.value !== "fold") return null;
  const pointer = new Vector3(x, y, 0);
  for (const line of view.lines) {
    for (let k = 0; k + 1 < line.points.length; k += 1) {
      const [a, b] = [view.toScreen(line.points[k].at), view.toScreen(line.points[k + 1].at)];
      const along = b.clone().sub(a);
      const t = Math.min(1, Math.max(0, pointer.clone().sub(a).dot(along) / (along.lengthSq() || 1)));
      if (a.addScaledVector(along, t).distanceTo(pointer) < NEAR_LINE) {
        return { owner: line.owner, after: k, mesh: line.mesh, ends: [line.points[k].at.clone(), line.points[k + 1].at.clone()], layer: line.layer };
      }
    }
  }
  return null;
}

/** One pointer on the canvas, from press to release. */
export function attach(view) {
  const { canvas } = view;
  let press = null;

  canvas.addEventListener("pointerdown", event => {
    if (event.button !== 0 || tool.value === "look") return;
    const [x, y] = place(view, event);
    const hit = view.hit(x, y);
    const ball = tool.value === "ball" ? ballAt(view, x, y) : null;
    const grabbed = tool.value === "pins" || tool.value === "mask" ? null : beadAt(view, x, y);
    const line = grabbed ? null : lineAt(view, x, y);
    if (!grabbed && !hit && !ball && !line) return;
    view.controls.enabled = false;
    canvas.setPointerCapture(event.pointerId);
    press = { hit, grabbed, line, ball, last: hit, x, y, moved: 0, path: hit ? [hit.point.clone()] : [] };
    if (hit && (tool.value === "pins" || tool.value === "mask")) {
      // Strokes wait for what is selected already.
      const own = press;
      own.brush = trying(() => startBrush(hit, event.shiftKey)).then(brush => { if (brush) stroke(view, brush, hit); return brush; });
    }
  }, { capture: true });

  canvas.addEventListener("pointermove", event => {
    if (!press) return;
    const [x, y] = place(view, event);
    const hit = view.hit(x, y);
    press.last = hit ?? press.last;
    press.moved = Math.max(press.moved, Math.hypot(x - press.x, y - press.y));
    preview(view, press, hit, x, y);
    view.touch();
  });

  canvas.addEventListener("pointerup", async () => {
    if (!press) return;
    const done = press;
    press = null;
    view.controls.enabled = true;
    if (tool.value !== "fold") clearGroup(view.marks);
    view.touch();
    await trying(() => finish(view, done));
  });

  canvas.addEventListener("dblclick", () => { if (tool.value === "fold") trying(() => endFold(view)); });
  effect(() => { tool.value; selectedLayer.value; brushedKey.value; layers.value; if (view.size) untracked(() => trying(() => showChosen(view))); });
  view.painters.add(() => {
    if (!curve.length) return;
    clearGroup(view.marks);
    const where = curve.map(h => view.whereIs({ mesh: h.name, corners: h.corners, weights: h.weights })).filter(Boolean);
    where.forEach(p => addBead(view.marks, p, 0.006 * view.size));
    addPolyline(view.marks, where);
  });
}

/** What is seen while the pointer moves. */
function preview(view, press, hit, x, y) {
  if (press.brush) {
    if (hit) press.brush.then(brush => { if (brush) stroke(view, brush, hit); });
    return;
  }
  clearGroup(view.marks);
  const size = 0.006 * view.size;
  if (press.grabbed || press.line) {
    if (hit) addBead(view.marks, hit.point, size);
  } else if (press.ball) {
    press.to = view.atDepth(x, y, new Vector3().fromArray(press.ball.ball.center));
    addBead(view.marks, press.to, press.ball.ball.radius);
  } else if (tool.value === "comb") {
    const next = combed(view, press, hit, x, y);
    if (next.distanceTo(press.path[press.path.length - 1]) > 0.004 * view.size) press.path.push(next);
    addPolyline(view.marks, press.path);
  } else if ((tool.value === "wrinkle" || tool.value === "part") && hit) {
    addBead(view.marks, press.hit.point, size);
    addBead(view.marks, hit.point, size);
    addPolyline(view.marks, [press.hit.point, hit.point]);
  } else if (tool.value === "ball") {
    press.radius = Math.max(0.01 * view.size, Math.hypot(x - press.x, y - press.y) * view.pixel(press.hit.point));
    addBead(view.marks, press.hit.point, press.radius);
  }
}

async function finish(view, done) {
  if (done.brush) {
    const brush = await done.brush;
    return brush ? endBrush(view, brush) : undefined;
  }
  if (done.ball) return done.to ? moveBall(done.ball.index, done.to) : undefined;
  if (done.grabbed) {
    if (!done.last || done.last.name !== done.grabbed.mesh) return undefined;
    const [[anchor]] = await anchors([done.last]);
    return send([{ set: { path: done.grabbed.path, value: anchor } }], "move a point", null);
  }
  if (done.line) return finishLine(done);
  switch (tool.value) {
    case "wrinkle": return drawWrinkle(view, done.hit, done.last);
    case "comb": return drawGuide(view, done);
    case "part": return drawParting(view, done.hit, done.last);
    case "fold":
      curve.push(done.hit);
      drawing.value = true;
      return view.showFrame();
    case "drop": return drawSource(done.hit);
    case "ball": return addBall(done.hit, done.radius ?? 0.05 * view.size);
    default: return undefined;
  }
}

/** A click on a line makes a point of it; dragged off sideways, it gets that width. */
async function finishLine({ line, last, hit, moved }) {
  const kind = layers.value[line.layer]?.kind;
  if (moved > NEAR_LINE && last) {
    const [a, b] = line.ends;
    const along = b.clone().sub(a).normalize();
    const off = last.point.clone().sub(a);
    const width = off.addScaledVector(along, -off.dot(along)).length();
    return send([{ set: { path: `${line.owner}.width`, value: Number(width.toPrecision(3)) } }], "set the width", null);
  }
  if (!hit) return undefined;
  const [[anchor]] = await anchors([hit]);
  const list = kind === "folds" ? "points" : "through";
  const at = kind === "folds" ? line.after + 1 : line.after;
  const item = list === "points" ? valueOf(line.owner)?.points : valueOf(line.owner)?.through;
  const next = [...(item ?? [])];
  next.splice(at, 0, anchor);
  return send([{ set: { path: `${line.owner}.${list}`, value: next } }], "add a point", null);
}

/** What the text says at a path such as `layers[0].wrinkles.tools[1]`. */
function valueOf(path) {
  const [, layer, rest] = path.match(/^layers\[(\d+)\]\.\w+\.(.*)$/) ?? [];
  let at = layers.value[Number(layer)]?.params;
  for (const step of (rest ?? "").split(/[.[\]]+/).filter(Boolean)) at = at?.[step];
  return at;
}

function endFold(view) {
  const hits = curve.splice(0);
  drawing.value = false;
  clearGroup(view.marks);
  view.touch();
  return drawFold(view, hits);
}

/** Keys that drawing listens to; answers whether one was taken. */
export function drawKey(event, view) {
  if (!drawing.value) return false;
  if (event.key === "Enter") { trying(() => endFold(view)); return true; }
  if (event.key === "Escape") {
    curve.length = 0;
    drawing.value = false;
    clearGroup(view.marks);
    view.touch();
    return true;
  }
  return false;
}

export function chooseTool(id) {
  tool.value = id;
  if (id !== "look") playing.value = false;
}

export function Tools() {
  const chosen = TOOLS.find(t => t.id === tool.value);
  const brushing = tool.value === "pins" || tool.value === "mask";
  const all = tool.value === "mask" ? targets() : [];
  return html`<div class="section">
    <h2>Tools</h2>
    <div class="tools" role="toolbar" aria-label="tools">
      ${TOOLS.map(t => html`<button key=${t.id} data-tool=${t.id} aria-pressed=${tool.value === t.id} title=${`${t.name} (${t.key}): ${t.about}`}
        onClick=${() => chooseTool(t.id)}>${icon(t.id)}${t.name}</button>`)}
      <button aria-pressed=${symmetry.value} id="symmetry" title="Left and right alike (X)" onClick=${() => { symmetry.value = !symmetry.value; }}>${icon("mirror")}Mirror</button>
    </div>
    <p class="faint about">${chosen.about}</p>
    <label class="row slim"><span class="faint">Size</span><input type="range" min="0.005" max="0.3" step="0.001" value=${toolSize.value} aria-label="size of the tool"
      onInput=${e => { toolSize.value = Number(e.target.value); }} /></label>
    <label class="row slim" style=${brushing ? "" : "visibility:hidden"}><span class="faint">Falloff</span><input type="range" min="0" max="1" step="0.01" id="falloff" value=${brushFalloff().value}
      aria-label="falloff of the brush" onInput=${e => { brushFalloff().value = Number(e.target.value); }} /></label>
    <select style=${all.length ? "" : "visibility:hidden"} aria-label="what is brushed" value=${brushedKey.value || all[0]?.path} onChange=${e => { brushedKey.value = e.target.value; }}>
      ${all.map(t => html`<option value=${t.path}>${t.name}</option>`)}</select>
  </div>`;
}
