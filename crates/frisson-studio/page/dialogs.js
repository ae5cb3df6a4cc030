// What opens over the page, and the small pictures on buttons.
import { html, useEffect, useRef, useSignal } from "./third-party.js";
import { getJson, post } from "./api.js";
import { shown } from "./player.js";
import { dialog, doc, fps, frame, job, playing, range, remote, save, say, trying } from "./state.js";

const PATHS = {
  play: "M6 4l9 5-9 5z", pause: "M6 4v10M12 4v10", start: "M4 4v10M14 4l-7 5 7 5z", back: "M12 4l-7 5 7 5z", next: "M6 4l7 5-7 5z",
  loop: "M4 7a5 5 0 0 1 9-1M14 3v3h-3M14 11a5 5 0 0 1-9 1M4 15v-3h3",
  undo: "M4 7h6a4 4 0 0 1 0 8H7M4 7l3-3M4 7l3 3", redo: "M14 7H8a4 4 0 0 0 0 8h3M14 7l-3-3M14 7l-3 3",
  look: "M2 9s3-5 7-5 7 5 7 5-3 5-7 5-7-5-7-5zM9 7a2 2 0 1 0 0 4 2 2 0 0 0 0-4",
  wrinkle: "M2 12c2 0 2-6 4-6s2 6 4 6 2-6 4-6 1 3 2 3", fold: "M3 14C6 4 12 14 15 4",
  pins: "M9 2v8M6 3h6l-1 4 2 3H5l2-3zM9 10v6", mask: "M4 14l7-7 3 3-6 5H5zM11 7l2-3 3 3-2 3",
  comb: "M3 4h12M4 4v9M7 4v9M10 4v9M13 4v9", part: "M9 2v14M7 5C5 7 3 10 3 14M11 5c2 2 4 5 4 9",
  drop: "M9 2c3 4 5 6 5 9a5 5 0 0 1-10 0c0-3 2-5 5-9z", ball: "M9 3a6 6 0 1 0 0 12A6 6 0 0 0 9 3zM3 9h12M9 3c-3 4-3 8 0 12",
  mirror: "M9 2v14M7 5L3 13h4zM11 5l4 8h-4z", frame: "M3 6V3h3M12 3h3v3M15 12v3h-3M6 15H3v-3",
  sun: "M9 6a3 3 0 1 0 0 6 3 3 0 0 0 0-6M9 2v1M9 15v1M2 9h1M15 9h1M4 4l1 1M13 13l1 1M14 4l-1 1M5 13l-1 1",
  eye: "M3 5h12M3 9h12M3 13h12", camera: "M2 6h3l1-2h6l1 2h3v8H2zM9 8a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5",
};
export const icon = name => html`<svg class="icon" viewBox="0 0 18 18" aria-hidden="true"><path d=${PATHS[name] ?? ""} /></svg>`;

/** A dialog that holds the keyboard while it is open. */
export function Frame({ title, children }) {
  const box = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    // What is typed first, where something is; else the dialog itself.
    (box.current.querySelector(".inside input[type=search], #save-name") ?? box.current).focus();
    return () => before?.focus?.();
  }, []);
  const close = () => { dialog.value = null; };
  return html`<div class="shade" onPointerDown=${e => { if (e.target.className === "shade") close(); }}>
    <div class="dialog" role="dialog" aria-modal="true" tabindex="-1" aria-label=${title} ref=${box} onKeyDown=${e => { if (e.key === "Escape") close(); }}>
      <header>${title}<span class="grow"></span><button aria-label="close" onClick=${close}>✕</button></header>
      <div class="inside">${children}</div>
    </div></div>`;
}

const KEYS = [
  ["space", "play or pause"], ["← →", "one frame back or on"], ["Shift ← →", "ten frames"], ["Home End", "first, last frame"],
  ["Ctrl Z", "undo"], ["Ctrl Shift Z", "redo"], ["Ctrl S", "save"], ["Ctrl O", "open"], ["B", "bake and export"],
  ["/", "find a parameter"], ["1 … 9", "choose a layer"], ["0", "the shot itself"], ["T", "text or controls"], ["G", "graphs and findings"],
  ["V W F P M H N D C", "tools: look, wrinkle, fold, pins, select, comb, parting, drops, collider"], ["X", "left and right alike"], ["Enter Esc", "end or drop a curve"],
  ["A", "see everything"], [".", "see the chosen layer"], ["R", "the scene's own camera"], ["Z", "wireframe"], ["O", "lines and points of layers"], ["I", "insides of layers"], ["+", "add a layer"], ["K", "compare without the chosen layer"], ["L", "loop"], ["?", "this page"],
];

