// Where the picture is seen from: camera, ground and light fit the scene.
import { BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, Vector3 } from "./third-party.js";
import { engine, layers, options, places, remote, selectedLayer } from "./state.js";

/** Cells of the ground from its middle to its rim. */
const CELLS = 18;

/** Lines of a ground that fades out towards its rim: far lines would lie so close that they flicker. */
function ground(cell) {
  const places = [];
  const colours = [];
  const put = (x, z) => {
    const fade = Math.max(0, 1 - Math.hypot(x, z) / CELLS);
    places.push(x * cell, 0, z * cell);
    colours.push(1, 1, 1, fade * fade);
  };
  for (let line = -CELLS; line <= CELLS; line += 1) {
    for (let at = -CELLS; at < CELLS; at += 1) {
      put(line, at);
      put(line, at + 1);
      put(at, line);
      put(at + 1, line);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(places), 3));
  geometry.setAttribute("color", new BufferAttribute(new Float32Array(colours), 4));
  return new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, transparent: true, opacity: 0.5, depthWrite: false }));
}

/** The cell nearest to a sixth of a size, of 1, 2 or 5 times a power of ten. */
function cellOf(size) {
  const power = 10 ** Math.floor(Math.log10(size / 6));
  return [1, 2, 5, 10].map(k => k * power).find(cell => cell >= size / 7);
}

/** A subject whose middle is farther from that of the picture is about to leave it, beside the scene's size. */
const LEAVING = 0.3;

/** The ground lies so far below the lowest point, beside the scene's size: a sheet on it would flicker. */
const BELOW = 2e-3;

/** Whether the scene's camera names a shape in a list, or the beginning of its name. */
const isNamed = (list, name) => (list ?? []).some(one => name.startsWith(one));

/** Whether a shape is left out of the picture by the scene's camera. */
export const isHidden = name => isNamed(remote.value?.camera?.hide, name);

/** What the ground lies under and the camera goes along with: all but drops, which fly off. */
function isBody(name) {
  const drops = (engine.value?.layers ?? []).filter(([kind]) => kind === "drops").map(([, own]) => own);
  return !isHidden(name) && !drops.some(own => name === own || name.startsWith(`${own}.`) || name.startsWith(`${own}/`));
}

/** What the scene's camera frames: what it names, or all bodies. */
function isFramed(name) {
  const wanted = remote.value?.camera?.frame_on ?? [];
  return wanted.length ? isNamed(wanted, name) : isBody(name);
}

const every = () => true;

