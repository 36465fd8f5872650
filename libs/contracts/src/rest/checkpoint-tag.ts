// No zod here: the status page is built from this, too, and must not load it.

/** The ETag of a checkpoint. The number alone is not enough, as it begins anew after a reset. */
export const checkpointTag = ({ number, savedAt }: { number: number; savedAt: string | null }): string =>
  `"${number}.${savedAt ?? "none"}"`;
