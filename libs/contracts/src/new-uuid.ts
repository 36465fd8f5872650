import { v5, v7 } from "uuid";

const BYTES_EACH = 16;
/** Random bytes are drawn in bulk: drawn one by one, they would cost more than all the rest of ten thousand ids. */
const pool = new Uint8Array(BYTES_EACH * 256);
let next = pool.length;
let msecs = 0;
let seq = 0;
/** What those have in common of whose numbers all but the last six bits are the same: all but the last twelve digits. */
let head = "";
const HEAD_LENGTH = 24;
const ALL_ZERO = new Uint8Array(BYTES_EACH);
const LAST_SIX_BITS = 0x3f;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const hexOf = (byte: number | undefined): string => HEX[byte ?? 0] as string;

/** A UUIDv7 (RFC 9562, 6.2 method 1): later ones of this process are greater, also within a millisecond. */
export function newUuid(): string {
  const at = takeRandom();
  const nowMs = Date.now();
  const isLater = nowMs > msecs;
  if (isLater) {
    msecs = nowMs;
    // The upper half stays free, so that it can be counted up for as long as the millisecond lasts.
    seq = new DataView(pool.buffer, at).getUint32(6) >>> 1;
  } else {
    seq += 1;
  }
  if (isLater || (seq & LAST_SIX_BITS) === 0) head = v7({ random: ALL_ZERO, msecs, seq }).slice(0, HEAD_LENGTH);
  let id = head + hexOf(((seq << 2) & 0xff) | ((pool[at + 10] ?? 0) & 0x03));
  for (let i = at + 11; i < at + BYTES_EACH; i += 1) id += hexOf(pool[i]);
  return id;
}

/** A UUIDv7 of that time, in ms since 1970, of which the rest is made of a text, and not random: of the same two it is the same. */
export const uuidOf = (msecs: number, text: string): string =>
  v7({ msecs, random: v5(text, v5.URL, new Uint8Array(BYTES_EACH)) });

/** @returns where the next random bytes begin in the pool */
function takeRandom(): number {
  if (next === pool.length) {
    crypto.getRandomValues(pool);
    next = 0;
  }
  next += BYTES_EACH;
  return next - BYTES_EACH;
}
