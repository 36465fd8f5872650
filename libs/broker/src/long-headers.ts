/**
 * Parts of a connection that amqplib's types do not show: the bytes that are not read yet, and what reads the next frame of
 * them.
 */
interface Reader {
  rest: Buffer;
  recvFrame(): unknown;
}

/**
 * The frame of a message's properties (AMQP 0-9-1, 4.2.6): type, channel, size; class, weight, size of the body, flags; and what these
 * name.
 */
const PROPERTIES_FRAME = 2;
const SIZE_AT = 3;
const PAYLOAD_AT = 7;
const FLAGS_AT = PAYLOAD_AT + 12;
const CONTENT_TYPE = 0x8000;
const CONTENT_ENCODING = 0x4000;
const HEADERS = 0x2000;

/**
 * The largest frame of properties that is read. This system's own have a few hundred bytes. A nested level takes five bytes, so this allows
 * 1,600 levels; amqplib reads twice as many.
 */
const MAX_SIZE = 8_192;
const NO_HEADERS = Buffer.alloc(4);

/**
 * Does not read headers that make a frame long: amqplib reads nested ones by recursion. Whoever may publish to a queue could nest them so
 * deep that the stack overflows. That would end the connection, again with each redelivery: for all who ask by that queue, for ever.
 */
export function readNoLongHeaders(connection: Reader): void {
  const readFrame = connection.recvFrame.bind(connection);
  // amqplib calls it by this name when it has read more from the socket.
  connection.recvFrame = () => {
    connection.rest = withoutLongHeaders(connection.rest);
    return readFrame();
  };
}

/** The bytes that have come, without the headers of their first frame if that is long and complete. */
export function withoutLongHeaders(rest: Buffer): Buffer {
  if (rest.length < PAYLOAD_AT || rest[0] !== PROPERTIES_FRAME) return rest;
  const size = rest.readUInt32BE(SIZE_AT);
  if (size <= MAX_SIZE || rest.length < PAYLOAD_AT + size) return rest;
  const flags = rest.readUInt16BE(FLAGS_AT);
  if ((flags & HEADERS) === 0) return rest;
  let from = FLAGS_AT + 2;
  for (const before of [CONTENT_TYPE, CONTENT_ENCODING]) if ((flags & before) !== 0) from += 1 + rest.readUInt8(from);
  const length = rest.readUInt32BE(from);
  const short = Buffer.concat([rest.subarray(0, from), NO_HEADERS, rest.subarray(from + NO_HEADERS.length + length)]);
  short.writeUInt32BE(size - length, SIZE_AT);
  return short;
}
