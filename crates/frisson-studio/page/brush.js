// Pins and selections by brush: a weight for every vertex, falling off towards the rim.
import { Vector3, signal } from "./third-party.js";
import { getBytes } from "./api.js";
import { layerFor, mirrorOf } from "./anchors.js";
import { send } from "./controls.js";
import { brushFalloff, layers, remote, say, selectedLayer, symmetry, tool, toolSize } from "./state.js";

/** Parameters that select vertices of the mesh that a layer is on. */
const KEYS = { flesh: ["mask", "selection"], hair: ["scalp"], cloth: ["pins", "soft_pins"], wrinkles: [], folds: [], drops: [], soft: [] };
/** Parameters that take whole vertices only, each with the one that takes what is half brushed. */
const SOFTER = { pins: "soft_pins" };

/** Which of the chosen layer's selections is brushed. */
export const brushedKey = signal("");

/** Everything of the chosen layer that can be brushed: key, path, name. */
export function targets() {
  const layer = layers.value[selectedLayer.value];
  if (!layer) return [];
  const own = KEYS[layer.kind].map(key => ({ layer, key, path: `${layer.path}.${key}`, name: key, value: layer.params[key] }));
  const lists = { wrinkles: ["tools", "mask"], folds: ["folds", "mask"], drops: ["ground", "select"], cloth: ["regions", "vertices"] }[layer.kind];
  if (lists) {
    const [list, key] = lists;
    (layer.params[list] ?? []).forEach((item, k) => own.push({
      layer, key, path: `${layer.path}.${list}[${k}].${key}`, name: `${key} of ${item.name ?? `${list} ${k + 1}`}`, value: item[key],
    }));
  }
  return own;
}

/** Where the brush writes to: pins of a cloth, or a selection of the chosen layer. */
function target(mesh) {
  if (tool.value === "pins") {
    const layer = layerFor("cloth", mesh);
    return layer && { layer, key: "pins", path: `${layer.path}.pins`, value: layer.params.pins };
  }
  const all = targets().filter(t => [].concat(t.layer.params.on).includes(mesh));
  return all.find(t => t.path === brushedKey.value) ?? all[0];
}

/** Weight of a place at a share of the brush's radius: whole in the middle, none at the rim. */
export function falloff(share, soft) {
  if (share >= 1) return 0;
  const inner = 1 - soft;
  if (share <= inner) return 1;
  const t = 1 - (share - inner) / soft;
  return t * t * (3 - 2 * t);
}

/** The parameter of the same layer that takes what a stroke leaves half brushed. */
const softerPath = aim => SOFTER[aim.key] && `${aim.layer.path}.${SOFTER[aim.key]}`;

/** What is selected now, vertex by vertex. */
async function present(aim, count) {
  const weights = new Float32Array(count);
  for (const path of [aim.path, softerPath(aim)].filter(Boolean)) {
    try {
      new Uint8Array(await getBytes(`chosen?path=${encodeURIComponent(path)}`)).forEach((w, v) => { weights[v] = Math.max(weights[v], w / 255); });
    } catch { /* nothing is selected yet */ }
  }
  return weights;
}

/** Begins a stroke; answers with it, or with nothing where nothing can be brushed. */
export async function startBrush(hit, remove) {
  const aim = target(hit.name);
  if (!aim) {
    say(tool.value === "pins" ? "pins hold a cloth: add a cloth layer on this mesh first" : "choose a flesh, hair, cloth, wrinkles or folds layer of this mesh first", "bad");
    return null;
  }
  const count = hit.mesh.topology.head.own_vertices;
  const [weights, mirror] = await Promise.all([
    present(aim, count), symmetry.value ? mirrorOf(hit.name, `${remote.value.opened}/${remote.value.engine.take}`) : null,
  ]);
  return { aim, name: hit.name, weights, before: weights.slice(), mirror, remove };
}

/** Brushes around a place. */
export function stroke(view, brush, hit) {
  if (hit.name !== brush.name) return;
  const radius = 0.5 * toolSize.value * view.size;
  const soft = brushFalloff().value;
  const p = new Vector3();
  const put = (v, w) => {
    brush.weights[v] = brush.remove ? Math.min(brush.weights[v], 1 - w) : Math.max(brush.weights[v], w);
  };
  for (let v = 0; v < brush.weights.length; v += 1) {
    const w = falloff(hit.mesh.vertex(v, p).distanceTo(hit.point) / radius, soft);
    if (w > 0) {
      put(v, w);
      if (brush.mirror) put(brush.mirror[v], w);
    }
  }
  show(view, hit.mesh, brush.weights);
}

/** Colours a mesh by weights. */
function show(view, mesh, weights) {
  const whole = new Float32Array(mesh.shape.count);
  whole.set(weights.subarray(0, Math.min(weights.length, whole.length)));
  view.covered = new Map([[mesh.shape.name, whole]]);
  view.showFrame();
}

/** Vertices whose weight is wanted, as the text gives them. */
function selection(weights, wanted) {
  const vertices = [];
  const shares = [];
  weights.forEach((w, v) => {
    const tidy = Math.round(100 * w) / 100;
    if (wanted(tidy)) { vertices.push(v); shares.push(tidy); }
  });
  return shares.every(w => w === 1) ? { vertices } : { vertices, weights: shares };
}

/** What a stroke changes in the text. */
function edits(brush) {
  const softer = softerPath(brush.aim);
  if (!softer) return [{ set: { path: brush.aim.path, value: selection(brush.weights, w => w > 0) } }];
  const half = selection(brush.weights, w => w > 0 && w < 1);
  const found = [{ set: { path: brush.aim.path, value: selection(brush.weights, w => w === 1) } }];
  if (half.vertices.length) found.push({ set: { path: softer, value: half } });
  else if (brush.aim.layer.params[SOFTER[brush.aim.key]]) found.push({ remove: { path: softer } });
  return found;
}

/** Ends a stroke: what is selected goes into the text. */
export async function endBrush(view, brush) {
  const done = edits(brush);
  await send(done, `brush ${brush.aim.key}`, null);
  const count = done.reduce((sum, e) => sum + (e.set?.value.vertices.length ?? 0), 0);
  say(`${brush.aim.key}: ${count} vertices`);
  await showChosen(view);
}

/** Colours what the brush would change, while it is in the hand. */
export async function showChosen(view) {
  const brushing = tool.value === "pins" || tool.value === "mask";
  const layer = tool.value === "pins" ? layers.value.find(l => l.kind === "cloth") : layers.value[selectedLayer.value];
  const mesh = brushing && layer ? view.left.mesh([].concat(layer.params.on)[0]) : null;
  const aim = mesh && target(mesh.shape.name);
  if (!aim) {
    if (view.covered) { view.covered = null; view.showFrame(); }
    return;
  }
  show(view, mesh, await present(aim, mesh.topology.head.own_vertices));
}
