// The page: layout, keys, and what belongs to no other module.
import { effect, html, render, signal, useEffect, useRef } from "./third-party.js";
import { getJson, post, postFile } from "./api.js";
import { Tune, controlsOf, letGo, send } from "./controls.js";
import { Dialogs, Progress, icon } from "./dialogs.js";
import { TOOLS, Tools, attach, chooseTool, drawKey } from "./draw.js";
import { Graphs } from "./graphs.js";
import { AddLayer, Layers, compareWithout } from "./layers.js";
import { Legend, ViewMenu, menu, setOption } from "./look.js";
import { a, b, counts, latencies, seen, shown } from "./player.js";
import {
  compared, connected, dialog, doc, engine, follow, frame, graphsOpen, layers, looping, moment, notice, options, panel, playing, range,
  redo, remote, save, say, schema, selectedLayer, speed, splitAt, symmetry, takeFirst, theme, tool, trouble, trying, undo,
} from "./state.js";
import { Remarks } from "./remarks.js";
import { TextPane } from "./text.js";
import { Timeline, go, stepBy } from "./timeline.js";
import { View } from "./view.js";

let view = null;
const dropping = signal(false);

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem("frisson-theme", theme.value);
});
effect(() => {
  const name = doc.value?.name ?? remote.value?.cache ?? "";
  document.title = `${doc.value?.unsaved ? "• " : ""}${name} – Frisson studio`;
});

function toggleTheme() {
  const dark = view.isDark;
  theme.value = dark ? "light" : "dark";
}

/** Frames a second, of how long one takes [ms]. */
function rateOf(time) {
  const rate = 1000 / time;
  return rate < 10 ? rate.toFixed(1) : rate.toFixed(0);
}

function Top() {
  const state = remote.value;
  const busy = engine.value?.busy;
  return html`<header class="top">
    <span class="brand">frisson</span>
    <span class="file" title=${doc.value?.path ?? state?.cache ?? ""}>${doc.value?.name ?? state?.cache ?? "…"}</span>
    <span class="unsaved" title="unsaved" style=${doc.value?.unsaved ? "" : "visibility:hidden"}>•</span>
    <span class="rule"></span>
    <button onClick=${() => { dialog.value = "open"; }} title="Open (Ctrl O)">Open</button>
    <button disabled=${!doc.value} onClick=${() => saveOrAsk()} title="Save (Ctrl S)">Save</button>
    <button disabled=${!doc.value} onClick=${() => { dialog.value = "save"; }}>Save as</button>
    <button class="square" id="undo" disabled=${!doc.value?.undo} title=${`Undo ${doc.value?.undo ?? ""} (Ctrl Z)`} aria-label="undo" onClick=${undo}>${icon("undo")}</button>
    <button class="square" id="redo" disabled=${!doc.value?.redo} title=${`Redo ${doc.value?.redo ?? ""} (Ctrl Shift Z)`} aria-label="redo" onClick=${redo}>${icon("redo")}</button>
    <span class="grow"></span>
    <${Progress} small />
    <span class="status" id="status" role="status">${!connected.value ? "frisson does not answer" : busy === "building" ? "building …"
      : busy === "simulating" ? `simulating${engine.value.frame_ms > 0 ? `, ${rateOf(engine.value.frame_ms)} frames/s` : " …"}` : trouble.value.length ? "see Text" : "ready"}</span>
    <button id="draft" aria-pressed=${state?.draft ?? false} title="Lighter layers, for a first look" disabled=${!doc.value} onClick=${() => trying(() => post("draft", { draft: !state.draft, moment: moment() }))}>Draft</button>
    <button class="square" id="see" title="See (wireframe, colours, overlays)" aria-label="what is shown" aria-pressed=${menu.value} onClick=${() => { menu.value = !menu.value; }}>${icon("eye")}</button>
    <button class="square" title="See everything (A)" aria-label="see everything" onClick=${() => view.frameAll()}>${icon("frame")}</button>
    <button class="square" title="Light or dark" aria-label="light or dark" onClick=${toggleTheme}>${icon("sun")}</button>
    <button title="Keys (?)" aria-label="keys" onClick=${() => { dialog.value = "help"; }}>?</button>
    <button class="main" onClick=${() => { dialog.value = "bake"; }} title="Bake, export, render (B)">Bake</button>
    ${menu.value && html`<${ViewMenu} view=${view} />`}
  </header>`;
}

