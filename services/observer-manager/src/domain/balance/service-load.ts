/** A service that gives and takes, with what it runs. */
export interface BalancedService {
  readonly id: string;
  readonly workers: number;
  /** What it runs, by type. */
  readonly runs: ReadonlyMap<string, number>;
  readonly knows: ReadonlySet<string>;
}

/** What a service runs, beside its share. Types are numbers here, as each stage looks at each of them at each service. */
export interface ServiceLoad {
  readonly id: string;
  readonly workers: number;
  /** How many of each type. */
  readonly runs: readonly number[];
  /** Of each type whether it does; one and the same for all services that know the same. */
  readonly knows: readonly boolean[];
  /** So many above its share; negative: it has room for so many. */
  readonly over: number;
}

/** @param types all that run, each with the number that is its place */
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
