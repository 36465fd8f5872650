import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { untilClosed } from "../../../cli/src/io.ts";

/** What becomes of a write to an output like this. */
async function written(code: string): Promise<{ failures: string[]; isClosed: boolean }> {
  const failures: string[] = [];
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });
  const out = untilClosed(stream, ({ message }) => void failures.push(message));
  out.write("one");
  await new Promise((resolve) => setImmediate(resolve));
  out.write("two");
  await new Promise((resolve) => setImmediate(resolve));
  return { failures, isClosed: out.closed.aborted };
}

it("An output that nobody reads any more is closed, and no failure", async () => {
  expect(await written("EPIPE")).toEqual({ failures: [], isClosed: true });
});

it("One that cannot be written is a failure, told once", async () => {
  expect(await written("ENOSPC")).toEqual({ failures: ["ENOSPC"], isClosed: true });
});
