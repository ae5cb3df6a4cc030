// Where the picture is seen from: camera, ground and light fit the scene.
import { GridHelper, Vector3 } from "./third-party.js";
import { layers, options, places, remote, selectedLayer } from "./state.js";

/** Methods of the view. */
export const standpoint = {
  /** The box around shapes, all of them unless some are asked for. */
  bounds(wanted = () => true) {
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
    return low.x <= high.x ? { low, high } : { low: new Vector3(-1, 0, -1), high: new Vector3(1, 1, 1) };
  },

  /** A scene that was not seen before: ground, light and camera fit it. */
  meet() {
    this.opened = remote.value?.opened;
    this.isBare = this.left.shapes.size === 0;
    const { low, high } = this.bounds();
    const size = high.distanceTo(low) || 1;
    const middle = low.clone().add(high).multiplyScalar(0.5);
    this.size = size;
    this.ground = low.y;
    if (this.grid) { this.scene.remove(this.grid); this.grid.dispose(); }
    const cell = 10 ** Math.floor(Math.log10(size / 3));
    const reach = Math.ceil(3 * size / cell) * cell;
    this.grid = new GridHelper(2 * reach, Math.round(2 * reach / cell), 0xffffff, 0xffffff);
    this.grid.material.vertexColors = false;
    this.grid.material.transparent = true;
    this.grid.material.opacity = 0.28;
    this.cell = cell;
    this.layGrid(middle);
    this.floor.position.set(middle.x, low.y + 1e-4 * size, middle.z);
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
    const own = remote.value?.camera ?? {};
    this.camera.fov = own.fov_deg ?? 28;
    if (own.eye && own.target) {
      this.camera.position.fromArray(own.eye);
      this.controls.target.fromArray(own.target);
    } else {
      this.aim((own.yaw_deg ?? 28) * Math.PI / 180, (own.pitch_deg ?? 12) * Math.PI / 180);
    }
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.touch();
  },

  aim(yaw, pitch) {
    const { low, high } = this.bounds();
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

  /** Goes along with a subject that travels, where that is wanted. */
  goAlong() {
    const { low, high } = this.bounds();
    const middle = low.add(high).multiplyScalar(0.5);
    if (this.grid) this.layGrid(middle);
    if (this.middle && options.value.follow) {
      const moved = middle.clone().sub(this.middle);
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
