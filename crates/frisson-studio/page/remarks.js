// What readers and layers have to say: nothing is wrong, but somebody may wonder.
import { effect, html, signal } from "./third-party.js";
import { seen, shown } from "./player.js";
import { engine, remote } from "./state.js";

const open = signal(false);
/** What layers warned of in the frames that were shown, each once. */
const warned = signal([]);
let take = "";

effect(() => {
  const now = `${remote.value?.opened}/${engine.value?.take}`;
  const said = seen.value ? shown.a?.head.warnings ?? [] : [];
  // Another take has other things to say.
  const before = now === take ? warned.peek() : [];
  take = now;
  const all = [...new Set([...before, ...said])];
  if (all.length !== warned.peek().length || all.some((text, k) => text !== warned.peek()[k])) warned.value = all;
});

/** How many remarks there are, and on a click which. */
export function Remarks() {
  const all = [...(engine.value?.remarks ?? []), ...warned.value];
  if (all.length === 0) return null;
  return html`<div class="remarks">
    ${open.value && html`<ul>${all.map(text => html`<li key=${text}>${text}</li>`)}</ul>`}
    <button class="edge small" id="remarks" aria-expanded=${open.value} onClick=${() => { open.value = !open.value; }}>
      ${all.length === 1 ? "1 remark" : `${all.length} remarks`}</button></div>`;
}
