// Frames as three.js objects: buffers are rewritten in place, made anew only when a topology changes.
import {
  BufferAttribute, BufferGeometry, Color, DataTexture, DoubleSide, DynamicDrawUsage, Group, IcosahedronGeometry,
  InstancedBufferAttribute, InstancedBufferGeometry, LineSegments, LinearFilter, LinearMipmapLinearFilter, Mesh,
  MeshStandardMaterial, RepeatWrapping, Sphere, SRGBColorSpace, Vector3,
} from "./third-party.js";
import { clearMaterial, dropMaterial, hairMaterial, heat, strainColour } from "./shaders.js";
import { f32, i8, u16, u32, u8 } from "./wire.js";

const dynamic = attribute => { attribute.setUsage(DynamicDrawUsage); return attribute; };

/** Puts a quantised shape into its cube: a whole number 65535 becomes 1 for three.js. */
function place(object, cube) {
  object.position.set(cube[0], cube[1], cube[2]);
  object.scale.setScalar(cube[3]);
  object.updateMatrixWorld();
}

function surface(material, textures) {
  const [r, g, b, alpha] = material.color;
  const common = {
    color: new Color(r, g, b), roughness: material.roughness, metalness: material.metallic, side: DoubleSide,
  };
  if (material.transmission > 0) {
    return clearMaterial(material);
  }
  const made = new MeshStandardMaterial({ ...common, transparent: alpha < 1, opacity: alpha });
  const bytes = material.texture === null ? null : textures.get(material.texture);
  if (bytes) {
    const [width, height] = new Uint32Array(bytes, 0, 2);
    const texture = new DataTexture(new Uint8Array(bytes, 8), width, height);
    texture.colorSpace = SRGBColorSpace;
    texture.wrapS = texture.wrapT = RepeatWrapping;
    texture.generateMipmaps = true;
    texture.minFilter = LinearMipmapLinearFilter;
    texture.magFilter = LinearFilter;
    texture.needsUpdate = true;
    made.map = texture;
  }
  return made;
}

class MeshShape {
  /** `before` is the same shape with another topology. */
  constructor(topology, reel, before) {
    this.topology = topology;
    const { head } = topology;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", dynamic(new BufferAttribute(new Uint16Array(3 * head.vertices), 3, true)));
    geometry.setAttribute("normal", dynamic(new BufferAttribute(new Int8Array(4 * head.vertices), 4, true)));
    geometry.setIndex(new BufferAttribute(u32(topology, head.indices, 3 * head.triangles), 1));
    if (head.uvs !== undefined) geometry.setAttribute("uv", new BufferAttribute(f32(topology, head.uvs, 2 * head.vertices), 2));
    if (head.colors !== undefined) this.own = u8(topology, head.colors, 4 * head.vertices);
    geometry.setAttribute("color", new BufferAttribute(new Uint8Array(4 * head.vertices).fill(255), 4, true));
    head.groups.forEach(([material, start, count]) => geometry.addGroup(start, count, material));
    geometry.boundingSphere = new Sphere(new Vector3(0.5, 0.5, 0.5), 0.87);
    this.named = JSON.stringify(head.materials);
    // A surface whose triangles change with every frame keeps its materials: to make them takes longer than a frame.
    const keeps = before?.named === this.named;
    this.materials = keeps ? before.materials : head.materials.map(m => surface(m, reel.textures));
    this.plain = before?.plain ?? new MeshStandardMaterial({ vertexColors: true, roughness: 0.75, side: DoubleSide });
    if (keeps) before.materials = [];
    if (before) before.plain = null;
    this.object = new Mesh(geometry, this.materials);
    // Glass and water let the light through.
    this.object.castShadow = !head.materials.every(m => m.transmission > 0);
    this.object.receiveShadow = true;
    this.object.matrixAutoUpdate = true;
    this.object.userData.shape = this;
  }

  update(parcel, shape, options) {
    const { geometry } = this.object;
    const { position, normal } = geometry.attributes;
    position.array.set(u16(parcel, shape.positions, 3 * shape.count));
    position.needsUpdate = true;
    if (shape.normals !== undefined) {
      normal.array.set(i8(parcel, shape.normals, 4 * shape.count));
      normal.needsUpdate = true;
    }
    this.shape = shape;
    place(this.object, shape.cube);
    this.paint(parcel, shape, options);
  }

