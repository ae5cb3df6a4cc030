// Asks for the first picture while everything else of the page is still on its way.

/** This page's own name, so that the server can count pages. */
export const page = crypto.randomUUID();

/** State, first frame and what it refers to, as bytes; nothing where the server does not answer. */
export const first = fetch(`first?page=${page}`).then(answer => answer.ok ? answer.arrayBuffer() : null, () => null);
