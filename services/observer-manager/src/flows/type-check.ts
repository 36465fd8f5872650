import type { CreateObserver, FieldProblem, ObserverTypeInfo } from "@unacked/contracts";
import { checkParams } from "../domain/params-check.ts";
import type { Refusal } from "./manager-api.ts";

export interface TypeDirectory {
  /** The types that living services of a pool announced; `services` is how many of them live. */
  liveTypes(pool: string): Promise<{ services: number; types: ObserverTypeInfo[] }>;
}

/**
 * Checks type and params against what living services announced, so that most mistakes are answered at POST instead of
 * ending as Failed. With no service alive nothing can be checked: `whenFull: "queue"` accepts, else no worker is free anyway.
 */
export class TypeCheck {
  readonly #directory: TypeDirectory;

  constructor(directory: TypeDirectory) {
    this.#directory = directory;
  }

  /** @returns for each request why it cannot be accepted, or null */
  async check(requests: CreateObserver[]): Promise<(Refusal | null)[]> {
    const directories = new Map<string, Awaited<ReturnType<TypeDirectory["liveTypes"]>>>();
    for (const { pool } of requests)
      if (!directories.has(pool)) directories.set(pool, await this.#directory.liveTypes(pool));
    return requests.map((request) => {
      const { services = 0, types = [] } = directories.get(request.pool) ?? {};
      return services === 0 ? null : checkAgainst(types, request);
    });
  }
}

function checkAgainst(types: ObserverTypeInfo[], request: CreateObserver): Refusal | null {
  const candidates = types.filter((info) => info.type === request.type);
  if (candidates.length === 0) {
    const knownTypes = [...new Set(types.map((info) => info.type))].toSorted();
    return { kind: "problem", code: "unknown-type", detail: `no living service knows the type ${request.type}`, knownTypes };
  }
  // During a rolling deploy two versions of a type live side by side: good for one is good.
  const problems = candidates.map((info) => checkParams(info.paramsSchema, request.params));
  if (problems.some((errors) => errors.length === 0)) return null;
  return { kind: "problem", code: "invalid-body", errors: problems[0] as FieldProblem[] };
}
