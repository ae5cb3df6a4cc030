// Reads what the server packs: a JSON head and arrays behind it (see src/wire.rs).

/** Head and body of a parcel. */
export function unpack(buffer, at = 0) {
  const length = new DataView(buffer).getUint32(at, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at + 4, length)));
  return { head, buffer, body: at + 4 + length };
}

/** Frames of an answer, each with its bytes' place. */
export function unpackFrames(buffer) {
  const view = new DataView(buffer);
  const take = view.getUint32(0, true);
  const cut = view.getInt32(4, true);
  const frames = [];
  for (let at = 8; at + 4 <= buffer.byteLength;) {
    const length = view.getUint32(at, true);
    frames.push(unpack(buffer, at + 4));
    frames[frames.length - 1].bytes = length;
    at += 4 + length;
  }
  return { take, cut, frames };
}

export const u16 = (parcel, at, count) => new Uint16Array(parcel.buffer, parcel.body + at, count);
export const i8 = (parcel, at, count) => new Int8Array(parcel.buffer, parcel.body + at, count);
export const u8 = (parcel, at, count) => new Uint8Array(parcel.buffer, parcel.body + at, count);
export const u32 = (parcel, at, count) => new Uint32Array(parcel.buffer, parcel.body + at, count);
export const f32 = (parcel, at, count) => new Float32Array(parcel.buffer, parcel.body + at, count);
