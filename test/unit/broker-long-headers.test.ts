import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readNoLongHeaders, withoutLongHeaders } from "../../libs/broker/src/long-headers.ts";

const require = createRequire(import.meta.url);
/** amqplib's own, of which it exports nothing. */
const frames = require(join(dirname(require.resolve("amqplib")), "lib", "frame.js")) as {
  parseFrame(bytes: Buffer, max: number): Frame | false;
  decodeFrame(frame: Frame): { id: number; size: number; channel: number; fields: Record<string, unknown> };
};
type Frame = { rest: Buffer };

const short = (text: string) => Buffer.from([text.length, ...Buffer.from(text)]);
const long = (bytes: Buffer) => {
  const all = Buffer.alloc(4 + bytes.length);
  all.writeUInt32BE(bytes.length);
  bytes.copy(all, 4);
  return all;
};
const text = (content: string) => Buffer.concat([Buffer.from("S"), long(Buffer.from(content))]);
/** Lists in each other. */
function nested(depth: number): Buffer {
  const all = Buffer.alloc(5 * depth, "A");
  for (let level = 0; level < depth; level += 1) all.writeUInt32BE(5 * (depth - level - 1), 5 * level + 1);
  return all;
}

/** A frame of properties; the message has 7 bytes. */
function propertiesFrame({
  contentType,
  encoding,
  header,
}: {
  contentType?: string;
  encoding?: string;
  header?: Buffer;
}): Buffer {
  const head = Buffer.from([0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
  let flags = 0x0400; // correlation-id
  const values: Buffer[] = [];
  if (contentType !== undefined) values.push(short(contentType));
  if (encoding !== undefined) values.push(short(encoding));
  if (header !== undefined) values.push(long(Buffer.concat([short("h"), header])));
  flags |=
    (contentType === undefined ? 0 : 0x8000) | (encoding === undefined ? 0 : 0x4000) | (header === undefined ? 0 : 0x2000);
  const payload = Buffer.concat([head, Buffer.from([flags >> 8, flags & 255]), ...values, short("c-1")]);
  return Buffer.concat([Buffer.from([2, 0, 9]), long(payload), Buffer.from([0xce])]);
}

const read = (bytes: Buffer) => frames.decodeFrame(frames.parseFrame(bytes, 0) as Frame);
const BEHIND = Buffer.from([8, 0, 0, 0, 0, 0, 0, 0xce]);

it.each([
  { header: nested(20_000) },
  { contentType: "application/json", header: nested(20_000) },
  { encoding: "gzip", header: text("x".repeat(10_000)) },
  { contentType: "text/plain", encoding: "", header: nested(5_000) },
])("Headers that make a frame long are not read, all else of it is, and so is what comes behind it (%#)", (given) => {
  const frame = withoutLongHeaders(Buffer.concat([propertiesFrame(given), BEHIND]));
  expect(read(frame)).toMatchObject({
    channel: 9,
    size: 7,
    fields: { contentType: given.contentType, contentEncoding: given.encoding, headers: {}, correlationId: "c-1" },
  });
  expect((frames.parseFrame(frame, 0) as Frame).rest).toEqual(BEHIND);
});

it("What is short, is no frame of properties, or has not come as a whole stays as it is", () => {
  const frame = propertiesFrame({ contentType: "a", header: nested(20_000) });
  const body = Buffer.concat([Buffer.from([3]), frame.subarray(1)]);
  const others = [propertiesFrame({ header: nested(1_500) }), propertiesFrame({}), BEHIND, body, Buffer.alloc(0)];
  for (const bytes of [...others, ...[1, 6, 7, 100, 99_000].map((length) => frame.subarray(0, length))])
    expect(withoutLongHeaders(bytes)).toBe(bytes);
  expect(read(others[0] as Buffer).fields["headers"]).toHaveProperty("h");
});

it("A frame that comes in pieces is looked at when it is all there", () => {
  const frame = Buffer.concat([propertiesFrame({ header: nested(20_000) }), BEHIND]);
  const pieces = [frame.subarray(0, 5), frame.subarray(5, 60_000), frame.subarray(60_000)];
  const connection = {
    rest: Buffer.alloc(0) as Buffer,
    /** As amqplib has it. */
    recvFrame(): unknown {
      const next = frames.parseFrame(this.rest, 0);
      if (next !== false) {
        this.rest = next.rest;
        return frames.decodeFrame(next);
      }
      const piece = pieces.shift();
      if (piece === undefined) return false;
      this.rest = Buffer.concat([this.rest, piece]);
      return this.recvFrame();
    },
  };
  readNoLongHeaders(connection);
  expect(connection.recvFrame()).toMatchObject({ fields: { headers: {}, correlationId: "c-1" } });
  expect(connection.rest).toEqual(BEHIND);
});
