export type Decoded<T> = { ok: true; value: T } | { ok: false; reason: string };

/** Params may be 64 deep, and are nested some levels deep in their message. */
const MAX_DEPTH = 128;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Whether JSON in UTF-8 has more levels than that. JSON.parse takes any depth; a function that recurses over what it gives (JSON.stringify
 * does) throws at some thousands.
 */
export function isNestedDeeper(body: Uint8Array, levels: number): boolean {
  let depth = 0;
  for (let i = 0; i < body.length; i += 1) {
    const byte = body[i];
    if (byte === QUOTE) i = endOfString(body, i);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > levels) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

function endOfString(body: Uint8Array, start: number): number {
  for (let i = start + 1; i < body.length; i += 1) {
    if (body[i] === BACKSLASH) i += 1;
    else if (body[i] === QUOTE) return i;
  }
  return body.length;
}

export function parseJson(body: Uint8Array): Decoded<unknown> {
  if (isNestedDeeper(body, MAX_DEPTH)) return { ok: false, reason: `nested deeper than ${MAX_DEPTH} levels` };
  try {
    return { ok: true, value: JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8")) };
  } catch (error) {
    return { ok: false, reason: `not JSON: ${(error as Error).message}` };
  }
}

/** Checks JSON of any depth, which is kept as text and read only by its author. */
export function isJson(text: string | undefined): text is string {
  try {
    JSON.parse(text ?? "");
    return true;
  } catch {
    return false;
  }
}