async function saveOrAsk() {
  if (doc.value?.in_file) await save();
  else dialog.value = "save";
}

function Right() {
  if (!doc.value) {
    return html`<aside class="right"><div class="section"><h2>A finished bake</h2><p class="faint">Nothing can be tuned here: open the scene it was made from.
      Graphs, the judge, export and pictures work as they do for scenes.</p></div></aside>`;
  }
  return html`<aside class="right" aria-label="parameters">
    <div class="tabs" role="tablist">
      <button role="tab" aria-selected=${panel.value === "tune"} onClick=${() => { panel.value = "tune"; }}>Tune</button>
      <button role="tab" id="text-tab" aria-selected=${panel.value === "text"} onClick=${() => { panel.value = "text"; }}>Text${trouble.value.length ? " ⚠" : ""}</button>
    </div>
    ${panel.value === "tune" ? html`<${Tune} />` : html`<${TextPane} />`}</aside>`;
}

function Banners() {
  const state = doc.value;
  return html`${state?.recovered && html`<div class="banner" role="alert">Unsaved changes of an earlier run were found.
      <button class="main" id="recover" onClick=${() => trying(() => post("recover", { take: true, moment: moment() }))}>Take them back</button>
      <button class="edge" onClick=${() => trying(() => post("recover", { take: false }))}>Let them go</button></div>`}
    ${state?.outside && html`<div class="banner" role="alert">The file was changed by somebody else.
      <button class="main" onClick=${() => trying(() => post("outside", { take: true, moment: moment() }))}>Take theirs</button>
      <button class="edge" onClick=${() => trying(() => post("outside", { take: false }))}>Stay with mine</button></div>`}
    ${(remote.value?.pages ?? 1) > 1 && html`<div class="banner" id="second" role="status">${remote.value.pages} pages show this scene: edits of each are seen in all.</div>`}
    ${!connected.value && html`<div class="banner" role="alert">frisson does not answer. Start it again: what is unsaved is kept and offered.</div>`}`;
}

function Split() {
  const drag = event => {
    if (!event.buttons) return;
    const box = view.canvas.getBoundingClientRect();
    splitAt.value = Math.min(0.98, Math.max(0.02, (event.clientX - box.left) / box.width));
  };
  const bad = compared.value.engine.trouble[0]?.message;
  const what = bad ? `cannot be compared: ${bad}` : compared.value.how.without !== undefined
    ? `without the layer “${layers.value[compared.value.how.without]?.params.name ?? ""}”` : "as it was";
  return html`<div class="side" style="left:12px">now</div><div class="side" style="right:12px">${what}</div>
    <div class="split" role="slider" tabindex="0" aria-label="split" aria-valuenow=${Math.round(100 * splitAt.value)} style=${`left:${100 * splitAt.value}%`}
    onPointerDown=${e => e.target.setPointerCapture(e.pointerId)} onPointerMove=${drag}
    onKeyDown=${e => { if (e.key === "ArrowLeft" || e.key === "ArrowRight") { splitAt.value = Math.min(0.98, Math.max(0.02, splitAt.value + (e.key === "ArrowLeft" ? -0.02 : 0.02))); e.stopPropagation(); } }}></div>`;
}

function Picture() {
  const place = useRef(null);
  useEffect(() => {
    view = new View(place.current);
    attach(view);
    window.studio = { view, frame, trouble, playing, doc, remote, engine, counts, shown, a, b, latencies, layers, controlsOf, letGo, send, speed, looping, options, splitAt };
  }, []);
  const { meshes = [], curves = [] } = seen.value ? shown.a?.head ?? {} : {};
  const verts = meshes.reduce((sum, m) => sum + m.count, 0);
  const hairs = curves.reduce((sum, c) => sum + (a.topologies.get(c.topology)?.head.counts[1] ?? 0), 0);
  return html`<main class=${`view ${dropping.value ? "drop" : ""}`}
      onDragOver=${e => { e.preventDefault(); dropping.value = true; }} onDragLeave=${() => { dropping.value = false; }} onDrop=${take}>
    <div class="place" ref=${place}></div>
    ${compared.value && view && html`<${Split} />`}
    <${Legend} ends=${() => view?.colourRange()} />
    <${Banners} />
    <div class="hint"><${Remarks} /><span class="grow"></span>
      ${engine.value?.rough && html`<div id="rough">shown roughly until you let go</div>`}
      ${verts + hairs > 0 && html`<div>${verts.toLocaleString("en")} vertices${hairs > 0 ? `, ${hairs.toLocaleString("en")} hairs` : ""}</div>`}</div>
    ${notice.value && html`<div class=${`notice ${notice.value.kind}`} role="status">${notice.value.text}</div>`}
  </main>`;
}

