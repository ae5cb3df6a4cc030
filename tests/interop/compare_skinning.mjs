// Compares our skinned positions with three.js, for every glTF file of a folder: all clips, at keys
// and between them. three.js plays rotations as the format says (shortest arc), so it is the
// reference between keys; compare_skinning.py does the same with Blender at the keys.
//
//   node compare_skinning.mjs DUMP_POSITIONS FOLDER [TOLERANCE]
//
// DUMP_POSITIONS is the program built by `cargo build --release --example dump_positions`. The npm
// package `three` must be found from the current folder.

import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.cwd(), 'here.js'));
const load = (path) => import(pathToFileURL(path));
globalThis.self = globalThis;
// three.js reports progress on data URIs with an event that node lacks.
globalThis.ProgressEvent ??= class extends Event {};
const THREE = await load(join(dirname(require.resolve('three')), 'three.module.js'));
const { GLTFLoader } = await load(require.resolve('three/examples/jsm/loaders/GLTFLoader.js'));

const [dump, folder, tolerance = '1e-4'] = process.argv.slice(2);
if (!folder) {
  console.error('usage: compare_skinning.mjs DUMP_POSITIONS FOLDER [TOLERANCE]');
  process.exit(2);
}

const quiet = () => {};
console.warn = quiet;
const complain = console.error;

async function parse(path) {
  const bytes = readFileSync(path);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  console.error = quiet; // textures cannot be decoded here
  const gltf = await new GLTFLoader().parseAsync(data, '');
  console.error = complain;
  return gltf;
}

// World positions of a mesh object, as the graphics card would make them.
function worldPositions(mesh, out) {
  const vertex = new THREE.Vector3();
  for (let i = 0; i < mesh.geometry.attributes.position.count; i++) {
    mesh.getVertexPosition(i, vertex).applyMatrix4(mesh.matrixWorld);
    out.push(vertex.x, vertex.y, vertex.z);
  }
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
    let action = null;
    if (clip !== 'rest') {
      action = mixer.clipAction(gltf.animations[Number(clip)]);
      action.clampWhenFinished = true;
      action.setLoop(THREE.LoopOnce);
      action.play();
    }
    let at = 0;
    for (const time of times) {
      if (action) {
        action.paused = false;
        action.enabled = true;
        mixer.setTime(time);
      }
      // three.js plays keys that are not of length 1 as they are, and scales by them.
      gltf.scene.traverse((o) => o.quaternion.normalize());
      gltf.scene.updateMatrixWorld(true);
      gltf.scene.traverse((o) => o.isSkinnedMesh && o.skeleton.update());
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
