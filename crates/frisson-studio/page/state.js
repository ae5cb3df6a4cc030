// What is known: signals that everything on the page is drawn from.
import { signal, computed, batch } from "./third-party.js";
import { getJson, post, Refused } from "./api.js";
import { first, page } from "./first.js";
import { unpack } from "./wire.js";

/** What the server says, whole. */
export const remote = signal(null);
/** Text, scene, troubles of the open scene; null for a cache. */
export const doc = signal(null);
export const schema = signal(null);
export const connected = signal(true);
/** A few words at the bottom, for a few seconds. */
export const notice = signal(null);

export const frame = signal(0);
export const playing = signal(false);
export const speed = signal(1);
export const looping = signal(true);
/** After an edit: go on from the present frame, or simulate again from the start. */
export const again = signal(false);

export const selectedLayer = signal(0);
export const panel = signal("tune");
export const dialog = signal(null);
export const tool = signal("look");
export const symmetry = signal(false);
export const toolSize = signal(0.06);
/** Share of a brush's radius over which it fades out. Pins are whole unless somebody wants them soft. */
const falloffs = { pins: signal(0), mask: signal(0.6) };
/** That of the brush in the hand. */
export const brushFalloff = () => falloffs[tool.value] ?? falloffs.mask;
export const onlyChanged = signal(false);
export const search = signal("");
export const options = signal({ wireframe: false, overlays: true, insides: false, grid: true, colour: "", shadow: true, follow: false });
export const splitAt = signal(0.5);
export const graphsOpen = signal(false);
export const theme = signal(localStorage.getItem("frisson-theme") ?? "");

export const engine = computed(() => remote.value?.engine ?? null);
export const compared = computed(() => remote.value?.compared ?? null);
export const job = computed(() => remote.value?.job ?? null);
export const range = computed(() => engine.value?.range ?? [0, 0]);
export const fps = computed(() => engine.value?.fps || 30);
/** Places that layers name. Set only when they are others: the picture is drawn anew for them. */
export const places = signal([]);
export const trouble = computed(() => {
  const text = doc.value?.trouble ?? [];
  return text.length ? text : engine.value?.trouble ?? [];
});
export const layers = computed(() => (doc.value?.scene?.layers ?? []).map((layer, index) => {
  const kind = Object.keys(layer)[0];
  return { index, kind, params: layer[kind], path: `layers[${index}].${kind}` };
}));

let noticeTimer = 0;
/** Says something for a few seconds. */
export function say(text, kind = "word") {
  notice.value = { text, kind };
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { notice.value = null; }, kind === "bad" ? 8000 : 3500);
}

/** Runs something that the server may refuse; says why. */
export async function trying(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) say(error.message, "bad");
    else if (error.name !== "AbortError") say(`no answer from frisson: ${error.message}`, "bad");
    return null;
  }
}

/** Points of hair that are drawn in a twentieth of a second, as far as is known. */
export const room = { points: 0 };
export const moment = () => ({ frame: frame.value, again: again.value, room: room.points });

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const isPart = (part, whole) => Object.entries(part).every(([key, value]) => isSame(value, whole[key]));

/** News come many times a second while frames are simulated; only what differs is passed on. */
function take(state) {
  batch(() => {
    const before = doc.value;
    const is_new = remote.value?.opened !== state.opened;
    remote.value = state;
    if (!isSame(state.places ?? [], places.value)) places.value = state.places ?? [];
    const says_nothing_new = before && state.document && !is_new && isPart(state.document, before);
    if (state.document && !says_nothing_new) {
      const now = state.document.text === undefined && before && !is_new
        ? { ...before, ...state.document } : state.document;
      // While the text has mistakes, the lists show what it said before.
      if (now.scene === null && before && !is_new) now.scene = before.scene;
      doc.value = now;
    } else if (!state.document) {
      doc.value = null;
    }
    if (is_new) {
      frame.value = state.engine.range[0];
      selectedLayer.value = 0;
    }
  });
}

/** Takes what came before anything else; answers with it, for the player. */
export async function takeFirst() {
  const bytes = await first;
  if (!bytes) return null;
  const parcel = unpack(bytes);
  take(parcel.head.state);
  return parcel;
}

/** Follows the server's news for as long as the page is open. */
export async function follow() {
  let seen = remote.value?.seq ?? 0;
  for (;;) {
    try {
      const have = doc.value?.revision ?? 0;
      const opened = remote.value?.opened ?? 0;
      const state = await getJson(`state?seen=${seen}&have=${have}&opened=${opened}&page=${page}`);
      seen = state.seq;
      connected.value = true;
      take(state);
      // Twenty times a second is news enough.
      await new Promise(done => setTimeout(done, 50));
    } catch {
      connected.value = false;
      seen = 0;
      await new Promise(done => setTimeout(done, 1000));
    }
  }
}

/** Edits of the text: all or none. */
export function edit(edits, label, merge = null) {
  return trying(async () => {
    const done = await post("edit", { edits, label, merge, moment: moment() });
    return done;
  });
}

export const undo = () => trying(async () => {
  const done = await post("undo", { moment: moment() });
  say(done.label ? `undone: ${done.label}` : "nothing to undo");
});
export const redo = () => trying(async () => {
  const done = await post("redo", { moment: moment() });
  say(done.label ? `done again: ${done.label}` : "nothing to do again");
});
export const save = (name = null, replace = false) => trying(async () => {
  await post("save", { name, replace });
  say("saved");
  return true;
});

/** A value at a path such as `layers[0].flesh.to[1]`. */
export function valueAt(root, path) {
  let at = root;
  for (const step of path.split(/[.[\]]+/).filter(Boolean)) {
    if (at === null || at === undefined) return undefined;
    at = at[step];
  }
  return at;
}
