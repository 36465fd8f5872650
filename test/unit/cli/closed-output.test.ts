import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { untilClosed } from "../../../cli/src/io.ts";

/** What becomes of a write to an output like this. */
async function written(code: string, { isTTY }: { isTTY: boolean }): Promise<{ failures: string[]; isClosed: boolean }> {
  const failures: string[] = [];
  const write: Writable["_write"] = (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code }));
  const stream = Object.assign(new Writable({ write }), { isTTY });
  const out = untilClosed(stream, ({ message }) => void failures.push(message));
  out.write("one");
  await new Promise((resolve) => setImmediate(resolve));
  out.write("two");
  await new Promise((resolve) => setImmediate(resolve));
  return { failures, isClosed: out.closed.aborted };
}

it.each([
  ["a pipe that nobody reads any more", { isTTY: false }, "EPIPE"],
  ["a terminal that was closed", { isTTY: true }, "EIO"],
])("%s takes nothing more, and that is no failure", async (_, kind, code) => {
  expect(await written(code, kind)).toEqual({ failures: [], isClosed: true });
});

it.each(["EIO", "ENOSPC"])("A file that cannot be written (%s) is a failure, told once", async (code) => {
  expect(await written(code, { isTTY: false })).toEqual({ failures: [code], isClosed: true });
});
