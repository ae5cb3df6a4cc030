// A GLB that keeps its rig alive, in three.js: its clips still mean what they meant, its own animation is the bake.
//
//   node check_living.mjs ORIGINAL.glb LIVING.glb BAKED.glb [TOLERANCE]
//
// BAKED is the same shot as plain morph targets. Clips are played one after the other in the same scene, so that what
// one leaves behind is seen in the next.

import { THREE, goTo, parse, play, worldPositions } from './three_scene.mjs';

const [original, living, baked, tolerance = '1e-4'] = process.argv.slice(2);
if (!baked) {
  console.error('usage: check_living.mjs ORIGINAL.glb LIVING.glb BAKED.glb [TOLERANCE]');
  process.exit(2);
}

class Played {
  constructor(gltf) {
    this.gltf = gltf;
    this.mixer = new THREE.AnimationMixer(gltf.scene);
  }
  // Vertices at a time of a clip, mesh by mesh in the order of the scene.
  at(clip, time) {
    goTo(this.gltf, this.mixer, play(this.mixer, clip), time);
    const meshes = [];
    this.gltf.scene.traverse((o) => {
      if (!o.isMesh) return;
      const points = [];
      worldPositions(o, points);
      meshes.push(points);
    });
    return meshes;
  }
}

function size(points) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  points.flat().forEach((v, k) => {
    low[k % 3] = Math.min(low[k % 3], v);
    high[k % 3] = Math.max(high[k % 3], v);
  });
  return Math.hypot(...high.map((h, k) => h - low[k]));
}

// Largest difference of any coordinate; meshes with other vertices are as far apart as can be.
function apart(a, b) {
  if (a.length !== b.length) return Infinity;
  let worst = 0;
  a.forEach((points, k) => {
    if (points.length !== b[k].length) worst = Infinity;
    points.forEach((v, i) => (worst = Math.max(worst, Math.abs(v - b[k][i]))));
  });
  return worst;
}

const [before, after, truth] = [await parse(original), await parse(living), await parse(baked)].map((g) => new Played(g));
const clips = before.gltf.animations;
// Ours is the first.
const kept = after.gltf.animations.slice(1);
const shot = after.gltf.animations[0];
let [worst, off] = [kept.length === clips.length ? 0 : Infinity, 0];
const whole = size(before.at(clips[0], 0));
clips.forEach((clip, index) => {
  // The bake in between: what it leaves behind must not be seen.
  after.at(shot, shot.duration / 2);
  for (const part of [0, 0.31, 0.5, 0.83]) {
    const time = part * clip.duration;
    worst = Math.max(worst, apart(before.at(clip, time), after.at(kept[index], time)) / whole);
  }
});
// What the layers changed is where it is in the plain bake; its scene may be of another size.
const scale = size(truth.at(truth.gltf.animations[0], 0)) / size(after.at(shot, 0));
for (const part of [0, 0.25, 0.5, 0.75, 1]) {
  const time = part * shot.duration;
  const [shown, wanted] = [after.at(shot, time), truth.at(truth.gltf.animations[0], time)];
  // The two files may order their meshes otherwise.
  const order = (meshes) => meshes.slice().sort((a, b) => a.length - b.length || a[0] - b[0]);
  const scaled = order(shown.map((points) => points.map((v) => v * scale)));
  off = Math.max(off, apart(scaled, order(wanted)) / (whole * scale));
}
const skins = [];
after.gltf.scene.traverse((o) => o.isSkinnedMesh && skins.push(o.name));
const fine = Math.max(worst, off) <= Number(tolerance);
console.log(
  `${fine ? 'ok     ' : 'DIFFERS'} ${living}: ${skins.length} skinned meshes, ${clips.length} clips as they were ` +
    `(${worst.toExponential(1)} of the size), the bake (${off.toExponential(1)})`,
);
process.exit(fine ? 0 : 1);
