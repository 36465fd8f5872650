/** The stack from a watchdog, without the watchdog's own frame, and without the message. */
export const ownFrames = (stack: string): string =>
  stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line) && !line.includes("whereabouts"))
    .join("\n");