  /** Colours by an attribute, by strain or by a selection; the shape's own where there is none. */
  paint(parcel, shape, options) {
    const covered = options.covered?.get(shape.name);
    const attribute = shape.attributes.find(x => x.name === options.colour);
    const strained = options.colour === "strain" && this.rest;
    const colours = this.object.geometry.attributes.color;
    if (!attribute && !strained && !covered) {
      this.object.material = this.materials;
      if (this.own && !this.ownShown) {
        colours.array.set(this.own);
        colours.needsUpdate = true;
        for (const m of this.materials.filter(one => !one.vertexColors)) m.vertexColors = m.needsUpdate = true;
        this.ownShown = true;
      }
      return;
    }
    this.ownShown = false;
    this.object.material = this.plain;
    const write = (vertex, c) => {
      for (let k = 0; k < 3; k += 1) colours.array[4 * vertex + k] = 255 * c[k];
    };
    if (strained) {
      this.strain(parcel, shape, options.strainRange).forEach((t, vertex) => write(vertex, strainColour(t)));
    } else if (attribute) {
      eachHeat(parcel, attribute, shape.count, options.range, write);
    } else {
      for (let v = 0; v < shape.count; v += 1) write(v, covered[v] ? heat(0.35 + 0.65 * covered[v]) : [0.55, 0.55, 0.55]);
    }
    colours.needsUpdate = true;
  }

  /** Remembers lengths of edges, to tell stretch from them. */
  setRest(parcel, shape) {
    const positions = u16(parcel, shape.positions, 3 * shape.count);
    this.rest = edgeSums(positions, this.object.geometry.index.array, shape.cube[3], shape.count);
  }

  strain(parcel, shape, range = 0.25) {
    const now = edgeSums(u16(parcel, shape.positions, 3 * shape.count), this.object.geometry.index.array, shape.cube[3], shape.count);
    return now.map((sum, v) => this.rest[v] > 0 ? 0.5 + 0.5 * (sum / this.rest[v] - 1) / range : 0.5);
  }

  /** Where a vertex is now [m]. */
  vertex(index, out = new Vector3()) {
    const p = this.object.geometry.attributes.position.array;
    const [x, y, z, edge] = this.shape.cube;
    const k = edge / 65535;
    return out.set(x + p[3 * index] * k, y + p[3 * index + 1] * k, z + p[3 * index + 2] * k);
  }

  dispose() {
    this.object.geometry.dispose();
    this.plain?.dispose();
    this.materials.forEach(m => { m.map?.dispose(); m.dispose(); });
  }
}

/** For each vertex, the lengths of the edges around it together. */
function edgeSums(p, index, edge, count) {
  const sums = new Float32Array(count);
  for (let t = 0; t < index.length; t += 3) {
    for (let k = 0; k < 3; k += 1) {
      const i = index[t + k];
      const j = index[t + (k + 1) % 3];
      const length = Math.hypot(p[3 * i] - p[3 * j], p[3 * i + 1] - p[3 * j + 1], p[3 * i + 2] - p[3 * j + 2]) * edge;
      sums[i] += length;
      sums[j] += length;
    }
  }
  return sums;
}

/** Numbers below a count, each once: steps of the golden section, which leave no gaps for long. */
function spreadOrder(count) {
  let step = Math.max(1, Math.round(count * 0.618033988749895));
  while (gcd(step, count) !== 1) step += 1;
  return Uint32Array.from({ length: count }, (_, k) => (k * step) % count);
}
const gcd = (one, other) => other === 0 ? one : gcd(other, one % other);

/** Tells the colour of every value of an attribute, on the scale of a range. */
function eachHeat(parcel, attribute, count, range, tell) {
  const values = u8(parcel, attribute.at, count);
  const [low, high] = attribute.range;
  const [from, to] = range ?? attribute.range;
  const span = to > from ? to - from : 1;
  for (let v = 0; v < count; v += 1) tell(v, heat((low + values[v] / 255 * (high - low) - from) / span));
}

class CurvesShape {
  constructor(topology, before) {
    this.topology = topology;
    const [at, curves] = topology.head.counts;
    const counts = u32(topology, at, curves);
    const points = counts.reduce((sum, c) => sum + c, 0);
    const index = new Uint32Array(2 * Math.max(0, points - curves));
    const starts = new Uint32Array(curves);
    for (let k = 1; k < curves; k += 1) starts[k] = starts[k - 1] + counts[k - 1];
    let put = 0;
    // Any first part of this order is spread over the whole head: to draw fewer hairs is to stop early.
    for (const curve of spreadOrder(curves)) {
      for (let k = 0; k + 1 < counts[curve]; k += 1) {
        index[put] = starts[curve] + k;
        index[put + 1] = starts[curve] + k + 1;
        put += 2;
      }
    }
    this.points = points;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", dynamic(new BufferAttribute(new Uint16Array(3 * points), 3, true)));
    geometry.setAttribute("tangent", dynamic(new BufferAttribute(new Int8Array(4 * points), 4, true)));
    geometry.setIndex(new BufferAttribute(index, 1));
    geometry.boundingSphere = new Sphere(new Vector3(0.5, 0.5, 0.5), 0.87);
    const named = JSON.stringify([topology.head.color, counts[0] ?? 1]);
    const keeps = before?.named === named;
    this.named = named;
    this.material = keeps ? before.material : hairMaterial(topology.head.color, counts[0] ?? 1);
    if (keeps) before.material = null;
    this.object = new LineSegments(geometry, this.material);
    this.object.userData.shape = this;
  }

