// What is drawn over the picture: points and lines that layers name, balls, what goes on inside layers.
import {
  BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, SphereGeometry, Vector3,
} from "./third-party.js";
import { a } from "./player.js";
import { doc, fps, options, places, selectedLayer } from "./state.js";
import { u16, u32 } from "./wire.js";

const BEAD = new SphereGeometry(1, 12, 8);
const BALL = new SphereGeometry(1, 24, 16);
const over = extra => ({ depthTest: false, transparent: true, ...extra });
const CHOSEN = new MeshBasicMaterial(over({ color: 0xff5a1f }));
const OTHER = new MeshBasicMaterial(over({ color: 0x3d7bd9, opacity: 0.8 }));
const CHOSEN_LINE = new LineBasicMaterial(over({ color: 0xff5a1f }));
const OTHER_LINE = new LineBasicMaterial(over({ color: 0x3d7bd9, opacity: 0.6 }));
const COLLIDER = new MeshBasicMaterial({ color: 0x3d7bd9, wireframe: true, transparent: true, opacity: 0.35 });

/** Colours of what goes on inside layers. */
export const INSIDES = {
  springs: [0xd81b60, "springs of flesh"], region: [0x8e44ad, "reach of wrinkles"], pins: [0xe67e22, "held cloth"],
  envelopes: [0x16a085, "envelopes of wisps"], bodies: [0x2980b9, "bones of soft bodies"], seeds: [0x27ae60, "seeds of their surface"], contacts: [0xc0392b, "contacts"],
  colliders: [0x3d7bd9, "colliders"], wind: [0x00a0c8, "wind"], trails: [0x1f6fe0, "ways of drops, the last second"],
};
const INSIDE_LINES = {};
const INSIDE_BEADS = {};
for (const [kind, [color]] of Object.entries(INSIDES)) {
  const thin = kind === "envelopes" || kind === "colliders";
  INSIDE_LINES[kind] = new LineBasicMaterial(over({ color, opacity: thin ? 0.35 : 0.9 }));
  INSIDE_BEADS[kind] = new MeshBasicMaterial(over({ color, opacity: 0.9 }));
}
const SHARED = new Set([BEAD, BALL]);

export function clearGroup(group) {
  for (const child of [...group.children]) {
    if (!SHARED.has(child.geometry)) child.geometry?.dispose();
    group.remove(child);
  }
}

export function addBead(group, at, size, material = CHOSEN) {
  const bead = new Mesh(BEAD, material);
  bead.position.copy(at);
  bead.scale.setScalar(size);
  bead.renderOrder = 6;
  group.add(bead);
}

function addSegments(group, flat, material, order) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(flat, 3));
  const line = new LineSegments(geometry, material);
  line.renderOrder = order;
  line.frustumCulled = false;
  group.add(line);
}

export function addPolyline(group, points, material = CHOSEN_LINE) {
  const flat = [];
  for (let k = 0; k + 1 < points.length; k += 1) flat.push(...points[k].toArray(), ...points[k + 1].toArray());
  addSegments(group, new Float32Array(flat), material, 6);
}

/** Where a point stands on its line. */
const order = path => path.endsWith(".a") ? -1 : path.endsWith(".b") ? 1e6 : Number(path.match(/\[(\d+)\]$/)?.[1] ?? 0);

/** Beads and lines at the places that layers name; the view remembers the lines, to be taken hold of. */
export function showPlaces(view) {
  clearGroup(view.overlay);
  view.lines = [];
  if (!view.size) return;
  const lines = new Map();
  if (options.value.overlays) {
    for (const place of places.value) {
      const at = view.whereIs(place);
      if (!at) continue;
      const chosen = place.layer === selectedLayer.value;
      addBead(view.overlay, at, (chosen ? 5 : 3.5) * view.pixel(at), chosen ? CHOSEN : OTHER);
      const owner = place.path.replace(/\.(a|b|at|point|through\[\d+\]|points\[\d+\])$/, "");
      if (!lines.has(owner)) lines.set(owner, { owner, layer: place.layer, mesh: place.mesh, chosen, points: [] });
      lines.get(owner).points.push({ path: place.path, at });
    }
    for (const line of lines.values()) {
      if (line.points.length < 2) continue;
      line.points.sort((p, q) => order(p.path) - order(q.path));
      addPolyline(view.overlay, line.points.map(p => p.at), line.chosen ? CHOSEN_LINE : OTHER_LINE);
      view.lines.push(line);
    }
    showBalls(view);
  }
}

