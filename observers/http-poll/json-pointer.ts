/** JSON pointers (RFC 6901), for looking one value up. */
export const jsonPointerPattern = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** The value at the pointer, or `undefined` where there is none (JSON has no `undefined` of its own). */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(key)) return undefined;
    if (!Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
