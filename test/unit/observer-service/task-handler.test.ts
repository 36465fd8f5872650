import { defineTask, type TaskCreator } from "@unacked/sdk";
import { expect, it } from "vitest";
import { z } from "zod";
import { asHandler } from "../../../services/observer-service/src/slot/task-handler.ts";
import type { TaskWord } from "../../../services/observer-service/src/wire/attempt.ts";

it.each(["completed", "failed", "postponed"])("What a handler creates when it has %s is refused", async (how) => {
  let tasks: TaskCreator | undefined;
  const definition = defineTask({
    type: "parent",
    params: z.strictObject({}),
    async run(ctx) {
      ({ tasks } = ctx);
      tasks.create("child");
      if (how === "failed") throw new Error("no");
      if (how === "postponed") ctx.postpone(1);
    },
  });
  const kept: TaskWord[] = [];
  const parts = { typeOf: () => undefined, keep: (word: TaskWord) => void kept.push(word) };
  const handler = asHandler(definition, { attempt: 1, inputs: undefined }, parts);
  const { signal } = new AbortController();
  await handler.run({ params: {}, signal, log: console, observer: { id: "t" } } as never).catch(() => undefined);
  expect(() => tasks?.create("child")).toThrow("the attempt has ended: await what creates");
  expect(kept.flatMap(({ creations = [] }) => creations)).toHaveLength(how === "completed" ? 1 : 0);
});