  update(parcel, shape, options) {
    const { position, tangent } = this.object.geometry.attributes;
    position.array.set(u16(parcel, shape.positions, 3 * shape.count));
    tangent.array.set(i8(parcel, shape.tangents, 4 * shape.count));
    position.needsUpdate = tangent.needsUpdate = true;
    this.shape = shape;
    place(this.object, shape.cube);
    this.paint(parcel, shape, options);
  }

  /** Colours by an attribute; the hair's own colour where there is none. */
  paint(parcel, shape, options) {
    const attribute = shape.attributes.find(x => x.name === options.colour);
    this.material.uniforms.painted.value = attribute ? 1 : 0;
    if (!attribute) return;
    const { geometry } = this.object;
    if (!geometry.attributes.paint) geometry.setAttribute("paint", dynamic(new BufferAttribute(new Uint8Array(3 * this.points), 3, true)));
    const { paint } = geometry.attributes;
    eachHeat(parcel, attribute, shape.count, options.range, (point, c) => {
      for (let k = 0; k < 3; k += 1) paint.array[3 * point + k] = 255 * c[k];
    });
    paint.needsUpdate = true;
  }

  /** Draws a share of the hairs. */
  thin(share) {
    const { geometry } = this.object;
    // Whole segments.
    geometry.setDrawRange(0, share < 1 ? 2 * Math.ceil(share * geometry.index.count / 2) : Infinity);
  }

  dispose() {
    this.object.geometry.dispose();
    this.material?.dispose();
  }
}

const BALL = new IcosahedronGeometry(1, 2);

class PointsShape {
  constructor() {
    const geometry = new InstancedBufferGeometry();
    geometry.index = BALL.index;
    geometry.setAttribute("position", BALL.attributes.position);
    this.object = new Mesh(geometry, dropMaterial());
    this.object.frustumCulled = false;
    this.object.renderOrder = 2;
  }

  update(parcel, shape) {
    const { geometry } = this.object;
    const room = geometry.attributes.drop?.count ?? 0;
    if (room < shape.count) {
      geometry.setAttribute("drop", dynamic(new InstancedBufferAttribute(new Float32Array(4 * Math.ceil(shape.count * 1.5)), 4)));
    }
    const positions = u16(parcel, shape.positions, 3 * shape.count);
    const widths = f32(parcel, shape.widths, shape.count);
    const [x, y, z, edge] = shape.cube;
    const k = edge / 65535;
    const out = geometry.attributes.drop?.array;
    for (let i = 0; i < shape.count; i += 1) {
      out[4 * i] = x + positions[3 * i] * k;
      out[4 * i + 1] = y + positions[3 * i + 1] * k;
      out[4 * i + 2] = z + positions[3 * i + 2] * k;
      out[4 * i + 3] = 0.5 * widths[i];
    }
    geometry.instanceCount = shape.count;
    if (geometry.attributes.drop) geometry.attributes.drop.needsUpdate = true;
    this.object.visible = shape.count > 0;
    this.shape = shape;
  }

  dispose() {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}

/** All shapes of one side. */
export class Shapes {
  constructor() {
    this.group = new Group();
    this.shapes = new Map();
  }

  show(parcel, reel, options) {
    const seen = new Set();
    const one = (kind, shape, make) => {
      const key = `${kind}/${shape.name}`;
      seen.add(key);
      let known = this.shapes.get(key);
      if (!known || known.topology?.id !== shape.topology) {
        const made = make(known);
        // Not before: programs that nobody uses for a moment are made again.
        if (known) this.remove(key);
        known = made;
        this.shapes.set(key, known);
        this.group.add(known.object);
      }
      known.update(parcel, shape, options);
    };
    const { head } = parcel;
    head.meshes.forEach(s => one("mesh", s, before => new MeshShape(reel.topologies.get(s.topology), reel, before)));
    head.curves.forEach(s => one("curves", s, before => new CurvesShape(reel.topologies.get(s.topology), before)));
    head.points.forEach(s => one("points", s, () => new PointsShape()));
    for (const key of this.shapes.keys()) if (!seen.has(key)) this.remove(key);
  }

  /** Draws hairs of so many points at most, all heads together; answers how many are drawn. */
  thinHair(most) {
    const hair = [...this.shapes.values()].filter(s => s instanceof CurvesShape && s.object.visible);
    const points = hair.reduce((sum, s) => sum + s.points, 0);
    hair.forEach(s => s.thin(most / Math.max(1, points)));
    return Math.min(most, points);
  }

  /** Leaves shapes out of the picture, by name. */
  leaveOut(isOut) {
    for (const [key, shape] of this.shapes) {
      if (isOut(key.slice(key.indexOf("/") + 1))) shape.object.visible = false;
    }
  }

  remove(key) {
    const shape = this.shapes.get(key);
    this.group.remove(shape.object);
    shape.dispose();
    this.shapes.delete(key);
  }

  meshes() {
    return [...this.shapes.values()].filter(s => s instanceof MeshShape);
  }

  mesh(name) {
    return this.shapes.get(`mesh/${name}`);
  }

  clear() {
    for (const key of [...this.shapes.keys()]) this.remove(key);
  }
}
