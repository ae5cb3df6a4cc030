// Pins and selections by brush: a weight for every vertex, falling off towards the rim.
import { Vector3, signal } from "./third-party.js";
import { getBytes } from "./api.js";
import { layerFor, mirrorOf } from "./anchors.js";
import { send } from "./controls.js";
import { layers, remote, say, selectedLayer, symmetry, tool, toolFalloff, toolSize } from "./state.js";

/** Parameters that select vertices of the mesh that a layer is on. */
const KEYS = { flesh: ["mask", "selection"], hair: ["scalp"], cloth: ["pins"], wrinkles: [], folds: [], drops: [], soft: [] };
/** Parameters that take whole vertices only. */
const HARD = ["pins"];

/** Which of the chosen layer's selections is brushed. */
export const brushedKey = signal("");

/** Everything of the chosen layer that can be brushed: key, path, name. */
export function targets() {
  const layer = layers.value[selectedLayer.value];
  if (!layer) return [];
  const own = KEYS[layer.kind].map(key => ({ layer, key, path: `${layer.path}.${key}`, name: key, value: layer.params[key] }));
  const lists = { wrinkles: ["tools", "mask"], folds: ["folds", "mask"], drops: ["ground", "select"] }[layer.kind];
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

/** What is selected now, vertex by vertex. */
async function present(aim, count) {
  const weights = new Float32Array(count);
  try {
    new Uint8Array(await getBytes(`chosen?path=${encodeURIComponent(aim.path)}`)).forEach((w, v) => { weights[v] = w / 255; });
  } catch { /* nothing is selected yet */ }
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
  const soft = HARD.includes(brush.aim.key) ? 0 : toolFalloff.value;
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

/** Ends a stroke: what is selected goes into the text. */
export async function endBrush(view, brush) {
  const vertices = [];
  const weights = [];
  brush.weights.forEach((w, v) => {
    const tidy = Math.round(100 * w) / 100;
    if (tidy > 0) { vertices.push(v); weights.push(tidy); }
  });
  const value = weights.every(w => w === 1) ? { vertices } : { vertices, weights };
  await send([{ set: { path: brush.aim.path, value } }], `brush ${brush.aim.key}`, null);
  say(`${brush.aim.key}: ${vertices.length} vertices`);
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
