import { Writable } from "node:stream";
import { expect, it } from "vitest";
import { gatherWrites } from "../../libs/broker/src/gather-writes.ts";

/** What reaches the kernel, call by call. */
function socketWith(options: { highWaterMark?: number } = {}) {
  const calls: string[] = [];
  const socket = new Writable({
    ...options,
    write(chunk, _encoding, done) {
      calls.push(String(chunk));
      done();
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => String(chunk)).join("|"));
      done();
    },
  });
  gatherWrites(socket);
  return { socket, calls };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it("What is written in one turn goes out in one call, in order", async () => {
  const { socket, calls } = socketWith();
  for (const frame of ["a", "b", "c"]) socket.write(frame);
  await nextTurn();
  socket.write("d");
  await nextTurn();
  expect(calls).toEqual(["a|b|c", "d"]);
});

it("It goes out in the turn in which it was written", async () => {
  const { socket, calls } = socketWith();
  socket.write("a");
  await Promise.resolve().then(() => undefined);
  await new Promise<void>((resolve) => process.nextTick(resolve));
  expect(calls).toEqual(["a"]);
});

it("Who writes more than the socket takes is told so, and when it has gone", async () => {
  const { socket, calls } = socketWith({ highWaterMark: 3 });
  expect(["aa", "bb", "cc"].map((frame) => socket.write(frame))).toEqual([true, false, false]);
  await new Promise((resolve) => socket.once("drain", resolve));
  expect(calls).toEqual(["aa|bb|cc"]);
});

it("What was written before the end goes out with it, and nothing does once it is destroyed", async () => {
  const ended = socketWith();
  ended.socket.write("a");
  ended.socket.end("b");
  await nextTurn();
  expect(ended.calls.join("|")).toBe("a|b");
  const destroyed = socketWith();
  destroyed.socket.write("a");
  destroyed.socket.destroy();
  await nextTurn();
  expect(destroyed.calls).toEqual([]);
});
