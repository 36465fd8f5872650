/** Frames of AMQP 0-9-1 as a client writes them, to be put into a wire by `TcpProxy.only(…).inject`. */

const METHOD_FRAME = 1;
const FRAME_END = 0xce;
const QUEUE_CLASS = 50;
const DECLARE_METHOD = 10;
const PASSIVE = 0b1;

/** `queue.declare`, passive: of a queue that is not there it makes the broker close that channel alone, with 404. */
export function passiveDeclare(channel: number, queue: string): Buffer {
  const name = Buffer.from(queue);
  const noArguments = uint32(0);
  return methodFrame(
    channel,
    Buffer.concat([
      uint16(QUEUE_CLASS),
      uint16(DECLARE_METHOD),
      uint16(0), // reserved
      Buffer.of(name.length),
      name,
      Buffer.of(PASSIVE),
      noArguments,
    ]),
  );
}

function methodFrame(channel: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.of(METHOD_FRAME), uint16(channel), uint32(payload.length), payload, Buffer.of(FRAME_END)]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
