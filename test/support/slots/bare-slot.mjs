import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * A slot without any author's code, which starts in no time: it has loaded what `folder.json` says, and its handlers run until they
 * are told to end. Who stands behind another never gets its turn.
 */
/** Those of the type `unowned` have it say that it ends itself for an error of nobody's. Those of the type `deaf` do not hear that they are told to end. */
const deaf = new Set();
const wire = new Socket({ fd: 3 });
const send = (message) => wire.write(`${JSON.stringify(message)}\n`);
createInterface({ input: wire }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.kind === "load")
    send({ kind: "loaded", ...JSON.parse(readFileSync(join(message.dir, "folder.json"), "utf8")) });
  if (message.kind === "begin" && message.type === "deaf") deaf.add(message.attempt);
  if (message.kind === "begin" && message.type === "unowned")
    send({ kind: "unattributed", error: { name: "Error", message: "nobody's" } });
  if (message.kind === "abort" && !deaf.has(message.attempt))
    send({ kind: "settled", attempt: message.attempt, outcome: "stopped" });
  if (message.kind === "recall") send({ kind: "not-begun", attempt: message.attempt });
  if (message.kind === "end") process.exit(0);
});
wire.on("close", () => process.exit(1));
