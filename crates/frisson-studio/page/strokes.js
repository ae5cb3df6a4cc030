// Lines on the model: wrinkles, folds, guides of hair, partings.
import { addToLayer, anchors, freshName, layerFor, relocated, round } from "./anchors.js";
import { say, toolSize } from "./state.js";

/** A wrinkle from one place to another. */
export async function drawWrinkle(view, from, to) {
  if (from.name !== to.name) { say("a wrinkle lies on one mesh", "bad"); return; }
  if (from.point.distanceTo(to.point) < 1e-3 * view.size) { say("drag from one end of the wrinkle to the other", "bad"); return; }
  const taken = (layerFor("wrinkles", from.name)?.params.tools ?? []).map(t => t.name);
  const sets = await anchors([from, to]);
  const items = sets.map(([a, b]) => {
    const name = freshName("line", taken);
    taken.push(name);
    return { name, a, b, width: round(toolSize.value * view.size) };
  });
  await addToLayer("wrinkles", from.name, "tools", items, "draw a wrinkle");
  say("a wrinkle was drawn: it folds where the animation compresses it");
}

/** A fold through places. */
export async function drawFold(view, hits) {
  if (hits.length < 2) return;
  if (hits.some(h => h.name !== hits[0].name)) { say("a fold lies on one mesh", "bad"); return; }
  const taken = (layerFor("folds", hits[0].name)?.params.folds ?? []).map(f => f.name);
  const width = toolSize.value * view.size;
  const sets = await anchors(hits);
  const items = sets.map(points => {
    const name = freshName("fold", taken);
    taken.push(name);
    return { name, points, amplitude: round(0.35 * width), width: round(width) };
  });
  // Wrinkles ride on a fold, not the other way round: lifted along the normals of wrinkled skin a fold would be all pits.
  await addToLayer("folds", hits[0].name, "folds", items, "draw a fold", "wrinkles");
  say("a fold was drawn");
}

/** Points along a guide. */
const GUIDE_POINTS = 10;

/** As many points as are asked for, evenly along a polyline. */
export function resample(points, count) {
  const lengths = [0];
  for (let k = 1; k < points.length; k += 1) lengths.push(lengths[k - 1] + points[k].distanceTo(points[k - 1]));
  const whole = lengths[lengths.length - 1];
  const out = [];
  for (let k = 0, at = 0; k < count; k += 1) {
    const wanted = whole * k / (count - 1);
    while (at + 2 < points.length && lengths[at + 1] < wanted) at += 1;
    const span = lengths[at + 1] - lengths[at] || 1;
    out.push(points[at].clone().lerp(points[at + 1], Math.min(1, Math.max(0, (wanted - lengths[at]) / span))));
  }
  return out;
}

/** Height above the skin at which a combing stroke lays hair, beside the scene's size. */
const LAID = 0.006;

/** The next point of a combing stroke: on the skin, a little above it; beside it, at the depth of the one before. */
export function combed(view, press, hit, x, y) {
  if (hit && hit.mesh === press.hit.mesh) return hit.point.clone().addScaledVector(hit.normal, LAID * view.size);
  return view.atDepth(x, y, press.path[press.path.length - 1]);
}

/** A guide from the skin along a stroke. */
export async function drawGuide(view, press) {
  if (press.path.length < 2) { say("drag from a root in the direction in which the hair shall lie", "bad"); return; }
  const sets = await relocated(press.hit, resample(press.path, GUIDE_POINTS));
  const items = sets.map(points => points.map(p => p.map(x => round(x))));
  const had = layerFor("hair", press.hit.name);
  await addToLayer("hair", press.hit.name, "style.guides", items, "comb a guide");
  say(had ? "combed: wisps rooted nearby follow the stroke" : "a layer of hair was added, with this guide");
}

/** A parting along a stroke over the scalp: hair goes to either side of it. */
export async function drawParting(view, from, to) {
  if (from.name !== to.name || from.point.distanceTo(to.point) < 1e-3 * view.size) {
    say("drag along the parting, over the scalp", "bad");
    return;
  }
  const middle = from.point.clone().lerp(to.point, 0.5);
  const up = from.normal.clone().add(to.normal).normalize();
  const across = to.point.clone().sub(from.point).cross(up).normalize();
  const sets = await relocated(from, [middle, middle.clone().add(across)]);
  const fields = sets.map(([point, beside]) => ({
    parting: { point: point.map(x => round(x)), normal: beside.map((x, k) => round(x - point[k], 3)), strength: 9, to: 1.2 },
  }));
  await addToLayer("hair", from.name, "style.fields", fields, "draw a parting");
  say("a parting was drawn");
}