function take(event) {
  event.preventDefault();
  dropping.value = false;
  const [file] = event.dataTransfer.files;
  if (file) trying(async () => { await postFile(file); say(`opened ${file.name}`); });
}

function App() {
  return html`<div class="studio">
    <${Top} />
    <nav class="left" aria-label="layers and tools"><${Layers} /><${Tools} /></nav>
    <${Picture} />
    <${Right} />
    <footer class="time"><${Timeline} />${graphsOpen.value && html`<${Graphs} view=${view} />`}</footer>
    ${dialog.value === "add" ? html`<${AddLayer} />` : html`<${Dialogs} view=${view} />`}
  </div>`;
}

const PLAIN = {
  Escape: () => { menu.value = false; },
  " ": () => { playing.value = !playing.value; }, l: () => { looping.value = !looping.value; }, t: () => { panel.value = panel.value === "tune" ? "text" : "tune"; },
  g: () => { graphsOpen.value = !graphsOpen.value; }, b: () => { dialog.value = "bake"; }, a: () => view.frameAll(), ".": () => view.frameChosen(), r: () => view.lookAsScene(),
  z: () => setOption("wireframe", !options.value.wireframe), o: () => setOption("overlays", !options.value.overlays), i: () => setOption("insides", !options.value.insides), "+": () => { if (doc.value) dialog.value = "add"; }, x: () => { symmetry.value = !symmetry.value; },
  k: () => compareWithout(Math.max(0, selectedLayer.value)), "?": () => { dialog.value = "help"; }, Home: () => go(range.value[0]), End: () => go(range.value[1]),
  "/": () => { panel.value = "tune"; setTimeout(() => document.getElementById("search")?.focus()); }, 0: () => { selectedLayer.value = -1; },
};

addEventListener("keydown", event => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range" && event.target.type !== "checkbox";
  const ctrl = event.ctrlKey || event.metaKey;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  let taken = true;
  if (ctrl && key === "z" && !(typing && event.target.tagName !== "TEXTAREA")) event.shiftKey ? redo() : undo();
  else if (ctrl && key === "y") redo();
  else if (ctrl && key === "s") saveOrAsk();
  else if (ctrl && key === "o") dialog.value = "open";
  else if (typing || ctrl || event.altKey) taken = false;
  else if (dialog.value) {
    taken = key === "Escape";
    if (taken) dialog.value = null;
  }
  else if (drawKey(event, view)) taken = true;
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    if (event.target.type === "range") return;
    stepBy((event.key === "ArrowLeft" ? -1 : 1) * (event.shiftKey ? 10 : 1));
  } else if (key === " " && event.target.tagName === "BUTTON") taken = false;
  else if (PLAIN[key]) PLAIN[key]();
  else if (/^[1-9]$/.test(key) && layers.value[Number(key) - 1]) selectedLayer.value = Number(key) - 1;
  else {
    const found = TOOLS.find(t => t.key.toLowerCase() === key);
    if (found) chooseTool(found.id);
    taken = Boolean(found);
  }
  if (taken) event.preventDefault();
});

// A button that was clicked does not keep the keyboard: space plays. Who uses keys has it where they put it.
addEventListener("click", event => {
  if (event.detail > 0 && !event.target.closest(".dialog")) event.target.closest("button")?.blur();
});

// What is open beside a menu closes it.
addEventListener("pointerdown", event => {
  if (menu.value && !event.target.closest(".menu, #see")) menu.value = false;
});

takeFirst().then(parcel => {
  if (parcel) a.takeFirst(parcel);
  follow();
  trying(async () => { schema.value = await getJson("schema"); });
});
render(html`<${App} />`, document.getElementById("app"));
