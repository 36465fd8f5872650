import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { holdOnLeash } from "../../processes/leash.mjs";
import { freePort } from "../free-port.mjs";

const RELAY = fileURLToPath(new URL("relay.mjs", import.meta.url));

/**
 * Ways from this machine's loopback to the hosts of a network, that no cut of it touches.
 *
 * @param {import("./network.mjs").Network} network
 * @returns {{ open: (host: import("./network.mjs").Host, port: number) => Promise<number>, end: () => void }} `open` gives
 *   the port on 127.0.0.1 that stands for a host's
 */
export function startDoors({ enterRouter: [program = "", ...args] }) {
  const relay = spawn(program, [...args, process.execPath, RELAY], {
    detached: true,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  holdOnLeash(relay);
  return {
    async open({ address }, port) {
      const server = createServer();
      const near = await freePort();
      await new Promise((resolve, reject) => {
        server.once("error", reject).listen({ port: near, host: "127.0.0.1" }, () => resolve(undefined));
      });
      const taken = new Promise((resolve, reject) => {
        relay.once("message", resolve);
        relay.once("exit", () => reject(new Error("The relay into the network ended.")));
      });
      relay.send({ host: address, port }, server);
      await taken;
      server.close(); // ours; the relay has its own
      return near;
    },
    end() {
      relay.kill("SIGKILL");
    },
  };
}
