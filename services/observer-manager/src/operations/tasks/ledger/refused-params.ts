import type { SendId } from "@unacked/contracts";
import { grouped } from "../../../domain/grouped.ts";
import type { TaskNews, TaskWord } from "../../../domain/tasks/task-words.ts";
import {
  type AlikeServices,
  inOneOrder,
  refusesParams,
  turnedAway,
  typesOfManyVersions,
} from "../../../domain/tasks/turned-away.ts";
import { checksOfCall } from "../../../domain/types/params-check.ts";
import { eachInSlices } from "../../in-slices.ts";
import type { Announced, RefusedParamsStore } from "./refused-params-store.ts";

/** Each may have 256 KiB of params. */
const AT_ONCE = 50;

/**
 * Comes in: what services said, before it is written. Guarantees: where nobody has refused params nothing is read; where the pool had one
 * version of each type for an hour or two, no task is read, and nothing is changed. It writes nothing: after a crash the same is looked at
 * again.
 */
export class RefusedParams {
  readonly #store: RefusedParamsStore;
  readonly #hash: (text: string) => string;
  /** The versions of schemas: those of the books are read once. */
  readonly #known = new WeakMap<object, string>();

  /** @param hash short: it stands in the story of a task */
  constructor(store: RefusedParamsStore, hash: (text: string) => string) {
    this.#store = store;
    this.#hash = hash;
  }

  /** The same, where tasks of which another version takes the params are turned away. Rejects when the database cannot be reached. */
  async turnedAway(news: TaskNews): Promise<TaskNews> {
    const refused = grouped(news.words.filter(refusesParams), ({ pool }) => pool);
    if (refused.size === 0) return news;
    const changed = new Map<SendId, TaskWord>();
    for (const [pool, words] of refused)
      for (const word of await this.#ofPool(words, await this.#services(pool, news))) changed.set(word.sendId, word);
    return { ...news, words: news.words.map((word) => changed.get(word.sendId) ?? word) };
  }

  async #ofPool(words: TaskWord[], services: AlikeServices[]): Promise<TaskWord[]> {
    const types = typesOfManyVersions(services);
    if (types.length === 0) return [];
    const bySend = new Map(words.map((word) => [word.sendId, word]));
    const checks = checksOfCall();
    const judged: TaskWord[] = [];
    for (let from = 0; from < words.length; from += AT_ONCE) {
      const tasks = await this.#store.tasks(words.slice(from, from + AT_ONCE), types);
      const judge = (task: (typeof tasks)[number]) =>
        turnedAway(bySend.get(task.sendId) as TaskWord, task, services, checks, Math.random());
      judged.push(...(await eachInSlices(tasks, judge)));
    }
    return judged;
  }

  /** What they say of themselves in the same news is not in the books yet: who has just started may say it with its first refusal. */
  async #services(pool: string, { workers }: TaskNews): Promise<AlikeServices[]> {
    const inBooks = await this.#store.services(pool);
    const told = new Map(workers.filter((one) => one.pool === pool).map((one) => [one.serviceId, one]));
    const before = inBooks.map(({ ids, taking, types }) => ({
      ids: ids.filter((id) => !told.has(id)),
      taking: taking.filter((id) => !told.has(id)),
      types,
    }));
    const now = [...told.values()].map(({ serviceId, workers: count, draining, types }) => ({
      ids: [serviceId],
      taking: count > 0 && !draining ? [serviceId] : [],
      types,
    }));
    return [...before, ...now].map((one) => this.#withVersions(one));
  }

  #withVersions({ types, ...services }: Announced): AlikeServices {
    const versionOf = (schema: Record<string, unknown>): string => {
      const version = this.#known.get(schema) ?? this.#hash(inOneOrder(schema));
      this.#known.set(schema, version);
      return version;
    };
    return {
      ...services,
      types: types.map(({ type, paramsSchema }) => ({ type, paramsSchema, version: versionOf(paramsSchema) })),
    };
  }
}
