import { defineTask, type InputKinds, runTask, SdkError } from "@unacked/sdk";
import { inputsOf } from "@unacked/sdk/host";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

const page = defineTask({
  type: "page",
  params: z.strictObject({}),
  output: z.object({ text: z.string() }),
  run: async () => ({ text: "abc" }),
});
const sized = defineTask({
  type: "sized",
  params: z.strictObject({}),
  inputs: { left: page, right: { task: page, optional: true } },
  output: z.object({ size: z.int(), missing: z.array(z.string()) }),
  run: async ({ inputs: { left, right }, missing }) => ({
    size: left.text.length + (right?.text.length ?? 0),
    missing: Object.entries(missing).map(([ref, { status, error }]) => `${ref} ${status}: ${error?.message}`),
  }),
});

describe("what a task of a flow is given", () => {
  it("stands in ctx.inputs by ref, and what is missing in ctx.missing, with why", async () => {
    const inputs = { left: { text: "abc" }, right: { text: "de" } };
    expect(await runTask(sized, { inputs })).toEqual({ size: 5, missing: [] });
    const missing = { right: { status: "Failed", error: { name: "Error", message: "404" } } } as const;
    expect(await runTask(sized, { inputs: { left: inputs.left }, missing })).toEqual({
      size: 3,
      missing: ["right Failed: 404"],
    });
  });

  it("is null where that task has returned nothing, in its type, too", async () => {
    const maybe = defineTask({
      type: "maybe",
      params: z.strictObject({ text: z.string().optional() }),
      output: z.string().optional(),
      run: async ({ params }) => params.text,
    });
    const taker = defineTask({
      type: "taker",
      params: z.strictObject({}),
      inputs: { left: maybe, right: { task: maybe, optional: true } },
      async run({ inputs: { left, right } }) {
        expectTypeOf(left).toEqualTypeOf<string | null>();
        expectTypeOf(right).toEqualTypeOf<string | null | undefined>();
        return [left, right];
      },
    });
    const nothing = await runTask(maybe);
    expectTypeOf(nothing).toEqualTypeOf<string | null>();
    expect(await runTask(taker, { inputs: { left: nothing } })).toEqual([null, null]);
  });

  it("has its type in each task of a batch, too", async () => {
    const many = defineTask({
      type: "many",
      params: z.strictObject({}),
      inputs: { left: page, right: { task: page, optional: true } },
      batch: { size: 2 },
      async runBatch(tasks) {
        return tasks.map(({ taskId, inputs: { left, right } }) => {
          expectTypeOf(left).toEqualTypeOf<{ text: string }>();
          expectTypeOf(right).toEqualTypeOf<{ text: string } | undefined>();
          return { taskId, output: left.text.length };
        });
      },
    });
    expect(await runTask(many, { inputs: { left: { text: "abc" } } })).toBe(3);
  });

  it("is what its type declares, or the attempt fails before the handler is entered", async () => {
    const failure = (options: object) => runTask(sized, options).catch((error: unknown) => error);
    for (const [options, why] of [
      [{}, "its task comes after no such task"],
      [{ missing: { left: { status: "Cancelled" } } }, "that is Cancelled"],
    ] as const) {
      const error = await failure(options);
      expect(error).toBeInstanceOf(SdkError);
      expect(error).toMatchObject({ code: "missing-input", message: `the input "left" is not there: ${why}` });
    }
  });

  it("is needed where a file in JavaScript says that it is not optional", () => {
    const inputs = { left: { task: page, optional: false } };
    expect(() => inputsOf({ inputs }, [])).toThrow('the input "left" is not there');
    expect(inputsOf({ inputs: { left: { task: page, optional: true } } }, []).inputs).toEqual({});
  });

  it("may have any ref, and is nobody's prototype", () => {
    const { inputs } = inputsOf({}, [{ ref: "constructor", status: "Completed", output: "1" }]);
    expect(inputs["constructor"]).toBe(1);
    expect(inputs["toString"]).toBeUndefined();
    expect(Object.isFrozen(inputs)).toBe(true);
  });

  it.each([[null], [[]], [{ a: 1 }], [{ a: null }], [{ a: { task: {}, optional: true } }]])(
    "declared as %j is refused, or means nothing",
    (inputs) => {
      const define = () =>
        defineTask({ type: "t", params: z.object({}), inputs: inputs as unknown as InputKinds, run: async () => null });
      if (Array.isArray(inputs)) expect(define().type).toBe("t");
      else expect(define).toThrow(/^task type t: inputs/);
    },
  );
});
