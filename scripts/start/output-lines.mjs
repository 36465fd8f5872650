import { StringDecoder } from "node:string_decoder";

/**
 * Hands on the lines of a program's output, each as soon as it has its end. Not by `readline`: that of Node 24 ends them at U+2028 and U+2029,
 * too, which may stand in a line of JSON.
 *
 * @param {import("node:stream").Readable} output
 * @param {(line: string) => void} onLine
 */
export function readOutputLines(output, onLine) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  output.on("data", (chunk) => {
    const lines = (rest + decoder.write(chunk)).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
  output.once("end", () => {
    if (rest !== "") onLine(rest);
  });
}
