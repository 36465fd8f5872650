// No zod here: the status page is built from this, too, and must not load it.

/** The ETag of an observer: its id, and the version of its spec. Nothing else about it is compared. */
export const specTag = ({ id, specVersion }: { id: string; specVersion: number }): string => `"${specVersion}.${id}"`;
