import { v5, v7 } from "uuid";

const BYTES_EACH = 16;
/** Random bytes are drawn in bulk: drawn one by one, they would cost more than all the rest of ten thousand ids. */
const pool = new Uint8Array(BYTES_EACH * 256);
let next = pool.length;
let msecs = 0;
let seq = 0;

/** A UUIDv7 (RFC 9562, 6.2 method 1): later ones of this process are greater, also within a millisecond. */
export function newUuid(): string {
  const random = takeRandom();
  const nowMs = Date.now();
  if (nowMs > msecs) {
    msecs = nowMs;
    // The upper half stays free, so that it can be counted up for as long as the millisecond lasts.
    seq = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1;
  } else {
    seq += 1;
  }
  return v7({ random, msecs, seq });
}

/** A UUIDv7 of that time, in ms since 1970, of which the rest is made of a text, and not random: of the same two it is the same. */
export const uuidOf = (msecs: number, text: string): string =>
  v7({ msecs, random: v5(text, v5.URL, new Uint8Array(BYTES_EACH)) });

function takeRandom(): Uint8Array {
  if (next === pool.length) {
    crypto.getRandomValues(pool);
    next = 0;
  }
  const random = pool.subarray(next, next + BYTES_EACH);
  next += BYTES_EACH;
  return random;
}
