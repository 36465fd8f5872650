import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";

/**
 * Tracks which connections are open, and which of them are answering. Node's closeIdleConnections() passes over those that never
 * sent a request (browsers open some in advance) and those that become idle afterwards (a stream that has just been ended).
 */
export class OpenConnections {
  readonly #answering = new Map<Socket, number>();
  /** Every connection of the network. Over TLS, requests come by a socket of their own above it. */
  readonly #wires = new Set<Socket>();
  #closing = false;

  constructor(server: Server) {
    server.on("connection", (wire) => {
      this.#wires.add(wire);
      wire.once("close", () => this.#wires.delete(wire));
    });
    server.on(server instanceof TlsServer ? "secureConnection" : "connection", (socket: Socket) => {
      this.#answering.set(socket, 0);
      socket.once("close", () => this.#answering.delete(socket));
    });
    // Runs before the app, so that it can still set how the connection ends.
    server.prependListener("request", (request, response) => this.#follow(request, response));
  }

  /** From now on each connection ends as soon as it is idle. Idle ones end at once. */
  closeWhenIdle(): void {
    this.#closing = true;
    for (const [socket, answers] of this.#answering) if (answers === 0) socket.destroy();
  }

  /** Includes those that have not sent a request yet, or not finished their handshake. */
  destroyAll(): void {
    for (const wire of this.#wires) wire.destroy();
  }

  #follow({ socket }: IncomingMessage, response: ServerResponse): void {
    if (this.#closing) response.setHeader("Connection", "close");
    this.#answering.set(socket, (this.#answering.get(socket) ?? 0) + 1);
    response.once("close", () => {
      const answers = (this.#answering.get(socket) ?? 1) - 1;
      if (this.#answering.has(socket)) this.#answering.set(socket, answers);
      if (this.#closing && answers === 0) socket.destroySoon();
    });
  }
}
