// Where what is drawn sticks to: places on the actors' own meshes, and the layer that gets it.
import { getBytes, post } from "./api.js";
import { doc, layers, selectedLayer, symmetry } from "./state.js";
import { send } from "./controls.js";

/** The layer of a kind on a mesh: the chosen one first. */
export function layerFor(kind, mesh) {
  const is_on = l => l.kind === kind && [].concat(l.params.on).includes(mesh);
  const chosen = layers.value[selectedLayer.value];
  return chosen && is_on(chosen) ? chosen : layers.value.find(is_on);
}

const mirrored = p => [-p[0], p[1], p[2]];

/** Where something that was hit is on the actor's own mesh, and its mirror image where that is asked for. */
export async function anchors(hits) {
  const own = await Promise.all(hits.map(h => post("anchor", { mesh: h.name, corners: h.corners, weights: h.weights })));
  const sets = [own];
  if (symmetry.value) {
    sets.push(await Promise.all(own.map((x, k) => post("anchor", { mesh: hits[k].name, position: mirrored(x.position) }))));
  }
  return sets.map(set => set.map(({ triangle, weights }) => ({ triangle, weights })));
}

/** Places beside a hit, in the reference pose, and their mirror images where those are asked for. */
export async function relocated(hit, points) {
  const now = hit.corners.map(v => hit.mesh.vertex(v).toArray());
  const { points: own } = await post("relocate", { mesh: hit.name, corners: hit.corners, now, points: points.map(p => p.toArray()) });
  return symmetry.value ? [own, own.map(mirrored)] : [own];
}

const mirrors = new Map();
/** For each vertex of a mesh the one on its other side. */
export async function mirrorOf(mesh, key) {
  const name = `${key}/${mesh}`;
  if (!mirrors.has(name)) {
    mirrors.clear();
    mirrors.set(name, new Uint32Array(await getBytes(`mirror?mesh=${encodeURIComponent(mesh)}`)));
  }
  return mirrors.get(name);
}

export function freshName(base, taken) {
  for (let k = 1; ; k += 1) {
    const name = k === 1 ? base : `${base}_${k}`;
    if (!taken.includes(name)) return name;
  }
}

export const layerNames = () => [...layers.value.map(l => l.params.name), ...(doc.value?.off ?? []).map(l => l.name)];

/** Adds things to a list of the layer of a kind on a mesh; makes the layer where there is none, below the first layer of
 *  another kind on that mesh where it is asked for. */
export async function addToLayer(kind, mesh, list, items, label, below = null) {
  const layer = layerFor(kind, mesh);
  const over = layer || !below ? null : layers.value.find(l => l.kind === below && [].concat(l.params.on).includes(mesh));
  const index = (layer ?? over)?.index ?? layers.value.length;
  const [outer, inner] = list.split(".");
  const lists = inner ? { [outer]: { [inner]: items } } : { [list]: items };
  const value = { [kind]: { name: freshName(kind, layerNames()), on: mesh, ...lists } };
  const edits = layer ? items.map(item => ({ append: { path: `${layer.path}.${list}`, value: item } }))
    : [over ? { insert: { path: `layers[${over.index}]`, value } } : { append: { path: "layers", value } }];
  const done = await send(edits, label, null);
  selectedLayer.value = index;
  return done;
}

export const round = (v, digits = 4) => Number(v.toFixed(digits));
