import type { BodyOf } from "@unacked/contracts";
import type { OutputOf, ParamsOf, TaskKind } from "../tasks/task-kind.ts";

type AskedTask = NonNullable<BodyOf<"createFlow">["tasks"]>[number];

/** A task of a flow, with the types of what it takes and gives. */
export interface FlowStep extends Omit<AskedTask, "type" | "params" | "after" | "startAt"> {
  readonly ref: string;
  /** A definition of `defineTask`, or the name of a type. */
  readonly task: TaskKind | string;
  readonly params?: unknown;
  /** Refs of tasks that stand before it in the list, so that there is no cycle. */
  readonly after?: readonly string[];
  readonly startAt?: string;
}

/** The tasks that stand before it. */
type Before = readonly FlowStep[];
type RefsOf<Steps extends Before> = Steps[number]["ref"];
type StepOf<Steps extends Before, Ref> = Extract<Steps[number], { readonly ref: Ref }>;
type AfterOf<Step> = Step extends { readonly after: readonly (infer Ref)[] } ? Ref : never;

/** The inputs that a task's definition declares. */
type InputsOf<Step extends FlowStep> = Step["task"] extends { readonly inputs?: infer Inputs } ? NonNullable<Inputs> : never;

/** The declared inputs that are wrong: the task does not come after their ref, or that task returns another type. */
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
 * The steps as they may be. A list whose length is not known to the compiler is checked only by the manager. `Done` is passed along, as
 * without it the compiler gives up at 48 steps.
 */
export type CheckedSteps<
  Steps extends Before,
  Seen extends Before = readonly [],
  Done extends readonly unknown[] = readonly [],
> = Steps extends readonly [infer Step extends FlowStep, ...infer Rest extends Before]
  ? CheckedSteps<Rest, readonly [...Seen, Step], readonly [...Done, Step & CheckedStep<Step, Seen>]>
  : readonly [...Done, ...Steps];

/** What `flow` returns, and `client.flows.create` takes. */
export interface FlowPlan<Steps extends Before = Before> {
  readonly name: string | undefined;
  readonly steps: Steps;
}

/** The output of each task by ref. Undefined means that it did not complete, and the flow went on without it. */
export type ResultsOf<Steps extends Before> = {
  readonly [Step in Steps[number] as Step["ref"]]:
    | (Step["task"] extends string ? unknown : OutputOf<Step["task"]>)
    | (Step extends { readonly onFailure: "continue" } ? undefined : never);
};

/**
 * A flow, typed by its refs: a task's predecessors stand before it in the list, and return what its definition declares as `inputs`. A
 * mistake does not compile; the manager checks everything again.
 */
export function flow<const Steps extends Before>(
  steps: Steps & CheckedSteps<Steps>,
  { name }: { name?: string } = {},
): FlowPlan<Steps> {
  return { name, steps };
}