/** Methods of the view. */
export const standpoint = {
  /** The box around shapes, all of them unless some are asked for. */
  bounds(wanted = every) {
    const low = new Vector3(Infinity, Infinity, Infinity);
    const high = new Vector3(-Infinity, -Infinity, -Infinity);
    const p = new Vector3();
    for (const [key, shape] of this.left.shapes) {
      const head = shape.shape;
      if (!head || head.count === 0 || head.topology === undefined || !wanted(key.slice(key.indexOf("/") + 1))) continue;
      const array = shape.object.geometry.attributes.position.array;
      const k = head.cube[3] / 65535;
      const stride = 3 * Math.max(1, Math.floor(head.count / 4000));
      for (let i = 0; i + 2 < array.length; i += stride) {
        p.set(head.cube[0] + array[i] * k, head.cube[1] + array[i + 1] * k, head.cube[2] + array[i + 2] * k);
        low.min(p);
        high.max(p);
      }
    }
    if (low.x <= high.x) return { low, high };
    // Nothing of that kind: all that is there, or a place for it.
    return wanted === every ? { low: new Vector3(-1, 0, -1), high: new Vector3(1, 1, 1) } : this.bounds();
  },

  /** A scene that was not seen before: ground, light and camera fit it. */
  meet() {
    this.opened = remote.value?.opened;
    this.isBare = this.left.shapes.size === 0;
    this.pace.forget();
    const { low, high } = this.bounds(isBody);
    const size = high.distanceTo(low) || 1;
    const middle = low.clone().add(high).multiplyScalar(0.5);
    this.size = size;
    this.ground = remote.value?.camera?.ground ?? low.y - BELOW * size;
    this.hasGround = !remote.value?.camera?.no_ground;
    if (this.grid) { this.scene.remove(this.grid); this.grid.geometry.dispose(); this.grid.material.dispose(); }
    this.cell = cellOf(size);
    this.grid = ground(this.cell);
    this.layGrid(middle);
    this.floor.position.set(middle.x, this.ground, middle.z);
    this.floor.scale.setScalar(20 * size);
    this.scene.add(this.grid);
    this.sun.position.copy(middle).add(new Vector3(0.45, 0.95, 0.55).multiplyScalar(2 * size));
    this.sun.target.position.copy(middle);
    Object.assign(this.sun.shadow.camera, { left: -1.4 * size, right: 1.4 * size, top: 1.4 * size, bottom: -1.4 * size, near: 0.1 * size, far: 5 * size });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * size;
    this.camera.near = 0.005 * size;
    this.camera.far = 60 * size;
    this.middle = null;
    options.value = { ...options.value, follow: remote.value?.camera?.follow ?? false, colour: "" };
    this.lookAsScene();
    this.repaint();
  },

  /** The grid lies below the subject wherever it goes; by whole cells, so that it is seen to stand. */
  layGrid(middle) {
    const snapped = value => Math.round(value / this.cell) * this.cell;
    this.grid.position.set(snapped(middle.x), this.ground, snapped(middle.z));
  },

  /** The camera of the scene file, or one that sees everything. */
  lookAsScene() {
    this.isMovedByHand = false;
    const own = remote.value?.camera ?? {};
    this.camera.fov = own.fov_deg ?? 28;
    if (own.eye && own.target) {
      this.camera.position.fromArray(own.eye);
      this.controls.target.fromArray(own.target);
    } else {
      this.aim((own.yaw_deg ?? 28) * Math.PI / 180, (own.pitch_deg ?? 12) * Math.PI / 180, isFramed);
    }
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.touch();
  },

  aim(yaw, pitch, wanted = isBody) {
    const { low, high } = this.bounds(wanted);
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const narrow = Math.min(1, this.camera.aspect);
    const distance = 0.56 * high.distanceTo(low) / Math.tan(this.camera.fov * Math.PI / 360) / narrow;
    this.controls.target.copy(middle);
    this.camera.position.set(Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch))
      .multiplyScalar(distance).add(middle);
  },

  /** Everything in view, from the side it is seen from now. */
  frameAll() {
    const toward = this.camera.position.clone().sub(this.controls.target).normalize();
    this.aim(Math.atan2(toward.x, toward.z), Math.asin(Math.min(1, Math.max(-1, toward.y))));
    this.controls.update();
    this.touch();
  },

  /** The chosen layer in view: the points it names, else what it adds, else the mesh it is on. */
  frameChosen() {
    const layer = layers.value[selectedLayer.value];
    if (!layer) return this.frameAll();
    const { name, on } = layer.params;
    const own = places.value.filter(p => p.layer === layer.index).map(p => this.whereIs(p)).filter(Boolean);
    const box = { low: new Vector3(Infinity, Infinity, Infinity), high: new Vector3(-Infinity, -Infinity, -Infinity) };
    own.forEach(p => { box.low.min(p); box.high.max(p); });
    const added = shape => shape === name || shape.startsWith(`${name}.`) || shape.startsWith(`${name}/`);
    const worn = shape => [].concat(on ?? []).some(mesh => shape === mesh || shape.startsWith(`${mesh}/`));
    const names = [...this.left.shapes.keys()].map(key => key.slice(key.indexOf("/") + 1));
    const found = own.length ? box : names.some(added) ? this.bounds(added) : names.some(worn) ? this.bounds(worn) : this.bounds();
    const middle = found.low.clone().add(found.high).multiplyScalar(0.5);
    // A point alone is seen with what is around it.
    const size = Math.max(found.high.distanceTo(found.low), 0.12 * this.size);
    return this.lookAt(middle.toArray(), 0.62 * size / Math.tan(this.camera.fov * Math.PI / 360) / Math.min(1, this.camera.aspect));
  },

  /** Looks closely at a place. */
  lookAt(point, distance) {
    const toward = this.camera.position.clone().sub(this.controls.target).normalize();
    this.controls.target.fromArray(point);
    this.camera.position.copy(this.controls.target).addScaledVector(toward, distance);
    this.controls.update();
    this.touch();
  },

  /** Whether the subject is about to walk out of a picture that nobody chose: its camera is neither given nor moved. */
  isLeaving(middle, moved) {
    const { eye, follow } = remote.value?.camera ?? {};
    if (eye || follow === false || this.isMovedByHand) return false;
    const off = middle.clone().sub(this.controls.target);
    return off.length() > LEAVING * this.size && off.dot(moved) > 0;
  },

  /** Goes along with a subject that travels, where that is wanted. */
  goAlong() {
    const { low } = this.bounds(isBody);
    const framed = this.bounds(isFramed);
    const middle = framed.low.add(framed.high).multiplyScalar(0.5);
    // What hangs or falls lower than at first takes the ground along: seen from above it would lie behind it.
    if (low.y - BELOW * this.size < this.ground && remote.value?.camera?.ground === undefined) {
      this.ground = low.y - BELOW * this.size;
      this.floor.position.y = this.ground;
    }
    if (this.grid) this.layGrid(middle);
    const moved = this.middle && middle.clone().sub(this.middle);
    if (moved && (options.value.follow || this.isLeaving(middle, moved))) {
      this.camera.position.add(moved);
      this.controls.target.add(moved);
      this.controls.update();
      this.sun.position.add(moved);
      this.sun.target.position.add(moved);
      this.floor.position.x += moved.x;
      this.floor.position.z += moved.z;
    }
    this.middle = middle;
  },
};
