// The list of layers with their switches, and the dialog that adds one.
import { html, useEffect, useSignal } from "./third-party.js";
import { getJson, post } from "./api.js";
import { freshName, layerNames } from "./anchors.js";
import { send } from "./controls.js";
import { Frame } from "./dialogs.js";
import { shown } from "./player.js";
import { compared, dialog, doc, engine, layers, moment, panel, say, selectedLayer, trying } from "./state.js";

export function compareWithout(layer) {
  const how = compared.value ? null : { without: layer };
  return trying(() => post("compare", { how, moment: moment() }));
}

/** Compares with the scene as it is at this moment, or ends that. */
export const compareNow = () => trying(() => post("compare", { how: compared.value ? null : { as: "now" }, moment: moment() }));

const change = body => trying(() => post("switch", { ...body, moment: moment() }));

function choose(index) {
  selectedLayer.value = index;
  panel.value = "tune";
}

function removeLayer(layer) {
  return send([{ remove: { path: `layers[${layer.index}]` } }], `remove ${layer.params.name}`, null);
}

export function Layers() {
  const off = doc.value?.off ?? [];
  const chosen = layers.value[selectedLayer.value];
  return html`<div class="section scroll">
    <h2>Layers<span class="grow"></span>${doc.value && html`<button class="edge small" id="add-layer" title="Add a layer (+)" onClick=${() => { dialog.value = "add"; }}>+ Add</button>`}</h2>
    ${layers.value.map(layer => html`<div class=${`layer ${selectedLayer.value === layer.index ? "chosen" : ""}`} key=${layer.params.name}>
      <input type="checkbox" checked aria-label=${`${layer.params.name} on`} title="Switch the layer off; its lines stay in the text" onChange=${() => change({ layer: layer.index })} />
      <button class="name" aria-pressed=${selectedLayer.value === layer.index} onClick=${() => choose(layer.index)}>${layer.params.name}</button>
      <span class="kind">${layer.kind}</span></div>`)}
    ${off.map(layer => html`<div class="layer off" key=${`off ${layer.line}`}>
      <input type="checkbox" aria-label=${`${layer.name} on`} title="Switch the layer on" onChange=${() => change({ line: layer.line })} />
      <span class="name grow">${layer.name}</span><span class="kind">${layer.kind}</span></div>`)}
    ${!doc.value && (engine.value?.layers ?? []).map(([kind, name]) => html`<div class="layer"><span class="name grow">${name}</span><span class="kind">${kind}</span></div>`)}
    ${doc.value && layers.value.length === 0 && off.length === 0 && html`<p class="faint">No layer yet: add one, or draw on the model.</p>`}
    ${doc.value && html`<div class=${`layer ${selectedLayer.value < 0 ? "chosen" : ""}`}><span style="width:15px"></span>
      <button class="name" onClick=${() => choose(-1)}>Shot, forces, colliders</button></div>`}
    ${chosen && html`<p class="pair"><button class="edge" id="without" aria-pressed=${compared.value !== null} onClick=${() => compareWithout(selectedLayer.value)}
      title="Left with, right without the chosen layer (K)">${compared.value ? "End A/B" : "A/B without it"}</button>
      ${!compared.value && html`<button class="edge" id="with-now" title="Right stays as it is now; what is tuned from here on is seen left" onClick=${compareNow}>A/B with now</button>`}
      <button class="edge" id="remove-layer" title="Take the layer out of the text" onClick=${() => removeLayer(chosen)}>Remove</button></p>`}
  </div>`;
}

/** What a new layer of a kind needs besides its name and mesh. */
const KINDS = {
  flesh: ["Flesh", "Soft tissue that swings behind the bones."],
  wrinkles: ["Wrinkles", "Folds across lines on the skin; draw them with the wrinkle tool."],
  cloth: ["Cloth", "The mesh itself becomes cloth."],
  folds: ["Folds", "Folds along curves on a cloth; draw them with the fold tool."],
  hair: ["Hair", "Wisps that grow on the mesh."],
  drops: ["Drops", "Drops that run over it; click sources with the drop tool."],
};

function plainLayer(kind, mesh, from, to) {
  const name = freshName(kind, layerNames());
  const extra = { flesh: { from, to: [to] }, wrinkles: { tools: [] }, folds: { folds: [] }, drops: { liquid: { preset: "water" }, sources: [] } }[kind];
  return { [kind]: { name, on: mesh, ...extra } };
}

/** Adds a layer: one that is proposed for a character, or a plain one of any kind. */
export function AddLayer() {
  const found = useSignal(null);
  const meshes = (shown.a?.head.meshes ?? []).map(m => m.name);
  const mesh = useSignal(meshes[0] ?? "");
  const bone = useSignal(["", ""]);
  useEffect(() => { trying(async () => { found.value = await getJson("proposals"); }); }, []);
  const add = async value => {
    const index = layers.value.length;
    const done = await send([{ append: { path: "layers", value } }], "add a layer", null);
    if (!done) return;
    choose(index);
    dialog.value = null;
    say("a layer was added");
  };
  const taken = layerNames();
  const offered = (found.value ?? []).flatMap(actor => actor.layers).filter(l => !taken.includes(l.name));
  const joints = found.value?.find(x => x.actor === mesh.value.split("/")[0])?.joints ?? [];
  const pick = (place, label) => html`<select aria-label=${label} value=${bone.value[place]} onChange=${e => { bone.value = bone.value.map((b, k) => k === place ? e.target.value : b); }}>
    <option value="">${label}</option>${joints.map(j => html`<option value=${j}>${j}</option>`)}</select>`;
  return html`<${Frame} title="Add a layer">
    <h2 style="margin:2px 0 6px">Proposed for these characters</h2>
    <div class="cards">${offered.map(l => html`<button class="card" data-proposed=${l.name} onClick=${() => add(l.value)}><b>${l.name} <span class="faint">${l.kind}</span></b><span>${l.why}</span></button>`)}
      ${offered.length === 0 && html`<span class="faint">${found.value ? "Nothing more is proposed." : "Looking at the rigs …"}</span>`}</div>
    <h2 style="margin:14px 0 6px">Plain</h2>
    <div class="row" style="margin-bottom:8px"><label for="add-mesh">on</label><select id="add-mesh" value=${mesh.value} onChange=${e => { mesh.value = e.target.value; }}>${meshes.map(m => html`<option value=${m}>${m}</option>`)}</select>
      ${joints.length > 0 && html`${pick(0, "flesh from joint")}${pick(1, "to joint")}`}</div>
    <div class="cards">${Object.entries(KINDS).map(([kind, [name, about]]) => {
      const ready = kind !== "flesh" || (bone.value[0] && bone.value[1]);
      return html`<button class="card" data-kind=${kind} disabled=${!mesh.value || !ready} title=${ready ? "" : "choose the joints that it hangs between"}
        onClick=${() => add(plainLayer(kind, mesh.value, bone.value[0], bone.value[1]))}><b>${name}</b><span>${about}</span></button>`;
    })}</div><//>`;
}
