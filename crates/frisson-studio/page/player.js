// Gets frames and says which to draw: plays, scrubs, waits for the simulation.
import { effect, signal } from "./third-party.js";
import { getBytes } from "./api.js";
import { unpack, unpackFrames } from "./wire.js";
import { compared, engine, fps, frame, looping, playing, range, remote, speed } from "./state.js";

/** Bytes of frames kept on the page, for each side. */
const MOST_BYTES = 256 << 20;
/** Frames asked for at a time. */
const AT_ONCE = 16;
/** Bytes of topologies kept, for each side: surfaces that change with every frame leave many behind. */
const MOST_TOPOLOGY_BYTES = 96 << 20;

/** Frames of one side: `a`, or `b` that it is compared with. */
class Reel {
  constructor(side) {
    this.side = side;
    this.clear();
  }

  clear() {
    this.frames = new Map();
    this.bytes = 0;
    /** Take that the frames are of. */
    this.take = 0;
    /** Text that a frame must follow before it is shown. */
    this.revision = 0;
    this.followed = 0;
    this.topologies = new Map();
    this.topologyBytes = 0;
    this.textures = new Map();
    this.generation = (this.generation ?? 0) + 1;
  }

  add(found) {
    const number = found.head.frame;
    this.drop(number);
    this.frames.set(number, found);
    this.bytes += found.bytes;
    for (const key of this.frames.keys()) {
      if (this.bytes <= MOST_BYTES || key === number) break;
      this.drop(key);
    }
  }

  drop(number) {
    const old = this.frames.get(number);
    if (old) this.bytes -= old.bytes;
    this.frames.delete(number);
  }

  /** Asks for frames; takes over what an edit has made of them. */
  async ask(from, count, wait, ahead) {
    const generation = this.generation;
    const revision = this.revision;
    const answer = await getBytes(`frames?from=${from}&count=${count}&wait=${wait}&have=${this.take}`
      + `&revision=${revision}&side=${this.side}${ahead ? "&ahead=1" : ""}`);
    if (generation !== this.generation) return [];
    const { take, cut, frames } = unpackFrames(answer);
    if (take !== this.take) {
      [...this.frames.keys()].filter(number => number >= cut).forEach(number => this.drop(number));
      this.take = take;
    }
    if (frames.length) this.followed = Math.max(this.followed ?? 0, revision);
    if (this.revision === revision && frames.length) this.revision = 0;
    frames.forEach(found => this.add(found));
    return frames;
  }

  /** Takes the first frame and all it refers to, which came in one parcel. */
  takeFirst(parcel) {
    const { head, buffer, body } = parcel;
    if (!head.frame) return;
    const piece = ([, at]) => unpack(buffer, body + at);
    head.textures.forEach(([id, at, length]) => this.textures.set(id, buffer.slice(body + at, body + at + length)));
    head.topologies.forEach(one => this.keepTopology(one[0], { ...piece(one), bytes: one[2] }));
    this.take = head.take;
    const [at, length] = head.frame;
    this.add({ ...unpack(buffer, body + at), bytes: length });
  }

  /** The frame to show; null where it is not simulated in time. */
  async get(number, wait, newest) {
    const is_fresh = this.revision === 0 && this.take === newest;
    const own = is_fresh ? this.frames.get(number) : null;
    if (own) return this.complete(own);
    const frames = await this.ask(number, playing.value ? AT_ONCE : 1, wait, false);
    return frames.length ? this.complete(frames[0]) : null;
  }

  /** Gets the topologies that a frame needs and the page has not. */
  async complete(parcel) {
    const needed = [...parcel.head.meshes, ...parcel.head.curves].map(s => s.topology);
    // What is used now is let go last.
    for (const id of needed.filter(one => this.topologies.has(one))) this.keepTopology(id, this.topologies.get(id));
    await Promise.all(needed.filter(id => !this.topologies.has(id)).map(id => this.learn(id)));
    return parcel;
  }

  async learn(id) {
    const bytes = await getBytes(`topology?id=${id}&side=${this.side}`);
    const topology = { ...unpack(bytes), bytes: bytes.byteLength };
    for (const material of topology.head.materials ?? []) {
      if (material.texture !== null && !this.textures.has(material.texture)) {
        this.textures.set(material.texture, await getBytes(`texture?id=${material.texture}&side=${this.side}`));
      }
    }
    this.keepTopology(id, topology);
  }

  keepTopology(id, topology) {
    this.letGo(id);
    this.topologies.set(id, { ...topology, id });
    this.topologyBytes += topology.bytes;
    for (const key of this.topologies.keys()) {
      // A frame has a few dozen shapes at most.
      if (this.topologyBytes <= MOST_TOPOLOGY_BYTES || this.topologies.size <= 64) break;
      this.letGo(key);
    }
  }

