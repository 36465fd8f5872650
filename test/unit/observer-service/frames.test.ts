import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { FrameReader, FrameWriter } from "../../../services/observer-service/src/wire/frames.ts";

test("frames come out as they went in, wherever the pipe cuts them", () => {
  fc.assert(
    fc.property(fc.array(fc.json()), fc.infiniteStream(fc.integer({ min: 1, max: 50 })), (texts, cuts) => {
      const sent = texts.map((text) => JSON.parse(text) as unknown);
      const wire = Buffer.from(sent.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
      const read: unknown[] = [];
      const reader = new FrameReader(
        (frame) => read.push(frame),
        (why) => expect.unreachable(why),
      );
      for (let at = 0; at < wire.length; ) {
        const size = cuts.next().value as number;
        reader.take(wire.subarray(at, at + size));
        at += size;
      }
      expect(read).toEqual(sent);
    }),
  );
});

test("what is no frame ends the reading, and is told once", () => {
  const frames: unknown[] = [];
  const broken = vi.fn();
  const reader = new FrameReader((frame) => frames.push(frame), broken);
  reader.take(Buffer.from('{"n":1}\nnot json\n{"n":2}\n'));
  reader.take(Buffer.from('{"n":3}\n'));
  expect(frames).toEqual([{ n: 1 }]);
  expect(broken).toHaveBeenCalledOnce();
});

test("a frame without an end costs no more memory than the longest may have", () => {
  const broken = vi.fn();
  const reader = new FrameReader(() => undefined, broken);
  for (let i = 0; i < 100; i += 1) reader.take(Buffer.alloc(65_536, "x"));
  expect(broken).toHaveBeenCalledOnce();
});

test("frames are sent, and read, whatever is put in the place of what all code of the process shares", async () => {
  const written = vi.fn();
  const [{ setImmediate }, { stringify, parse }] = [globalThis, JSON];
  const restore = () => {
    Object.assign(globalThis, { setImmediate });
    Object.assign(JSON, { stringify, parse });
  };
  Object.assign(globalThis, { setImmediate: () => undefined });
  Object.assign(JSON, { stringify: () => expect.unreachable(), parse: () => expect.unreachable() });
  try {
    new FrameWriter({ writable: true, write: written } as never).send({ n: 1 });
    new FrameReader(written, () => expect.unreachable()).take(Buffer.from('{"n":2}\n'));
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    restore();
  }
  expect(written.mock.calls).toEqual([[{ n: 2 }], ['{"n":1}\n']]);
});
