/** Of what amqplib's types do not show: what has come and is not read yet, and what reads the next frame of it. */
interface Reader {
  rest: Buffer;
  recvFrame(): unknown;
}

/** A frame of the properties of a message (AMQP 0-9-1, 4.2.6): type, channel, size; class, weight, size of the body, flags; and what these name. */
const PROPERTIES_FRAME = 2;
const SIZE_AT = 3;
const PAYLOAD_AT = 7;
const FLAGS_AT = PAYLOAD_AT + 12;
const CONTENT_TYPE = 0x8000;
const CONTENT_ENCODING = 0x4000;
const HEADERS = 0x2000;

/** Of this system's own it has a few hundred bytes. What is nested takes five bytes a level: 1,600 levels, of which amqplib reads twice as many. */
const MAX_SIZE = 8_192;
const NO_HEADERS = Buffer.alloc(4);

/**
 * Headers that would make a frame long are not read: amqplib reads what is nested in them by recursion. Whoever may publish to some queue could
 * nest them so deep that its stack gives way, and with it the connection, again with each redelivery: for all who ask by that queue, for ever.
 */
export function readNoLongHeaders(connection: Reader): void {
  const readFrame = connection.recvFrame.bind(connection);
  // It calls itself by this name when it has read more from the socket.
  connection.recvFrame = () => {
    connection.rest = withoutLongHeaders(connection.rest);
    return readFrame();
  };
}

/** What has come, without the headers of the frame that stands first, if that is long and all there. */
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
