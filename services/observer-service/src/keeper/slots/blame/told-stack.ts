/** What a watchdog told of a stack, without the frame that it has added, and its message. */
export const ownFrames = (stack: string): string =>
  stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line) && !line.includes("whereabouts"))
    .join("\n");
