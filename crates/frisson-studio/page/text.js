// The text of the scene: the truth that every control edits.
import { html, signal, useLayoutEffect, useRef } from "./third-party.js";
import { post } from "./api.js";
import { doc, moment, trouble, trying } from "./state.js";
import { expect } from "./player.js";

/** What is typed and not yet sent. */
export const typed = signal(null);
let timer = 0;

function sendLater() {
  clearTimeout(timer);
  timer = setTimeout(flush, 350);
}

async function flush() {
  const text = typed.value;
  if (text === null) return;
  await trying(async () => {
    const done = await post("text", { text, moment: moment() });
    expect(done.revision);
    if (typed.value === text) typed.value = null;
  });
}

export function TextPane() {
  const area = useRef(null);
  const numbers = useRef(null);
  const text = typed.value ?? doc.value?.text ?? "";
  const bad = new Map(trouble.value.filter(t => t.line > 0).map(t => [t.line, t]));
  const count = text.split("\n").length;
  // Before anybody can type into it: what is typed replaces the whole text.
  useLayoutEffect(() => {
    // A change from a control keeps the place that is read.
    if (area.current && area.current.value !== text) {
      const { scrollTop, selectionStart } = area.current;
      area.current.value = text;
      area.current.scrollTop = scrollTop;
      area.current.selectionStart = area.current.selectionEnd = Math.min(selectionStart, text.length);
    }
  }, [text]);
  const jump = line => {
    const start = text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    area.current.focus();
    area.current.setSelectionRange(start, start + (text.split("\n")[line - 1] ?? "").length);
    area.current.scrollTop = Math.max(0, (line - 6) * 18);
  };
  return html`
    <div class="editor">
      <div class="numbers" ref=${numbers} aria-hidden="true">${Array.from({ length: count }, (_, i) =>
        html`<div class=${bad.has(i + 1) ? "bad" : ""} title=${bad.get(i + 1)?.message ?? ""}>${i + 1}</div>`)}</div>
      <textarea ref=${area} id="text" spellcheck="false" aria-label="Text of the scene" autocomplete="off"
        onInput=${e => { typed.value = e.target.value; sendLater(); }}
        onBlur=${flush}
        onScroll=${e => { numbers.current.scrollTop = e.target.scrollTop; }}></textarea>
    </div>
    <div class="problems" role="alert">${trouble.value.map(t => html`<button class="problem" onClick=${() => t.line > 0 && jump(t.line)}>
      ${t.line > 0 ? `line ${t.line}: ` : ""}${t.message}${t.help ? html`<br /><span class="faint">${t.help}</span>` : ""}</button>`)}</div>`;
}
