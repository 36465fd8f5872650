import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { readOutputLines } from "../../scripts/start/output-lines.mjs";

test("a line ends where its line end is, in whatever pieces it comes, and JSON keeps its separators", async () => {
  const output = new PassThrough();
  const lines: string[] = [];
  readOutputLines(output, (line) => lines.push(line));
  const json = JSON.stringify({ msg: "one\u2028two\u2029three €" });
  const bytes = Buffer.from(`${json}\nplain\r\n\nlast`);
  for (const byte of bytes) output.write(Buffer.of(byte));
  output.end();
  await once(output, "end");
  expect(lines).toEqual([json, "plain", "", "last"]);
});
