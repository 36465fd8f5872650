import type { Writable } from "node:stream";
import type { ChannelModel } from "amqplib";

const LIST = "A".charCodeAt(0);
const LIST_BYTES = 5;

/**
 * Headers that no client writes: lists in lists, of that depth. A text holds their place, and is changed on its way to the socket; of one
 * message, which has to be the next.
 */
export function deepHeaders(model: ChannelModel, depth: number): { deep: string } {
  const { stream } = model.connection as unknown as { stream: Writable };
  const place = Buffer.from("x".repeat(LIST_BYTES * depth));
  const write = stream.write;
  stream.write = ((chunk: Buffer, ...others: unknown[]) => {
    const at = chunk.indexOf(place);
    if (at !== -1) {
      stream.write = write;
      chunk[at - LIST_BYTES] = LIST; // it was an "S"; what follows is its length, of either
      for (let level = 0; level < depth; level += 1) {
        chunk[at + LIST_BYTES * level] = LIST;
        chunk.writeUInt32BE(LIST_BYTES * (depth - level - 1), at + LIST_BYTES * level + 1);
      }
    }
    return Reflect.apply(write, stream, [chunk, ...others]);
  }) as Writable["write"];
  return { deep: place.toString() };
}
