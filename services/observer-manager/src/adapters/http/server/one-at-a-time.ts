import type { RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** More than any client sends ahead: browsers send none, and other programs a few. */
const MAX_AHEAD = 100;

/** The last answer of a connection, and how many wait for it and those before it. */
interface Turn {
  last: ServerResponse;
  waiting: number;
}

/**
 * Begins the requests of one connection one after another, as their answers go out. Node begins all that have arrived, and keeps their
 * answers until those before them are read, so that a few bytes that ask for a long page a thousand times would cost a thousand pages. A
 * client that sends more than a hundred ahead is cut off.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
  const turns = new WeakMap<Socket, Turn>();
  return (request, response) => {
    const { socket } = request;
    response.once("close", () => {
      if (turns.get(socket)?.last === response) turns.delete(socket); // otherwise an idle connection keeps what its last request brought
    });
    const turn = turns.get(socket);
    if (turn === undefined) {
      turns.set(socket, { last: response, waiting: 0 });
      return listener(request, response);
    }
    if (turn.waiting >= MAX_AHEAD) return void socket.destroy();
    turn.waiting += 1;
    turn.last.once("close", () => {
      turn.waiting -= 1;
      if (!socket.destroyed) listener(request, response);
    });
    turn.last = response;
  };
}