  letGo(id) {
    this.topologyBytes -= this.topologies.get(id)?.bytes ?? 0;
    this.topologies.delete(id);
  }
}

export const a = new Reel("a");
export const b = new Reel("b");

/** What is shown now. */
export const shown = { a: null, b: null, key: "", number: 0, revision: 0 };
/** Grows with every frame that is shown, for what is told about it. */
export const seen = signal(0);
/** Edits whose picture is waited for, and the newest that have one: when each came so far [ms]. */
export const latencies = [];

/** A frame came or a picture was drawn: edits that it shows have theirs. */
export function note(what, revision) {
  const now = performance.now();
  for (const one of latencies) if (!one[what] && one.revision <= revision) one[what] = now;
  if (latencies.length > 500) latencies.splice(0, 250);
}

/** Frames got and frames waited for, for measuring. */
export const counts = { got: 0, waited: 0 };

let opened = 0;
let comparison = "null";

effect(() => {
  const state = remote.value;
  if (!state) return;
  if (state.opened !== opened) {
    opened = state.opened;
    a.clear();
    b.clear();
    Object.assign(shown, { a: null, b: null, key: "" });
  }
  const how = JSON.stringify(state.compared?.how ?? null);
  if (how !== comparison) {
    comparison = how;
    b.clear();
    Object.assign(shown, { b: null, key: "" });
  }
});

let expected = () => {};
/** Says who is to be told when a frame of a newer text must be got. */
export function onExpect(work) { expected = work; }

/** After an edit: the next frame shown must follow that text. */
export function expect(revision) {
  a.revision = Math.max(a.revision, revision);
  shown.key = "";
  expected();
}

let clock = 0;
let fetching = false;

/** Moves on in time, where it plays. */
export function tick(now) {
  if (!playing.value) { clock = 0; return; }
  const [first, last] = range.value;
  const step = 1000 / (fps.value * speed.value);
  if (clock === 0) clock = now;
  const due = Math.floor((now - clock) / step);
  if (due <= 0) return;
  clock += due * step;
  let next = frame.value;
  for (let done = 0; done < due; done += 1) {
    if (next >= last && !looping.value) { playing.value = false; break; }
    const following = next >= last ? first : next + 1;
    // What is not simulated yet is waited for; what is, may be skipped to keep time.
    if (!isReady(following)) {
      if (done === 0) next = following;
      clock = now;
      break;
    }
    next = following;
  }
  // One frame on at a time while the one before is still on its way.
  if (!fetching || isReady(next)) frame.value = next;
}

const isReady = number =>
  engine.value?.ready?.some(([from, to]) => number >= from && number <= to) ?? false;

/** Makes sure that what is shown is the present frame; answers whether something new is. */
export async function fetchShown() {
  const state = remote.value;
  if (!state || fetching) return false;
  const other = state.compared?.engine.take ?? -1;
  const key = `${opened}/${frame.value}/${state.engine.take}/${a.revision}/${comparison}/${other}`;
  if (shown.key === key) return false;
  fetching = true;
  const asked = opened;
  try {
    const number = frame.value;
    const both = state.compared !== null;
    const [left, right] = await Promise.all([
      a.get(number, 1000, state.engine.take), both ? b.get(number, 300, other) : null,
    ]);
    // Another scene was opened meanwhile: the camera would be set up for the old one.
    if (asked !== opened) return false;
    if (!left) { counts.waited += 1; return false; }
    const done = (!both || right) && frame.value === number;
    Object.assign(shown, { a: left, b: right ?? shown.b, number, revision: a.followed ?? 0 });
    shown.key = done ? `${opened}/${number}/${a.take}/${a.revision}/${comparison}/${both ? b.take : -1}` : "";
    counts.got += 1;
    note("got", shown.revision);
    seen.value += 1;
    return true;
  } catch {
    await new Promise(done => setTimeout(done, 200));
    return false;
  } finally {
    fetching = false;
  }
}

/** Gets frames around the playhead before they are asked for, so that scrubbing is instant. */
export async function readAhead() {
  const state = remote.value;
  if (!state || fetching || a.revision !== 0 || a.take !== state.engine.take || a.bytes > 0.8 * MOST_BYTES) return;
  const [first, last] = range.value;
  const from = frame.value;
  for (let distance = 1; distance <= Math.min(last - first, 500); distance += 1) {
    for (const number of [from + distance, from - distance]) {
      if (number < first || number > last || a.frames.has(number) || !isReady(number)) continue;
      const start = number < from ? Math.max(first, number - AT_ONCE + 1) : number;
      await a.ask(start, AT_ONCE, 0, true).catch(() => {});
      return;
    }
  }
}