function Help() {
  return html`<${Frame} title="Keys"><div class="keys">${KEYS.map(([key, about]) =>
    html`<div class=${key.length > 14 ? "whole" : ""}><span>${about}</span><span>${key.split(" ").map(k => html`<kbd>${k}</kbd> `)}</span></div>`)}</div>
    <p class="faint">Drag to orbit; right button, or two fingers with Ctrl, to pan; wheel or pinch to zoom. Every edit is an edit of the text, and can be undone.</p><//>`;
}

/** Scenes of the gallery by what they show: the first word of their names. */
function byKind(scenes) {
  const kinds = new Map();
  for (const scene of scenes) {
    const [kind] = scene.name.split("-");
    kinds.set(kind, [...(kinds.get(kind) ?? []), scene]);
  }
  return [...kinds];
}

function Open() {
  const choices = useSignal(null);
  const asked = useSignal("");
  useEffect(() => { trying(async () => { choices.value = await getJson("choices"); }); }, []);
  const open = name => trying(async () => { await post("open", { name }); dialog.value = null; });
  const fits = text => text.toLowerCase().includes(asked.value.toLowerCase());
  const found = choices.value ?? { files: [], gallery: [], cast: [] };
  return html`<${Frame} title="Open">
    <input type="search" placeholder="Find a scene or a character" aria-label="find" onInput=${e => { asked.value = e.target.value; }} />
    <h2 style="margin:12px 0 6px">Beside the scene</h2>
    <div class="cards">${found.files.filter(fits).map(f => html`<button class="card" data-file=${f} onClick=${() => open(f)}><b>${f}</b></button>`)}
      ${found.files.length === 0 && html`<span class="faint">Nothing yet. Drop a .glb, .toml or .frisson file on the page.</span>`}</div>
    <h2 style="margin:14px 0 0">Gallery</h2>
    ${byKind(found.gallery.filter(g => fits(`${g.name} ${g.title} ${g.look_for}`))).map(([kind, scenes]) => html`<h3 class="kind">${kind}</h3>
      <div class="cards">${scenes.map(g => html`<button class="card" data-scene=${g.name} onClick=${() => open(`gallery:${g.name}`)}>
        <b>${g.title ?? g.name}</b><span>${g.look_for ?? ""}</span></button>`)}</div>`)}
    <h2 style="margin:14px 0 6px">Built-in cast</h2>
    <div class="cards">${found.cast.filter(fits).map(c => html`<button class="card" data-cast=${c} onClick=${() => open(`builtin:${c}`)}><b>${c}</b></button>`)}</div><//>`;
}

function SaveAs() {
  const name = useSignal(doc.value?.name ?? "shot.toml");
  const replace = useSignal(false);
  const go = async () => { if (await save(name.value, replace.value)) dialog.value = null; };
  return html`<${Frame} title="Save as"><div class="form">
    <label for="save-name">File name</label><input id="save-name" type="text" value=${name.value} onInput=${e => { name.value = e.target.value; }} onKeyDown=${e => e.key === "Enter" && go()} />
    <span></span><label class="row"><input type="checkbox" checked=${replace.value} onChange=${e => { replace.value = e.target.checked; }} /> replace a file that is there</label>
    <span></span><div><button class="main" onClick=${go}>Save</button></div></div><//>`;
}

const FORMATS = [["alembic", "abc", "Alembic (Blender, Maya, Houdini, Unreal)"], ["usd", "usdc", "USD (Houdini, Maya, Blender)"], ["glb", "glb", "GLB (three.js, Unity, any viewer)"],
  ["pc2", "pc2", "PC2 (mesh cache)"], ["mdd", "mdd", "MDD (mesh cache)"], ["obj", "obj", "OBJ sequence"]];

export function Progress({ small }) {
  const now = job.value;
  if (!now) return null;
  const share = now.total ? now.done / now.total : 0;
  const left = now.done > 0 && now.state === "running" ? now.seconds / now.done * (now.total - now.done) : 0;
  if (now.state !== "running") return small ? null : html`<p class=${now.state === "failed" ? "problem" : ""} role="status">${now.state}: ${now.message}</p>`;
  return html`<div class="row" role="status">
    <span class="status">${now.what} ${now.done}/${now.total}${left > 1 ? `, ${Math.ceil(left)} s left` : ""}</span>
    <div class="progress"><div style=${`width:${100 * share}%`}></div></div>
    <button class="edge stop" onClick=${() => trying(() => post("stop"))}>Stop</button></div>`;
}

