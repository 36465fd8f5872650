/**
 * A timing could be read when it was written, and cannot be here: another version of Node has other zones. The message says what is wrong.
 */
export class UnreadableTiming extends Error {
  override name = "UnreadableTiming";
}

export function orUnreadable<Read>(read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw new UnreadableTiming((error as Error).message, { cause: error });
  }
}
