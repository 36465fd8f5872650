import type { BodyOf } from "@unacked/contracts";
import type { OutputOf, ParamsOf, TaskKind } from "../tasks/task-kind.ts";

type AskedTask = NonNullable<BodyOf<"createFlow">["tasks"]>[number];

/** A task of a flow, with the types of what it takes and gives. */
export interface FlowStep extends Omit<AskedTask, "type" | "params" | "after" | "startAt"> {
  readonly ref: string;
  /** A definition of `defineTask`, or the name of a type. */
  readonly task: TaskKind | string;
  readonly params?: unknown;
  /** Refs of those that stand before it in the list: so there is no circle. */
  readonly after?: readonly string[];
  readonly startAt?: string;
}

/** Those that stand before it. */
type Before = readonly FlowStep[];
type RefsOf<Steps extends Before> = Steps[number]["ref"];
type StepOf<Steps extends Before, Ref> = Extract<Steps[number], { readonly ref: Ref }>;
type AfterOf<Step> = Step extends { readonly after: readonly (infer Ref)[] } ? Ref : never;

/** What a definition says that it is given. */
type InputsOf<Step extends FlowStep> = Step["task"] extends { readonly inputs?: infer Inputs } ? NonNullable<Inputs> : never;

/** Refs that it needs, and does not come after; or which give something else than it takes. */
type WrongInputs<Step extends FlowStep, Steps extends Before> = string extends keyof InputsOf<Step>
  ? never
  : {
      [Ref in keyof InputsOf<Step>]: InputsOf<Step>[Ref] extends { readonly optional: true; readonly task: infer Kind }
        ? Ref extends AfterOf<Step>
          ? Mismatch<Ref, Kind, Steps>
          : never
        : Ref extends AfterOf<Step>
          ? Mismatch<Ref, InputsOf<Step>[Ref], Steps>
          : `it has to come after "${Ref & string}"`;
    }[keyof InputsOf<Step>];

type Mismatch<Ref, Kind, Steps extends Before> =
  OutputOf<StepOf<Steps, Ref>["task"]> extends OutputOf<Kind> ? never : `"${Ref & string}" returns something else`;

type CheckedStep<Step extends FlowStep, Steps extends Before> = [WrongInputs<Step, Steps>] extends [never]
  ? { readonly after?: readonly RefsOf<Steps>[] } & NeededParams<Step>
  : { readonly task: WrongInputs<Step, Steps> };

type NeededParams<Step extends FlowStep> = Step["task"] extends TaskKind
  ? Record<string, never> extends ParamsOf<Step["task"]>
    ? { readonly params?: ParamsOf<Step["task"]> }
    : { readonly params: ParamsOf<Step["task"]> }
  : object;

/**
 * The steps as they may be. A list whose length is not known when it is compiled is looked at by the manager alone. What is `Done` goes along: without
 * it the compiler gives up at 48 steps.
 */
export type CheckedSteps<
  Steps extends Before,
  Seen extends Before = readonly [],
  Done extends readonly unknown[] = readonly [],
> = Steps extends readonly [infer Step extends FlowStep, ...infer Rest extends Before]
  ? CheckedSteps<Rest, readonly [...Seen, Step], readonly [...Done, Step & CheckedStep<Step, Seen>]>
  : readonly [...Done, ...Steps];

/** What `flow` gives, and `client.flows.create` takes. */
export interface FlowPlan<Steps extends Before = Before> {
  readonly name: string | undefined;
  readonly steps: Steps;
}

/** By ref: what each leaves. Undefined: it has not completed, and the flow went on without. */
export type ResultsOf<Steps extends Before> = {
  readonly [Step in Steps[number] as Step["ref"]]:
    | (Step["task"] extends string ? unknown : OutputOf<Step["task"]>)
    | (Step extends { readonly onFailure: "continue" } ? undefined : never);
};

/**
 * A flow, typed by its refs: what a task comes after stands before it in the list, and returns what its definition declares as `inputs`.
 * What is wrong does not compile; the manager looks at all of it once more.
 */
export function flow<const Steps extends Before>(
  steps: Steps & CheckedSteps<Steps>,
  { name }: { name?: string } = {},
): FlowPlan<Steps> {
  return { name, steps };
}
