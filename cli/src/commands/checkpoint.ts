import { type BodyOf, type CheckpointView, checkpointTag } from "@unacked/contracts";
import type { Command } from "commander";
import { CliFailure } from "../failure.ts";
import { jsonValue } from "../input/exact-numbers.ts";
import type { Io } from "../io.ts";
import { jsonText } from "../output/document-text.ts";
import { plainLine } from "../output/plain-text.ts";
import { openSession, type Session } from "../session.ts";

/** Adds `checkpoint`: what an observer's next run starts with. */
export function addCheckpoint(program: Command, io: Io): void {
  const checkpoint = program
    .command("checkpoint")
    .summary("see, set or reset what an observer's next run starts with")
    .description(
      "What the runs of an observer have saved, for the next run to start with. To set or reset it, pause the observer first.",
    );
  checkpoint
    .command("get")
    .summary("print it, and the one before")
    .argument("<observer>", "name or id")
    .option("--json", "print all that is known of it, as JSON")
    .action((ref: string, { json }: { json?: boolean }, self: Command) => show(openSession(io, self), ref, json === true));
  checkpoint
    .command("set")
    .summary("let the next run start with this")
    .argument("<observer>", "name or id")
    .argument("<value>", "any JSON value that its type takes")
    .action((ref: string, value: string, _: object, self: Command) => set(openSession(io, self), ref, toJson(value)));
  checkpoint
    .command("reset")
    .summary("let the next run start without one")
    .argument("<observer>", "name or id")
    .action((ref: string, _: object, self: Command) => reset(openSession(io, self), ref));
}

async function show({ api, io }: Session, ref: string, isJson: boolean): Promise<void> {
  const view = await api.call("getCheckpoint", { path: { ref } });
  if (isJson) return io.out(`${jsonText(view, 2)}\n`);
  io.out(view.savedAt === null ? "no run has saved a checkpoint\n" : lineOf("", view.number, view.value, view.savedAt));
  const { previous } = view;
  if (previous !== null) io.out(lineOf("before: ", previous.number, previous.value, previous.savedAt));
}

/** Like reset, it leaves alone a checkpoint that has changed since it was read. */
async function set({ api, io }: Session, ref: string, value: unknown): Promise<void> {
  const before = await api.call("getCheckpoint", { path: { ref } });
  const body = { value } as BodyOf<"putCheckpoint">;
  told(io, ref, before, await api.call("putCheckpoint", { path: { ref }, body, ifMatch: checkpointTag(before) }));
}

async function reset({ api, io }: Session, ref: string): Promise<void> {
  const before = await api.call("getCheckpoint", { path: { ref } });
  told(io, ref, before, await api.call("resetCheckpoint", { path: { ref }, ifMatch: checkpointTag(before) }));
}

/** Also shows the checkpoint that it replaces, which somebody else may have just set. */
function told(io: Io, ref: string, before: CheckpointView, { value }: CheckpointView): void {
  io.out(plainLine(`${ref} starts ${value === null ? "without a checkpoint" : `with ${jsonText(value)}`}`));
  if (before.savedAt !== null) io.out(lineOf("before: ", before.number, before.value, before.savedAt));
}

const lineOf = (before: string, number: number, value: unknown, savedAt: string): string =>
  plainLine(`${before}${value === null ? "reset" : `number ${number}: ${jsonText(value)}`} (${savedAt})`);

function toJson(text: string): unknown {
  try {
    return jsonValue(text);
  } catch (error) {
    throw new CliFailure("usage", `The checkpoint is not JSON, or cannot be sent: ${(error as Error).message}`, {
      remedy: `Write it as '{"sequence":4711}'`,
    });
  }
}
