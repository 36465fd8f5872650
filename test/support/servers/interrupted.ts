import type { DataSource, EntityManager } from "typeorm";

/** What a store asks of its transactions, with something done by others right before the first statement that is so. */
export function interrupted(
  dataSource: DataSource,
  isSo: (text: string) => boolean,
  others: () => Promise<unknown>,
): DataSource {
  let isDone = false;
  const wrap = (tx: EntityManager): EntityManager =>
    new Proxy(tx, {
      get: (of, name) => {
        if (name !== "query") return Reflect.get(of, name, of);
        return async (text: string, parameters?: unknown[]) => {
          if (!isDone && isSo(text)) {
            isDone = true;
            await others();
          }
          return of.query(text, parameters);
        };
      },
    });
  return new Proxy(dataSource, {
    get: (of, name) => {
      if (name !== "transaction") return Reflect.get(of, name, of);
      return (work: (tx: EntityManager) => Promise<unknown>) => of.transaction((tx) => work(wrap(tx)));
    },
  });
}
