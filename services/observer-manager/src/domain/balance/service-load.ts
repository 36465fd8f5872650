/** A service that gives and takes, with what it runs. */
export interface BalancedService {
  readonly id: string;
  readonly workers: number;
  /** What it runs, by type. */
  readonly runs: ReadonlyMap<string, number>;
  readonly knows: ReadonlySet<string>;
}

/** What a service runs, beside its share. Types are numbers here, because each stage looks at each type at each service. */
export interface ServiceLoad {
  readonly id: string;
  readonly workers: number;
  /** How many it runs of each type. */
  readonly runs: readonly number[];
  /** For each type, whether the service knows it. Services that know the same types share one array. */
  readonly knows: readonly boolean[];
  /** How many it runs above its share; negative: it has room for so many. */
  readonly over: number;
}

/** @param types all types that run; the place of a type is its number */
export function loadsOf(
  services: readonly BalancedService[],
  types: readonly string[],
  shares: readonly number[],
): ServiceLoad[] {
  const numbers = new Map(types.map((type, i) => [type, i]));
  const sets = new Map<string, readonly boolean[]>();
  return services.map(({ id, workers, ...service }, i): ServiceLoad => {
    const own = types.map((type) => service.knows.has(type));
    const key = own.reduce((text, knows) => text + (knows ? "1" : "0"), "");
    const knows = sets.get(key) ?? own;
    sets.set(key, knows);
    const runs = types.map(() => 0);
    for (const [type, count] of service.runs) runs[numbers.get(type) ?? 0] = count;
    return { id, workers, runs, knows, over: runs.reduce((a, b) => a + b, 0) - (shares[i] ?? 0) };
  });
}
