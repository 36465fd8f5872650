// Without zod: the status page is made of this too, and is not to carry it.

/** The ETag of an observer: of which it is, and of what is wanted of it. Nothing else of it is meant. */
export const specTag = ({ id, specVersion }: { id: string; specVersion: number }): string => `"${specVersion}.${id}"`;
