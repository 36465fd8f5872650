import type { Readable } from "node:stream";

/** Read at once; a slot that writes more is made to wait, in its own process. */
const BYTES_A_TURN = 65_536;
const TURN_MS = 100;
const MAX_LINE = 8_192;

/** Passes on the lines that a slot's author code prints, no faster than 640 KiB a second: a flood costs its own slot. */
export function forwardOutput(stream: Readable, onLine: (text: string) => void): void {
  let rest = "";
  let read = 0;
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    read += text.length;
    if (read > BYTES_A_TURN) {
      stream.pause();
      setTimeout(() => {
        read = 0;
        stream.resume();
      }, TURN_MS);
    }
    const lines = `${rest}${text}`.split("\n");
    rest = (lines.pop() ?? "").slice(-MAX_LINE);
    for (const line of lines) if (line !== "") onLine(line.slice(0, MAX_LINE));
  });
  stream.on("end", () => {
    if (rest !== "") onLine(rest);
  });
  stream.on("error", () => undefined);
}
