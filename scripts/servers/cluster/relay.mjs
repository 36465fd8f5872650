import { connect } from "node:net";

/**
 * The program of a relay: runs inside the router's namespace, and passes on what comes in at listening sockets that its parent
 * opened outside and handed over, each with the address that it stands for. A reset or an end of one side is one of both.
 */
process.on("message", (/** @type {{ host: string, port: number }} */ target, server) => {
  /** @type {import("node:net").Server} */ (server).on("connection", (near) => {
    const far = connect(target);
    for (const [one, other] of /** @type {const} */ ([
      [near, far],
      [far, near],
    ])) {
      one.setNoDelay(true);
      one.pipe(other);
      one.on("error", () => other.resetAndDestroy());
      one.on("close", () => other.destroySoon());
    }
  });
  process.send?.("relayed");
});
process.on("disconnect", () => process.exit());
