// Talks to the server. Addresses are relative: the token is part of the page's own.

import { page } from "./first.js";

/** A refusal in words for the person. */
export class Refused extends Error {}

async function checked(response) {
  if (response.ok) return response;
  let why = `${response.status}`;
  try { why = (await response.json()).refused ?? why; } catch { /* no words were sent */ }
  throw new Refused(why);
}

export async function getJson(path) {
  return (await checked(await fetch(path))).json();
}

export async function getBytes(path, signal) {
  return (await checked(await fetch(path, { signal }))).arrayBuffer();
}

export async function post(path, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return (await checked(await fetch(path, { method: "POST", headers, body: JSON.stringify(body) }))).json();
}

export async function postFile(file) {
  const path = `drop?name=${encodeURIComponent(file.name)}`;
  return (await checked(await fetch(path, { method: "POST", body: file }))).json();
}

addEventListener("pagehide", () => navigator.sendBeacon("leave", JSON.stringify({ page })));