/** Balls that stand still are drawn where they are; the rest come with the frame, where they have a colour. */
function showBalls(view) {
  for (const collider of doc.value?.scene?.colliders ?? []) {
    const ball = collider.shape?.sphere;
    if (!ball || collider.joint) continue;
    const centre = new Vector3().fromArray(ball.center ?? [0, 0, 0]);
    if (!collider.color) {
      const mesh = new Mesh(BALL, COLLIDER);
      mesh.position.copy(centre);
      mesh.scale.setScalar(ball.radius ?? 0.1);
      view.overlay.add(mesh);
    }
    if (!collider.actor) addBead(view.overlay, centre, 4 * view.pixel(centre), OTHER);
  }
}

/** Places of a shape of a frame, which come as parts of its cube. */
function placesOf(parcel, shape) {
  const [x, y, z, edge] = shape.cube;
  const k = edge / 65535;
  const own = u16(parcel, shape.positions, 3 * shape.count);
  const flat = new Float32Array(own.length);
  for (let i = 0; i < own.length; i += 3) {
    flat[i] = x + own[i] * k;
    flat[i + 1] = y + own[i + 1] * k;
    flat[i + 2] = z + own[i + 2] * k;
  }
  return flat;
}

/** Points that can be followed from frame to frame. */
const followed = parcel => (parcel.head.points ?? []).filter(p => p.count > 0 && p.named === p.count);

/** What is shown of the insides of a frame. */
export const kindsOf = parcel =>
  [...new Set(parcel.head.insides.map(i => i.kind)), ...(followed(parcel).length ? ["trails"] : [])];

/** The ways of drops over the last second, as far back as the page has frames without a gap. */
function showTrails(view, parcel) {
  const flat = [];
  let later = new Map();
  const last = parcel.head.frame;
  for (let number = last; number >= last - fps.value; number -= 1) {
    const own = number === last ? parcel : a.frames.get(number);
    if (!own) break;
    const now = new Map();
    for (const points of followed(own)) {
      const at = placesOf(own, points);
      u32(own, points.ids, points.count).forEach((id, i) => {
        const key = `${points.name}/${id}`;
        const place = at.subarray(3 * i, 3 * i + 3);
        now.set(key, place);
        const next = later.get(key);
        if (next) flat.push(...place, ...next);
      });
    }
    later = now;
  }
  if (flat.length) addSegments(view.inner, new Float32Array(flat), INSIDE_LINES.trails, 4);
}

/** Springs, reaches, envelopes and the like of the frame that is shown. */
export function showInsides(view, parcel) {
  clearGroup(view.inner);
  if (!options.value.insides || !parcel) return;
  showTrails(view, parcel);
  for (const inside of parcel.head.insides ?? []) {
    const flat = placesOf(parcel, inside);
    if (inside.lines) {
      addSegments(view.inner, flat, INSIDE_LINES[inside.kind], 4);
      if (inside.kind === "wind") addTips(view, flat);
    } else {
      const p = new Vector3();
      // Thousands of beads tell no more than some hundreds.
      const step = 3 * Math.ceil(inside.count / 600);
      for (let i = 0; i < flat.length; i += step) {
        p.fromArray(flat, i);
        addBead(view.inner, p, (inside.kind === "springs" ? 6 : 2.5) * view.pixel(p), INSIDE_BEADS[inside.kind]);
      }
    }
  }
}

/** Arrows end in a bead. */
function addTips(view, flat) {
  const p = new Vector3();
  for (let i = 3; i < flat.length; i += 6) {
    p.fromArray(flat, i);
    addBead(view.inner, p, 2.5 * view.pixel(p), INSIDE_BEADS.wind);
  }
}
