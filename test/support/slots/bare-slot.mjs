import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * A slot without any author's code, which starts in no time: it has loaded what `folder.json` says, and its handlers run until they
 * are told to end. Who stands behind another never gets its turn.
 */
/** Those of the type `spoil` spoil it for those of the type `needy`, which fail there from then on, and say so where they are well. Those of the type `unowned` have it say that it ends itself for an error of nobody's. Those of the type `crash` end it soon after. Those of the type `deaf` do not hear that they are told to end. */
const deaf = new Set();
let isSpoilt = false;
const wire = new Socket({ fd: 3 });
const send = (message) => wire.write(`${JSON.stringify(message)}\n`);

/** `blames`: what it says that it loads when it has loaded all, as an author's code may who writes to its descriptors. Its files one after the other; `ends`: the slot, always, by an error of nobody's, or where that file was loaded before. */
function load({ dir, first = [], without }) {
  const { files = [], blames, ...folder } = JSON.parse(readFileSync(join(dir, "folder.json"), "utf8"));
  const loaded = new Set();
  for (const file of [...first, ...files.map((one) => one.file).filter((one) => !first.includes(one))]) {
    const deadly = without.find((one) => one.file === file);
    if (deadly !== undefined) folder.broken.push({ file, problem: deadly.problem });
    if (deadly !== undefined) continue;
    const { ends } = files.find((one) => one.file === file);
    send({ kind: "loading", file: { file, print: "1" } });
    if (ends === "unowned") {
      send({ kind: "unattributed", error: { name: "Error", message: "nobody's" } });
      return void wire.write("", () => process.exit(1));
    }
    if (ends === true || loaded.has(ends)) return void wire.write("", () => process.kill(process.pid, "SIGSEGV"));
    loaded.add(file);
  }
  send({ kind: "loaded", ...folder });
  if (blames !== undefined) send({ kind: "loading", file: { file: blames, print: "1" } });
}

createInterface({ input: wire }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.kind === "load") load(message);
  if (message.kind === "begin" && message.type === "deaf") deaf.add(message.attempt);
  if (message.kind === "begin" && message.type === "spoil") isSpoilt = true;
  if (message.kind === "begin" && message.type === "needy") {
    const error = { name: "Error", message: "Cannot use a pool after calling end on the pool" };
    if (isSpoilt) send({ kind: "settled", attempt: message.attempt, outcome: "failed", error });
    else send({ kind: "silence", attempt: message.attempt });
  }
  if (message.kind === "begin" && message.type === "crash") setTimeout(() => process.kill(process.pid, "SIGSEGV"), 50);
  if (message.kind === "begin" && message.type === "unowned")
    send({ kind: "unattributed", error: { name: "Error", message: "nobody's" } });
  if (message.kind === "abort" && !deaf.has(message.attempt))
    send({ kind: "settled", attempt: message.attempt, outcome: "stopped" });
  if (message.kind === "recall") send({ kind: "not-begun", attempt: message.attempt });
  if (message.kind === "end") process.exit(0);
});
wire.on("close", () => process.exit(1));
