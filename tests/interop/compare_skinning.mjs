// Compares our skinned positions with three.js, for every glTF file of a folder: all clips, at keys
// and between them. three.js plays rotations as the format says (shortest arc), so it is the
// reference between keys; compare_skinning.py does the same with Blender at the keys.
//
//   node compare_skinning.mjs DUMP_POSITIONS FOLDER [TOLERANCE]
//
// DUMP_POSITIONS is the program built by `cargo build --release --example dump_positions`. The npm
// package `three` must be found from the current folder.

import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { THREE, complain, goTo, parse, play, worldPositions } from './three_scene.mjs';

const [dump, folder, tolerance = '1e-4'] = process.argv.slice(2);
if (!folder) {
  console.error('usage: compare_skinning.mjs DUMP_POSITIONS FOLDER [TOLERANCE]');
  process.exit(2);
}

// The objects of each of our meshes: one per primitive.
function objectsOf(gltf, meshes) {
  const byNode = new Map();
  const fallbackNode = new Map();
  gltf.parser.associations.forEach((where, object) => {
    if (where?.nodes !== undefined) fallbackNode.set(object, where.nodes);
  });
  gltf.scene.traverse((object) => {
    if (!object.isMesh) return;
    const node = fallbackNode.get(object) ?? fallbackNode.get(object.parent);
    if (!byNode.has(node)) byNode.set(node, []);
    byNode.get(node).push(object);
  });
  return meshes.map((mesh) => byNode.get(mesh.node) ?? []);
}

function sampleTimes(clip) {
  const keys = clip.key_times;
  const times = new Set([0, clip.duration, clip.duration * 0.37, clip.duration * 0.81]);
  for (const fraction of [0.1, 0.33, 0.5, 0.77]) {
    const k = Math.floor(fraction * (keys.length - 1));
    times.add(keys[k]);
    if (k + 1 < keys.length) times.add(0.5 * (keys[k] + keys[k + 1]));
  }
  return [...times].sort((a, b) => a - b);
}

let failed = false;
for (const name of readdirSync(folder).filter((n) => /\.(glb|gltf)$/.test(n)).sort()) {
  const path = join(folder, name);
  const about = JSON.parse(execFileSync(dump, [path], { stdio: ['ignore', 'pipe', 'ignore'] }));
  const gltf = await parse(path);
  const objects = objectsOf(gltf, about.meshes);
  const mixer = new THREE.AnimationMixer(gltf.scene);
  let worst = 0;
  let size = 0;
  let compared = 0;
  const runs = about.clips.map((clip, index) => [String(index), sampleTimes(clip)]);
  runs.unshift(['rest', [0]]);
  for (const [clip, times] of runs) {
    const bytes = execFileSync(dump, [path, clip, ...times.map(String)], {
      maxBuffer: 1 << 30,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ours = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    mixer.stopAllAction();
    const action = clip === 'rest' ? null : play(mixer, gltf.animations[Number(clip)]);
    let at = 0;
    for (const time of times) {
      goTo(gltf, mixer, action, time);
      const theirs = [];
      objects.forEach((list) => list.forEach((object) => worldPositions(object, theirs)));
      const low = [Infinity, Infinity, Infinity];
      const high = [-Infinity, -Infinity, -Infinity];
      theirs.forEach((value, k) => {
        low[k % 3] = Math.min(low[k % 3], value);
        high[k % 3] = Math.max(high[k % 3], value);
      });
      size = Math.max(size, Math.hypot(...high.map((h, k) => h - low[k])));
      if (at + theirs.length > ours.length) {
        complain(`${name}: ${theirs.length / 3} vertices there, fewer here`);
        failed = true;
        break;
      }
      for (let k = 0; k < theirs.length; k++) {
        worst = Math.max(worst, Math.abs(theirs[k] - ours[at + k]));
      }
      at += theirs.length;
      compared++;
    }
    if (at !== ours.length) {
      complain(`${name}: clip ${clip}: ${ours.length / 3} vertices here, ${at / 3} there`);
      failed = true;
    }
  }
  const relative = worst / size;
  const word = relative <= Number(tolerance) ? 'ok' : 'DIFFERS';
  failed ||= word !== 'ok';
  console.log(
    `${word.padEnd(8)}${name.padEnd(28)} ${about.clips.length} clips, ${compared} poses, ` +
      `largest difference ${relative.toExponential(1)} of the size ${size.toPrecision(4)}`,
  );
}
process.exit(failed ? 1 : 0);
