// Asks for the first picture, and for what it is drawn with, while everything else of the page is still on its way.

/** This page's own name, so that the server can count pages. */
export const page = crypto.randomUUID();

/** State, first frame and what it refers to, as bytes; nothing where the server does not answer. */
export const first = fetch(`first?page=${page}`).then(answer => answer.ok ? answer.arrayBuffer() : null, () => null);

/** What is drawn on. A browser takes its time for the first one: the server builds the scene meanwhile. */
export const canvas = document.createElement("canvas");
canvas.tabIndex = 0;
canvas.setAttribute("aria-label", "the scene; drag to orbit");
export const context = canvas.getContext("webgl2", {
  alpha: true, depth: true, stencil: false, antialias: true, premultipliedAlpha: true, preserveDrawingBuffer: true,
});
