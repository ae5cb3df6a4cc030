// glTF files in three.js without a screen: parsed, played, and where their vertices are then.
//
// The npm package `three` must be found from the current folder.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.cwd(), 'here.js'));
const load = (path) => import(pathToFileURL(path));
globalThis.self = globalThis;
// three.js reports progress on data URIs with an event that node lacks.
globalThis.ProgressEvent ??= class extends Event {};
export const THREE = await load(join(dirname(require.resolve('three')), 'three.module.js'));
const { GLTFLoader } = await load(require.resolve('three/examples/jsm/loaders/GLTFLoader.js'));

const quiet = () => {};
console.warn = quiet;
export const complain = console.error;

export async function parse(path) {
  const bytes = readFileSync(path);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  console.error = quiet; // textures cannot be decoded here
  const gltf = await new GLTFLoader().parseAsync(data, '');
  console.error = complain;
  return gltf;
}

// Plays one clip from its start, once.
export function play(mixer, clip) {
  mixer.stopAllAction();
  const action = mixer.clipAction(clip);
  action.clampWhenFinished = true;
  action.setLoop(THREE.LoopOnce);
  action.play();
  return action;
}

// Brings a scene to a time of what it plays.
export function goTo(gltf, mixer, action, time) {
  if (action) {
    action.paused = false;
    action.enabled = true;
    mixer.setTime(time);
  }
  // three.js plays keys that are not of length 1 as they are, and scales by them.
  gltf.scene.traverse((o) => o.quaternion.normalize());
  gltf.scene.updateMatrixWorld(true);
  gltf.scene.traverse((o) => o.isSkinnedMesh && o.skeleton.update());
}

// World positions of a mesh object, as the graphics card would make them.
export function worldPositions(mesh, out) {
  const vertex = new THREE.Vector3();
  for (let i = 0; i < mesh.geometry.attributes.position.count; i++) {
    mesh.getVertexPosition(i, vertex).applyMatrix4(mesh.matrixWorld);
    out.push(vertex.x, vertex.y, vertex.z);
  }
}
