// What is seen: wireframe, overlays, colours, camera, comparison.
import { effect, html, signal } from "./third-party.js";
import { post } from "./api.js";
import { send } from "./controls.js";
import { compareNow } from "./layers.js";
import { INSIDES, kindsOf } from "./overlays.js";
import { seen, shown } from "./player.js";
import { heatBar, strainBar } from "./shaders.js";
import { compared, doc, layers, moment, options, remote, trying } from "./state.js";

export const menu = signal(false);
export const setOption = (key, value) => { options.value = { ...options.value, [key]: value }; };

/** Colours that the kinds of layers can show. */
const OF_KIND = {
  flesh: l => [`flesh:${l.params.name}`], wrinkles: () => ["compression", "wrinkle_height"], folds: () => ["fold_factor", "fold_height"],
  drops: () => ["wetness"], soft: () => ["pressure"], cloth: () => [], hair: () => [],
};
const NAMES = {
  strain: "stretch and compression", penetration: "depth inside others", compression: "compression under wrinkles",
  wrinkle_height: "height of wrinkles", fold_factor: "factor of folds (1 as drawn)", fold_height: "height of folds",
};
export const nameOf = colour => NAMES[colour] ?? colour.replaceAll("_", " ").replace(":", " of ");

/** Everything the mesh can be coloured by. */
function colours(view) {
  const own = layers.value.flatMap(l => OF_KIND[l.kind]?.(l) ?? []);
  return [...new Set(["strain", ...(doc.value ? ["penetration"] : []), ...own, ...view.attributes()])];
}

let asked = "";
/** What must be simulated or looked up for it, asked of the server when it is another. */
effect(() => {
  const { insides, colour } = options.value;
  const before = remote.value?.reveal;
  if (!before || !doc.value) return;
  const attributes = before.attributes || (colour !== "" && colour !== "strain" && colour !== "penetration");
  const reveal = { attributes, insides, penetration: colour === "penetration" };
  const key = JSON.stringify(reveal);
  if (key === JSON.stringify({ attributes: before.attributes, insides: before.insides, penetration: before.penetration }) || key === asked) return;
  asked = key;
  trying(() => post("reveal", { reveal, moment: moment() }));
});

function keepCamera(view) {
  const { eye, target, fov_deg } = view.cameraParams();
  send([{ set: { path: "camera.eye", value: eye } }, { set: { path: "camera.target", value: target } }, { set: { path: "camera.fov_deg", value: fov_deg } }], "keep the view", null);
}

export function ViewMenu({ view }) {
  const box = (key, name) => html`<label><input type="checkbox" data-option=${key} checked=${options.value[key]} onChange=${e => setOption(key, e.target.checked)} /> ${name}</label>`;
  return html`<div class="menu" role="menu">
    ${box("wireframe", "Wireframe (Z)")} ${box("overlays", "Lines and points of layers (O)")} ${box("insides", "Insides of layers (I)")}
    ${box("grid", "Grid")} ${box("shadow", "Shadow")} ${box("follow", "Go along with the subject")}
    <label><span style="white-space:nowrap">Colour by</span> <select id="colour" value=${options.value.colour} onChange=${e => setOption("colour", e.target.value)}>
      <option value="">material</option>${colours(view).map(name => html`<option value=${name}>${nameOf(name)}</option>`)}</select></label>
    <button class="edge" onClick=${() => view.lookAsScene()}>The scene's camera (R)</button>
    <button class="edge" id="keep-camera" disabled=${!doc.value} onClick=${() => keepCamera(view)}>Keep this view as the scene's camera</button>
    <button class="edge" disabled=${!doc.value} onClick=${compareNow}>${compared.value ? "End the comparison" : "Compare with this moment"}</button>
  </div>`;
}

/** What colours and lines mean. */
export function Legend({ ends: endsOf }) {
  const parcel = seen.value ? shown.a : null;
  const name = options.value.colour;
  const kinds = options.value.insides && parcel ? kindsOf(parcel) : [];
  if (!name && !kinds.length) return null;
  const strain = name === "strain";
  const ends = strain ? ["-25 %", "+25 %"] : (endsOf() ?? ["–", "–"]).map(v => typeof v === "number" ? Number(v.toPrecision(3)) : v);
  return html`<div class="legend">${name && html`${strain ? "stretch against the first frame" : nameOf(name)}${name === "penetration" ? " [m]" : ""}
    <div class="bar" style=${`background:${strain ? strainBar : heatBar}`}></div>
    <div class="row"><span>${ends[0]}</span><span>${ends[1]}</span></div>`}
    ${kinds.map(kind => html`<div><span class="dot" style=${`background:#${INSIDES[kind][0].toString(16).padStart(6, "0")}`}></span>${INSIDES[kind][1]}</div>`)}</div>`;
}
