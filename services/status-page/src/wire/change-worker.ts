import { ChangeHub } from "./change-hub.ts";

/** The program of the SharedWorker: one for all tabs in which the same person is signed in. */
const hub = new ChangeHub();
addEventListener("connect", (event) => {
  for (const port of (event as MessageEvent).ports) {
    const hear = hub.add((message) => port.postMessage(message));
    port.addEventListener("message", ({ data }) => hear(data));
    port.start();
  }
});
