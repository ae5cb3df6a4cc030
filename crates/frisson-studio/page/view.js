// The picture: camera, light, both sides of a comparison, overlays.
import {
  ACESFilmicToneMapping, Color, DirectionalLight, Group, HemisphereLight, Mesh, OrbitControls, PCFShadowMap,
  PerspectiveCamera, PlaneGeometry, PMREMGenerator, Raycaster, RoomEnvironment, Scene, ShadowMaterial, Vector2, Vector3,
  WebGLRenderer, effect, untracked,
} from "./third-party.js";
import { showInsides, showPlaces } from "./overlays.js";
import { a, b, fetchShown, note, onExpect, readAhead, shown, tick } from "./player.js";
import { Shapes } from "./shapes.js";
import { Pace } from "./pace.js";
import { isHidden, standpoint } from "./standpoint.js";
import { compared, options, places, playing, range, remote, room, selectedLayer, splitAt, theme } from "./state.js";

/** The room is built this long after the first picture [ms]. */
const FURNISHED_AFTER = 400;
/** A picture that comes as quickly is felt to come at once [ms]. */
const QUICK = 50;
/** Time between two looks whether a picture is there [ms]. */
const LOOK_AGAIN = 4;
/** Fewer points of hair tell nothing about how long they take. */
const LEAST_TOLD = 4000;
/** How bright the sky is without the room that things mirror, and with it [-]. */
const SKY_ALONE = 1.6;
const SKY_WITH_ROOM = 0.55;
const BACKGROUND = { light: 0xe7e5e1, dark: 0x24262b };

export class View {
  /** Draws in a place of the page. */
  constructor(place) {
    const canvas = document.createElement("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("aria-label", "the scene; drag to orbit");
    place.append(canvas);
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.pace = new Pace(this.renderer);
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
    this.controls.addEventListener("start", () => { this.isMovedByHand = true; });
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
    effect(() => {
      theme.value; options.value; places.value; selectedLayer.value;
      // What it reads besides would draw everything anew with every piece of news.
      untracked(() => this.repaint());
    });
    effect(() => { splitAt.value; this.touch(); });
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
    // A round cheek would be striped by its own shadow.
    this.sun.shadow.bias = -8e-4;
    // As bright as the room that takes its place once the first picture is there.
    this.sky = new HemisphereLight(0xdfe8ff, 0x8a8078, SKY_ALONE);
    this.scene.add(this.sun, this.sun.target, this.sky);
    this.floor = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.22 }));
    this.floor.rotation.x = -Math.PI / 2;
    this.floor.receiveShadow = true;
    this.scene.add(this.floor);
  }

  /** What shiny things reflect. It takes longer than the first picture may. */
  furnish() {
    const rooms = new PMREMGenerator(this.renderer);
    this.room = rooms.fromScene(new RoomEnvironment(), 0.04).texture;
    this.scene.environmentIntensity = 0.42;
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
      this.grid.visible = options.value.grid && this.hasGround;
      this.grid.material.color.set(this.isDark ? 0x6a6e78 : 0x9d9890);
    }
    this.showFrame();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height) return;
    this.leaveOut(this.pace.step);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.touch();
  }

  /** Draws less, where there is no time for all. */
  leaveOut({ halvings, isPlain, hairPoints }) {
    const ratio = Math.min(devicePixelRatio, 2) / 2 ** halvings;
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    // Other lights are other programs: both are kept once they were made.
    this.sun.castShadow = !isPlain;
    this.floor.visible = options.value.shadow && this.hasGround && !isPlain;
    this.scene.environment = isPlain ? null : this.room ?? null;
    this.sky.intensity = this.scene.environment ? SKY_WITH_ROOM : SKY_ALONE;
    this.drawnHairPoints = this.left.thinHair(hairPoints) + (compared.value ? this.right.thinHair(hairPoints) : 0);
  }

  step(now) {
    tick(now);
    this.fetch();
    this.drawInTime();
  }

  /** Draws what is new as soon as the last picture is there, and makes a coarse one whole when all rests. */
  drawInTime() {
    const now = performance.now();
    if (!this.pace.isFree(now) || !shown.a) return;
    const refines = !this.dirty && this.pace.mayRefine(now);
    if (!this.dirty && !refines) return;
    this.leaveOut(this.pace.choose(refines));
    this.draw();
  }

  /** Draws now, and in full. */
  drawWhole() {
    this.leaveOut(this.pace.choose(true));
    this.draw();
  }

  /** Asks for the frame to show, where it is another; paused, it is drawn as soon as it comes. */
  async fetch() {
    if (!await fetchShown()) return;
    this.showFrame();
    if (!playing.value) this.drawInTime();
  }

  /** Puts the present frame into the buffers. */
  showFrame() {
    if (!shown.a) return;
    const settings = { ...options.value, covered: this.covered, range: this.colourRange() };
    this.left.show(shown.a, a, settings);
    // Soft bodies may be all there is, and come after the first picture.
    const appears = this.isBare && this.left.shapes.size > 0;
    if (this.opened !== remote.value?.opened || appears) this.meet();
    this.goAlong();
    if (compared.value && shown.b) this.right.show(shown.b, b, settings);
    else this.right.clear();
    for (const mesh of this.left.meshes()) {
      mesh.object.material.wireframe = false;
      for (const m of [].concat(mesh.object.material)) m.wireframe = options.value.wireframe;
      if (options.value.colour === "strain" && !mesh.rest) this.learnRest();
    }
    for (const side of [this.left, this.right]) side.leaveOut(isHidden);
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
      for (const shape of [...parcel.head.meshes, ...parcel.head.curves]) {
        for (const x of shape.attributes) {
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
    const { revision } = shown;
    const points = this.drawnHairPoints;
    this.pace.begin((now, took) => {
      this.firstDrawn ??= now;
      const found = Math.round(QUICK * points / Math.max(1, took));
      // Another number of hairs is another topology: not for a little.
      if (points > LEAST_TOLD && (found > 2 * room.points || found < 0.5 * room.points)) room.points = found;
      note("drawn", revision);
    });
    this.drawn += 1;
    if (this.drawn === 1) setTimeout(() => this.furnish(), FURNISHED_AFTER);
    this.lookAgain();
    this.times.push(performance.now());
    if (this.times.length > 120) this.times.shift();
    this.lastDrawnFrame = shown.number;
    this.lastDrawnTake = a.take;
  }

  /** Whether the picture is there is asked more often than the browser asks for one: the next one waits for it. */
  lookAgain() {
    setTimeout(() => {
      this.drawInTime();
      if (this.pace.fence) this.lookAgain();
    }, LOOK_AGAIN);
  }

  /** What lies under a place of the canvas: shape, vertices, weights, point. */
  hit(x, y) {
    const pointer = new Vector2(2 * x / this.canvas.clientWidth - 1, 1 - 2 * y / this.canvas.clientHeight);
    this.raycaster.setFromCamera(pointer, this.camera);
    let best = null;
    for (const mesh of this.left.meshes().filter(m => m.object.visible)) {
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

Object.assign(View.prototype, standpoint);
