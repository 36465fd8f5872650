// Without zod: the status page is made of this too, and is not to carry it.

/** The ETag of a checkpoint: of which it is. A number alone is not enough, as it begins anew after a reset. */
export const checkpointTag = ({ number, savedAt }: { number: number; savedAt: string | null }): string =>
  `"${number}.${savedAt ?? "none"}"`;
