// The picture: camera, light, both sides of a comparison, overlays.
import {
  ACESFilmicToneMapping, Color, DirectionalLight, GridHelper, Group, HemisphereLight, Mesh, OrbitControls, PCFShadowMap,
  PerspectiveCamera, PlaneGeometry, PMREMGenerator, Raycaster, RoomEnvironment, Scene, ShadowMaterial, Vector2, Vector3,
  WebGLRenderer, effect,
} from "./third-party.js";
import { canvas, context } from "./first.js";
import { showInsides, showPlaces } from "./overlays.js";
import { a, b, fetchShown, noteDrawn, onExpect, readAhead, shown, tick } from "./player.js";
import { Shapes } from "./shapes.js";
import { compared, layers, options, places, playing, range, remote, selectedLayer, splitAt, theme } from "./state.js";

/** The room is built this long after the first picture [ms]. */
const FURNISHED_AFTER = 400;
const BACKGROUND = { light: 0xe7e5e1, dark: 0x24262b };

export class View {
  /** Draws in a place of the page. */
  constructor(place) {
    place.append(canvas);
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, context: context ?? undefined, antialias: true, preserveDrawingBuffer: true });
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.0;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(28, 1, 0.01, 100);
    this.camera.position.set(2, 1, 3);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.touch());
    this.left = new Shapes();
    this.right = new Shapes();
    this.overlay = new Group();
    this.inner = new Group();
    this.marks = new Group();
    /** Lines of wrinkles and folds as they are shown, to be taken hold of. */
    this.lines = [];
    this.scene.add(this.left.group, this.right.group, this.overlay, this.inner, this.marks);
    this.raycaster = new Raycaster();
    this.light();
    this.dirty = true;
    this.drawn = 0;
    this.times = [];
    this.painters = new Set();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
    effect(() => { theme.value; options.value; splitAt.value; places.value; selectedLayer.value; this.repaint(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    const loop = now => { this.step(now); requestAnimationFrame(loop); };
    requestAnimationFrame(loop);
    // An edit is not kept waiting for the next picture.
    onExpect(() => this.fetch());
    setInterval(() => readAhead(), 60);
  }

  light() {
    this.sun = new DirectionalLight(0xfff4e8, 2.1);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 4;
    // As bright as the room that takes its place once the first picture is there.
    this.sky = new HemisphereLight(0xdfe8ff, 0x8a8078, 1.6);
    this.scene.add(this.sun, this.sun.target, this.sky);
    this.floor = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.22 }));
    this.floor.rotation.x = -Math.PI / 2;
    this.floor.receiveShadow = true;
    this.scene.add(this.floor);
  }

  /** What shiny things reflect. It takes longer than the first picture may. */
  furnish() {
    const rooms = new PMREMGenerator(this.renderer);
    this.scene.environment = rooms.fromScene(new RoomEnvironment(), 0.04).texture;
    this.scene.environmentIntensity = 0.42;
    this.sky.intensity = 0.55;
    this.touch();
  }

  get isDark() {
    return theme.value ? theme.value === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  touch() { this.dirty = true; }

  /** Colours, overlays and ground anew, without a new frame. */
  repaint() {
    this.scene.background = new Color(this.isDark ? BACKGROUND.dark : BACKGROUND.light);
    if (this.grid) {
      this.grid.visible = options.value.grid;
      this.grid.material.color.set(this.isDark ? 0x6a6e78 : 0x9d9890);
    }
    this.floor.visible = options.value.shadow;
    this.showFrame();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.touch();
  }

  step(now) {
    tick(now);
    this.fetch();
    if (this.dirty && shown.a) this.draw();
  }

  /** Asks for the frame to show, where it is another; paused, it is drawn as soon as it comes. */
  async fetch() {
    if (!await fetchShown()) return;
    this.showFrame();
    if (!playing.value) this.draw();
  }

  /** Puts the present frame into the buffers. */
  showFrame() {
    if (!shown.a) return;
    const settings = { ...options.value, covered: this.covered, range: this.colourRange() };
    this.left.show(shown.a, a, settings);
    if (this.opened !== remote.value?.opened) this.meet();
    this.goAlong();
    if (compared.value && shown.b) this.right.show(shown.b, b, settings);
    else this.right.clear();
    for (const mesh of this.left.meshes()) {
      mesh.object.material.wireframe = false;
      for (const m of [].concat(mesh.object.material)) m.wireframe = options.value.wireframe;
      if (options.value.colour === "strain" && !mesh.rest) this.learnRest();
    }
    showPlaces(this);
    showInsides(this, shown.a);
    for (const paint of this.painters) paint();
    this.touch();
  }

  /** Stretch is told against the first frame. */
  async learnRest() {
    if (this.learning) return;
    this.learning = true;
    const parcel = await a.get(range.value[0], 2000, a.take);
    if (parcel) {
      for (const shape of parcel.head.meshes) {
        const mesh = this.left.mesh(shape.name);
        if (mesh && mesh.topology.id === shape.topology) mesh.setRest(parcel, shape);
        else if (mesh) mesh.rest = null;
      }
    }
    this.learning = false;
    if (parcel) this.showFrame();
  }

  /** One range of colours over the whole shot, as far as it is known here. */
  colourRange() {
    const name = options.value.colour;
    if (!name || name === "strain") return null;
    let [low, high] = [Infinity, -Infinity];
    for (const parcel of a.frames.values()) {
      for (const mesh of parcel.head.meshes) {
        for (const x of mesh.attributes) {
          if (x.name === name) { low = Math.min(low, x.range[0]); high = Math.max(high, x.range[1]); }
        }
      }
    }
    return high >= low ? [low, high] : null;
  }

  /** Names of attributes that can be shown as colours. */
  attributes() {
    const names = new Set();
    for (const mesh of shown.a?.head.meshes ?? []) mesh.attributes.forEach(x => names.add(x.name));
    return [...names];
  }

  draw() {
    this.dirty = false;
    const { renderer, camera, scene } = this;
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const both = compared.value && this.right.shapes.size > 0;
    renderer.setScissorTest(false);
    this.left.group.visible = true;
    this.right.group.visible = false;
    renderer.render(scene, camera);
    if (both) {
      const cut = Math.round(width * splitAt.value);
      this.left.group.visible = false;
      this.right.group.visible = true;
      renderer.setScissorTest(true);
      renderer.setScissor(cut, 0, width - cut, height);
      renderer.render(scene, camera);
      renderer.setScissorTest(false);
      this.left.group.visible = true;
    }
    noteDrawn();
    this.drawn += 1;
    if (this.drawn === 1) setTimeout(() => this.furnish(), FURNISHED_AFTER);
    this.times.push(performance.now());
    if (this.times.length > 120) this.times.shift();
    this.lastDrawnFrame = shown.number;
    this.lastDrawnTake = a.take;
  }

  bounds() {
    const low = new Vector3(Infinity, Infinity, Infinity);
    const high = new Vector3(-Infinity, -Infinity, -Infinity);
    const p = new Vector3();
    for (const shape of this.left.shapes.values()) {
      const head = shape.shape;
      if (!head || head.count === 0 || head.topology === undefined) continue;
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
  }

  /** A scene that was not seen before: ground, light and camera fit it. */
  meet() {
    this.opened = remote.value?.opened;
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
    this.grid.position.set(Math.round(middle.x / cell) * cell, low.y, Math.round(middle.z / cell) * cell);
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
  }

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
  }

  aim(yaw, pitch) {
    const { low, high } = this.bounds();
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const narrow = Math.min(1, this.camera.aspect);
    const distance = 0.56 * high.distanceTo(low) / Math.tan(this.camera.fov * Math.PI / 360) / narrow;
    this.controls.target.copy(middle);
    this.camera.position.set(Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch), Math.cos(yaw) * Math.cos(pitch))
      .multiplyScalar(distance).add(middle);
  }

  /** Everything in view, from the side it is seen from now. */
  frameAll() {
    const toward = this.camera.position.clone().sub(this.controls.target).normalize();
    this.aim(Math.atan2(toward.x, toward.z), Math.asin(Math.min(1, Math.max(-1, toward.y))));
    this.controls.update();
    this.touch();
  }

  /** Looks closely at a place. */
  lookAt(point, distance) {
    const toward = this.camera.position.clone().sub(this.controls.target).normalize();
    this.controls.target.fromArray(point);
    this.camera.position.copy(this.controls.target).addScaledVector(toward, distance);
    this.controls.update();
    this.touch();
  }

  /** Goes along with a subject that travels, where that is wanted. */
  goAlong() {
    const { low, high } = this.bounds();
    const middle = low.add(high).multiplyScalar(0.5);
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
  }

  /** What lies under a place of the canvas: shape, vertices, weights, point. */
  hit(x, y) {
    const pointer = new Vector2(2 * x / this.canvas.clientWidth - 1, 1 - 2 * y / this.canvas.clientHeight);
    this.raycaster.setFromCamera(pointer, this.camera);
    let best = null;
    for (const mesh of this.left.meshes()) {
      const [found] = this.raycaster.intersectObject(mesh.object, false);
      if (found && (!best || found.distance < best.found.distance)) best = { found, mesh };
    }
    if (!best) return null;
    const { face, point } = best.found;
    const corners = [face.a, face.b, face.c];
    const [p, q, r] = corners.map(v => best.mesh.vertex(v));
    const weights = barycentric(point, p, q, r);
    // Towards the eye, whichever way the triangle is wound.
    const normal = face.normal.clone().transformDirection(best.mesh.object.matrixWorld);
    if (normal.dot(this.raycaster.ray.direction) > 0) normal.negate();
    return { mesh: best.mesh, name: best.mesh.shape.name, corners, weights, point, normal };
  }

  /** Where a place that sticks to a mesh is now. */
  whereIs(place) {
    const mesh = this.left.mesh(place.mesh);
    if (!mesh) return null;
    const out = new Vector3();
    place.corners.forEach((v, k) => out.addScaledVector(mesh.vertex(v), place.weights[k]));
    return out;
  }

  /** Where a point is on the canvas [pixels]. */
  toScreen(point) {
    const p = point.clone().project(this.camera);
    return p.set((p.x + 1) / 2 * this.canvas.clientWidth, (1 - p.y) / 2 * this.canvas.clientHeight, 0);
  }

  /** How much a pixel is at a point [m]. */
  pixel(point) {
    const depth = this.camera.position.distanceTo(point);
    return 2 * Math.tan(this.camera.fov * Math.PI / 360) * depth / Math.max(1, this.canvas.clientHeight);
  }

  /** The point under a place of the canvas that is as deep as another. */
  atDepth(x, y, other) {
    const deep = other.clone().project(this.camera).z;
    return new Vector3(2 * x / this.canvas.clientWidth - 1, 1 - 2 * y / this.canvas.clientHeight, deep).unproject(this.camera);
  }

  /** Drawn pictures a second, lately. */
  rate() {
    const recent = this.times.filter(t => t > performance.now() - 1000);
    return recent.length;
  }

  /** The camera as scene files spell it. */
  cameraParams() {
    const tidy = v => v.toArray().map(x => Math.round(x * 1e4) / 1e4);
    return { eye: tidy(this.camera.position), target: tidy(this.controls.target), fov_deg: this.camera.fov };
  }
}

function barycentric(p, a0, b0, c0) {
  const [u, v, w] = [b0.clone().sub(a0), c0.clone().sub(a0), p.clone().sub(a0)];
  const [uu, uv, vv, wu, wv] = [u.dot(u), u.dot(v), v.dot(v), w.dot(u), w.dot(v)];
  const d = uu * vv - uv * uv || 1e-30;
  const s = (vv * wu - uv * wv) / d;
  const t = (uu * wv - uv * wu) / d;
  return [1 - s - t, s, t].map(x => Math.min(1, Math.max(0, x)));
}
