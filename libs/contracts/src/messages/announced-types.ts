/** So many types of observers a service may announce, and as many of tasks. In a file without schemas, for slots: see text-lengths.ts. */
export const MAX_TYPES = 1_000;
