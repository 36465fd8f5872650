import type { Writable } from "node:stream";

/**
 * Passes all writes of one turn to the kernel together. amqplib writes each frame by itself: a system call, and a broker that is woken for
 * it, for each of a hundred messages that are published together, and for each of their acks. Measured, with tasks that do nothing: it
 * saves a tenth of the CPU of all processes, and a quarter of the broker's.
 */
export function gatherWrites(socket: Pick<Writable, "write" | "cork" | "uncork">): void {
  const write = socket.write.bind(socket) as (...written: unknown[]) => boolean;
  let isGathering = false;
  const gather = () => {
    isGathering = true;
    socket.cork();
    process.nextTick(() => {
      isGathering = false;
      socket.uncork();
    });
  };
  socket.write = (...written: unknown[]) => {
    if (!isGathering) gather();
    return write(...written);
  };
}
