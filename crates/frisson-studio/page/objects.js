// Things put on or beside the model: sources of drops, balls to bump into.
import { addToLayer, anchors, freshName, round } from "./anchors.js";
import { send } from "./controls.js";
import { doc, say, selectedLayer, symmetry } from "./state.js";

/** Where drops come from. */
export async function drawSource(hit) {
  const sets = await anchors([hit]);
  const sources = sets.map(([at]) => ({ single: { at, mass: 2e-5, count: 8, every: 15 } }));
  await addToLayer("drops", hit.name, "sources", sources, "add a source of drops", { liquid: { preset: "water" } });
  say("drops will come from there");
}

/** A ball that layers bump into. */
export async function addBall(hit, radius) {
  const names = (doc.value?.scene?.colliders ?? []).map(c => c.name);
  const centres = [hit.point.toArray()];
  if (symmetry.value) centres.push([-centres[0][0], centres[0][1], centres[0][2]]);
  const edits = centres.map(centre => {
    const name = freshName("ball", names);
    names.push(name);
    const shape = { sphere: { center: centre.map(x => round(x)), radius: round(radius) } };
    return { append: { path: "colliders", value: { name, shape, color: [0.35, 0.45, 0.65] } } };
  });
  await send(edits, "add a collider", null);
  selectedLayer.value = -1;
  say("a ball was added: layers that look at colliders bump into it");
}

/** Balls that stand still, by number: those can be taken and dragged. */
export function balls() {
  const all = (doc.value?.scene?.colliders ?? []).map((collider, index) => ({ collider, index, ball: collider.shape?.sphere }));
  return all.filter(({ collider, ball }) => ball && !collider.joint && !collider.actor && !(collider.path?.length));
}

/** Puts a ball elsewhere. */
export function moveBall(index, to) {
  return send([{ set: { path: `colliders[${index}].shape.sphere.center`, value: to.toArray().map(x => round(x)) } }], "move a collider", null);
}