function Bake({ view }) {
  const format = useSignal(0);
  const [key, ending, about] = FORMATS[format.value];
  const stem = (doc.value?.name ?? "shot.toml").replace(/\.[^.]+$/, "");
  const file = useSignal("");
  const start = task => trying(async () => { await post("job", { task }); });
  const running = job.value?.state === "running";
  const baked = remote.value?.baked;
  const render = kind => start({ render: { kind, frame: frame.value, camera: kind === "still" ? view.cameraParams() : null } });
  return html`<${Frame} title="Bake, export, render">
    <div class="form">
      ${doc.value && html`<span>Bake</span><div class="row">
        <button class="main" id="bake" disabled=${running} onClick=${() => start({ bake: { mode: baked ? "replace" : "new" } })}>${baked ? "Bake again" : "Bake"}</button>
        <button class="edge" id="resume" disabled=${running || !remote.value?.resumable} title="Go on with a bake that was stopped" onClick=${() => start({ bake: { mode: "resume" } })}>Resume</button>
        <span class="faint">full quality, to ${stem}.frisson; goes on when this page is closed</span></div>`}
      <span>Export</span><div class="row">
        <select aria-label="format" value=${format.value} onChange=${e => { format.value = Number(e.target.value); file.value = ""; }}>${FORMATS.map((f, k) => html`<option value=${k}>${f[2]}</option>`)}</select>
        <input type="text" aria-label="file" value=${file.value || `${stem}.${ending}`} onInput=${e => { file.value = e.target.value; }} />
        <button class="edge" id="export" disabled=${running || !baked} onClick=${() => start({ export: { export: { [key]: file.value || `${stem}.${ending}` }, replace: true } })}>Export</button></div>
      <span>Ray-traced</span><div class="row">
        <button class="edge" id="still" disabled=${running || !baked} onClick=${() => render("still")}>This view</button>
        <button class="edge" id="sheet" disabled=${running || !baked} onClick=${() => render("sheet")}>Contact sheet</button>
        <button class="edge" id="animation" disabled=${running || !baked} onClick=${() => render("animation")}>Animation (WebP)</button></div>
      <span>Of this view</span><div class="row">
        <button class="edge" id="png" onClick=${() => picture(view, stem)}>PNG</button>
        <button class="edge" id="film" onClick=${() => trying(() => film(view, stem))}>WebM</button>
        <span class="faint">as it is drawn here</span></div>
      <span>Judge</span><div class="row"><button class="edge" id="judge" disabled=${running || !baked} onClick=${() => start("judge")}>Look for pops, jitter, stretch</button></div>
    </div>
    <div style="min-height:64px;margin-top:14px"><${Progress} />
      ${(job.value?.files ?? []).map(f => html`<div class="faint">wrote ${f}</div>`)}
      ${(job.value?.remarks ?? []).map(r => html`<div class="remark">note: ${r}</div>`)}</div><//>`;
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function picture(view, stem) {
  view.drawWhole();
  view.canvas.toBlob(blob => download(blob, `${stem}.${frame.value}.png`));
}

/** Shows the shot once from its start, frame by frame, and keeps what is drawn: none is left out where drawing is slow. */
async function film(view, stem) {
  const [first, last] = range.value;
  const [was, step] = [frame.value, 1000 / fps.value];
  const stream = view.canvas.captureStream(0);
  const [track] = stream.getVideoTracks();
  const recorder = new MediaRecorder(stream, { mimeType: "video/webm", videoBitsPerSecond: 12e6 });
  const parts = [];
  recorder.ondataavailable = e => parts.push(e.data);
  const ended = new Promise(done => { recorder.onstop = done; });
  playing.value = false;
  dialog.value = null;
  view.pace.isWhole = true;
  view.drawWhole();
  recorder.start();
  for (let number = first; number <= last; number += 1) {
    if (number % 10 === 0) say(`filming frame ${number} of ${last} …`);
    const begun = performance.now();
    frame.value = number;
    await until(() => shown.number === number || playing.value);
    // Playing by hand ends it.
    if (playing.value) break;
    view.drawWhole();
    track.requestFrame();
    await pause(Math.max(0, step - (performance.now() - begun)));
  }
  // The last frame lasts as long as the others.
  await pause(step);
  recorder.stop();
  view.pace.isWhole = false;
  await ended;
  if (!playing.value) frame.value = was;
  download(new Blob(parts, { type: "video/webm" }), `${stem}.webm`);
  say("the film is done");
}

const pause = time => new Promise(done => setTimeout(done, time));

async function until(holds) {
  while (!holds()) await pause(4);
}

export function Dialogs({ view }) {
  switch (dialog.value) {
    case "help": return html`<${Help} />`;
    case "open": return html`<${Open} />`;
    case "save": return html`<${SaveAs} />`;
    case "bake": return html`<${Bake} view=${view} />`;
    default: return null;
  }
}
