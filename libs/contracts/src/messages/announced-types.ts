/**
 * The most observer types, and the most task types, that a service may announce. This file has no schemas, as slots load it: see
 * text-lengths.ts.
 */
export const MAX_TYPES = 1_000;
