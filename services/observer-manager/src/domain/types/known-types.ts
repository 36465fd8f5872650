import type { FieldProblem } from "@unacked/contracts";
import { grouped } from "../grouped.ts";
import { type ChecksOfCall, checkParams } from "./params-check.ts";

interface Info {
  type: string;
  paramsSchema: Record<string, unknown>;
}

/** The types that living services of a pool announced, looked up by name: put in order once for the ten thousand requests of a call. */
export class KnownTypes<Known extends Info = Info> {
  readonly #versions: ReadonlyMap<string, Known[]>;
  #names: string[] | undefined;

  constructor(types: readonly Known[]) {
    this.#versions = grouped(types, ({ type }) => type);
  }

  /** The names in their order; all who ask share one list. */
  get names(): string[] {
    this.#names ??= [...this.#versions.keys()].toSorted();
    return this.#names;
  }

  versionsOf(type: string): readonly Known[] {
    return this.#versions.get(type) ?? [];
  }

  /**
   * What is wrong with params of that type. During a rolling deploy two versions of a type live side by side: good for one is good.
   * @returns undefined: nobody knows the type
   */
  problemsOf(type: string, params: unknown, checks: ChecksOfCall): FieldProblem[] | undefined {
    let first: FieldProblem[] | undefined;
    for (const { paramsSchema } of this.versionsOf(type)) {
      const problems = checkParams(paramsSchema, params, checks);
      if (problems.length === 0) return problems;
      first ??= problems;
    }
    return first && checks.told(first);
  }
}
