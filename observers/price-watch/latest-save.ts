/** Saves the latest of many: one at a time is on its way, so that a fast feed does not heap up what waits for a slow broker. */
export type LatestSave<T> = {
  /** It is so now. */
  note(value: T): void;
  /** Nothing more comes: what has been noted last is handed over, if it was not. */
  flush(): void;
};

/** @param save logs by itself what it could not save */
export function createLatestSave<T>(save: (value: T) => Promise<void>): LatestSave<T> {
  let next: { value: T } | undefined;
  let isUnderWay = false;
  const hand = () => {
    if (next === undefined) return;
    const { value } = next;
    next = undefined;
    isUnderWay = true;
    const over = () => {
      isUnderWay = false;
      hand();
    };
    save(value).then(over, over);
  };
  return {
    note(value) {
      next = { value };
      if (!isUnderWay) hand();
    },
    flush: hand,
  };
}
