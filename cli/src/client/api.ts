import { CallError, Client, contractDecoder, type Lost, Wire, type WireOptions } from "@unacked/client";
import {
  type AnswerOf,
  type AuditEntry,
  type BackfillAnswer,
  type BalanceView,
  type BatchResults,
  type BodyOf,
  type BulkCount,
  type BulkResults,
  type CallInput,
  type CallName,
  type ChangeEvent,
  type CheckpointView,
  type CreatedFlow,
  type CreatedTask,
  checkpointTag,
  type ErrorEntry,
  type ErrorGroup,
  type FlowTaskPage,
  type FlowTaskView,
  type FlowView,
  type ItemOf,
  type LogEvent,
  looksLikeUuid,
  type ObserverChanged,
  type ObserverErrorGroup,
  type ObserverFilter,
  type ObserverLogs,
  type ObserverView,
  type OccurrenceView,
  type PagedCallName,
  type PutScheduleAnswer,
  type PutTimerAnswer,
  type QueryOf,
  type RunFigures,
  type RunList,
  type ScheduleTimes,
  type ScheduleView,
  type ServiceView,
  type SessionView,
  type Stats,
  type TaskBulkCount,
  type TaskFailureGroup,
  type TaskStatus,
  type TaskTypeFigures,
  type TaskTypeView,
  type TaskView,
  type TimelineEntry,
  type TimerView,
  type TypeView,
  type WhenFull,
  type WorkView,
} from "@unacked/contracts";
import { failureOf } from "./call-failure.ts";
import { type TlsFiles, tlsFetch } from "./tls-fetch.ts";
import { refuseNoToken } from "./token-flaw.ts";

export type ErrorFilter = Partial<Record<keyof QueryOf<"listErrors">, string>>;
export type AuditFilter = Partial<Record<keyof QueryOf<"listAudit">, string>>;
export type TaskFilter = Partial<Record<keyof QueryOf<"listTasks">, string>>;
export type NewObserver = BodyOf<"createObserver">;
export type NewTask = BodyOf<"createTask">;
export type TimerFilter = Partial<Record<keyof QueryOf<"listTimers">, string>>;
export type NewFlow = BodyOf<"createFlow">;
export type FlowFilter = Partial<Record<keyof QueryOf<"listFlows">, string>>;
export type NewTimer = BodyOf<"putTimer">;
export type ScheduleFilter = Partial<Record<keyof QueryOf<"listSchedules">, string>>;
export type NewSchedule = BodyOf<"putSchedule">;
/** The manager says which statuses may be changed. */
export type TaskBulkTarget =
  | { ids: string[] }
  | { filter: { status?: TaskStatus[]; type?: string; pool?: string } }
  | { all: true };
export type TaskTypeChange = BodyOf<"changeTaskType">;

interface Page<Item> {
  items: Item[];
}

/** Which ones a bulk call is about: some that are named (by name or id), or all that match. */
export type BulkTarget = { refs: string[] } | { filter: ObserverFilter } | { all: true };

export interface BulkOptions {
  dryRun: boolean;
  force?: boolean;
}

export interface Address extends Pick<WireOptions, "url" | "token"> {
  /** Not given: what Node knows. */
  tls?: TlsFiles | undefined;
}

/** The REST API for commands: every method fails with a CliFailure, refused, unreachable, or an answer of another shape. */
export class UnackedApi {
  readonly #client: Client;

  constructor({ url, token, tls = {} }: Address, { timeoutMs }: { timeoutMs: number }) {
    refuseNoToken(token);
    // Somebody has typed the command, sees at once that it failed, and decides.
    const wire = new Wire({ url, token, timeoutMs, fetch: tlsFetch(tls) });
    this.#client = new Client({ wire, decoder: contractDecoder, retries: 0 });
  }

  get url(): string {
    return this.#client.url;
  }

  /** How long one answer may take. */
  get timeoutMs(): number {
    return this.#client.timeoutMs;
  }

  whoAmI(): Promise<SessionView> {
    return this.#call("getSession", {});
  }

  createObserver(body: NewObserver): Promise<ObserverView> {
    return this.#call("createObserver", { body }, `observer ${body.name}`);
  }

  getObserver(ref: string): Promise<ObserverView> {
    return this.#call("getObserver", { path: { ref } }, `observer ${ref}`);
  }

  /** @param called what a failure calls it: the id may not be what somebody typed */
  changeObserver(
    { id, called }: { id: string; called: string },
    body: BodyOf<"changeObserver">,
    { ifMatch, ...query }: { ifMatch?: string; whenFull: WhenFull; dryRun: boolean },
  ): Promise<ObserverChanged> {
    return this.#call("changeObserver", { path: { ref: id }, query, body, ifMatch }, `observer ${called}`);
  }

  /** By its name; an id of the client's own counts only at a create. */
  putObserver(definition: NewObserver): Promise<ObserverChanged> {
    const { name, id: _chosen, ...body } = definition;
    return this.#call("putObserver", { path: { ref: name }, body }, `observer ${name}`);
  }

  /** The newest thousand, and how many there are. */
  listRuns(ref: string): Promise<RunList> {
    return this.#call("listRuns", { path: { ref } }, `observer ${ref}`);
  }

  /** The newest so many. */
  async timeline(ref: string, limit: number): Promise<TimelineEntry[]> {
    const found: TimelineEntry[] = [];
    for (let cursor: string | undefined; found.length < limit; ) {
      const query = { limit: Math.min(1_000, limit - found.length), ...(cursor !== undefined && { cursor }) };
      const page = await this.#call("getTimeline", { path: { ref }, query }, `observer ${ref}`);
      found.push(...page.items);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    return found;
  }

  /** In the order given: each is answered for itself. */
  async createObservers(observers: NewObserver[]): Promise<BatchResults["results"]> {
    return (await this.#call("createObservers", { body: { observers } })).results;
  }

  stopObservers(target: BulkTarget, options: BulkOptions): Promise<BulkResults | BulkCount> {
    return this.#call("stopObservers", { body: { ...toBody(target), ...options } });
  }

  restartObservers(target: BulkTarget, { dryRun }: BulkOptions): Promise<BulkResults | BulkCount> {
    return this.#call("restartObservers", { body: { ...toBody(target), dryRun } });
  }

  pauseObservers(target: BulkTarget, { dryRun }: BulkOptions): Promise<BulkResults | BulkCount> {
    return this.#call("pauseObservers", { body: { ...toBody(target), dryRun } });
  }

  resumeObservers(target: BulkTarget, options: BulkOptions & { whenFull: WhenFull }): Promise<BulkResults | BulkCount> {
    return this.#call("resumeObservers", { body: { ...toBody(target), ...options } });
  }

  runFigures(query: QueryOf<"getRunFigures">): Promise<RunFigures> {
    return this.#call("getRunFigures", { query });
  }

  beginWork(body: BodyOf<"beginWork">): Promise<WorkView> {
    return this.#call("beginWork", { body });
  }

  listWork(limit: number): Promise<AnswerOf<"listWork">> {
    return this.#call("listWork", { query: { limit } });
  }

  getWork(workId: string): Promise<WorkView> {
    return this.#call("getWork", { path: { workId } }, `work ${workId}`);
  }

  cancelWork(workId: string): Promise<WorkView> {
    return this.#call("cancelWork", { path: { workId } }, `work ${workId}`);
  }

  /** Page by page, so that a list of any length costs no more memory than a page. */
  observerPages(
    filter: ObserverFilter,
    { sort, limit }: { sort?: string; limit?: number } = {},
  ): AsyncGenerator<ObserverView[]> {
    return this.#pages("listObservers", { ...toQuery(filter), sort } as QueryOf<"listObservers">, limit);
  }

  createTask(body: NewTask): Promise<CreatedTask> {
    return this.#call("createTask", { body }, `task of type ${body.type}`);
  }

  changeTask(taskId: string, priority: number): Promise<TaskView> {
    return this.#call("changeTask", { path: { taskId }, body: { priority } }, `task ${taskId}`);
  }

  retryTaskWith(taskId: string, params: object): Promise<TaskView> {
    return this.#call("retryTaskWith", { path: { taskId }, body: { params } as BodyOf<"retryTaskWith"> }, `task ${taskId}`);
  }

  cancelTasks(target: TaskBulkTarget, dryRun: boolean): Promise<TaskBulkCount> {
    return this.#call("cancelTasks", { body: { ...target, dryRun } as BodyOf<"cancelTasks"> }, "tasks");
  }

  retryTasks(target: TaskBulkTarget, dryRun: boolean): Promise<TaskBulkCount> {
    return this.#call("retryTasks", { body: { ...target, dryRun } as BodyOf<"retryTasks"> }, "tasks");
  }

  /** @param waitS answers when it is over, or after so long */
  getTask(taskId: string, waitS = 0): Promise<TaskView> {
    return this.#call("getTask", { path: { taskId }, query: waitS === 0 ? {} : { wait: `${waitS}s` } }, `task ${taskId}`);
  }

  taskPages(filter: TaskFilter, limit?: number): AsyncGenerator<TaskView[]> {
    return this.#pages("listTasks", filter as QueryOf<"listTasks">, limit);
  }

  createFlow(body: NewFlow): Promise<CreatedFlow> {
    return this.#call("createFlow", { body }, "the flow");
  }

  getFlow(flowId: string, waitS = 0): Promise<FlowView> {
    return this.#call("getFlow", { path: { flowId }, query: { wait: `${waitS}s` } }, `flow ${flowId}`);
  }

  flowPages(filter: FlowFilter, limit?: number): AsyncGenerator<FlowView[]> {
    return this.#pages("listFlows", filter as QueryOf<"listFlows">, limit);
  }

  async *flowTaskPages(flowId: string): AsyncGenerator<FlowTaskView[]> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { limit: 1_000, ...(cursor !== undefined && { cursor }) };
      const page: FlowTaskPage = await this.#call("listFlowTasks", { path: { flowId }, query }, `flow ${flowId}`);
      cursor = page.nextCursor;
      yield page.items;
    }
  }

  cancelFlow(flowId: string): Promise<FlowView> {
    return this.#call("cancelFlow", { path: { flowId } }, `flow ${flowId}`);
  }

  /** @param refs none: from all that did not complete */
  rerunFlow(flowId: string, refs: string[]): Promise<FlowView> {
    const body = refs.length === 0 ? {} : { from: refs };
    return this.#call("rerunFlow", { path: { flowId }, body }, `flow ${flowId}`);
  }

  putTimer(timerId: string, body: NewTimer): Promise<PutTimerAnswer> {
    return this.#call("putTimer", { path: { timerId }, body }, `timer ${timerId}`);
  }

  getTimer(timerId: string): Promise<TimerView> {
    return this.#call("getTimer", { path: { timerId } }, `timer ${timerId}`);
  }

  timerPages(filter: TimerFilter, limit?: number): AsyncGenerator<TimerView[]> {
    return this.#pages("listTimers", filter as QueryOf<"listTimers">, limit);
  }

  cancelTimer(timerId: string): Promise<TimerView> {
    return this.#call("cancelTimer", { path: { timerId } }, `timer ${timerId}`);
  }

  putSchedule(scheduleId: string, body: NewSchedule): Promise<PutScheduleAnswer> {
    return this.#call("putSchedule", { path: { scheduleId }, body }, `schedule ${scheduleId}`);
  }

  getSchedule(scheduleId: string): Promise<ScheduleView> {
    return this.#call("getSchedule", { path: { scheduleId } }, `schedule ${scheduleId}`);
  }

  schedulePages(filter: ScheduleFilter, limit?: number): AsyncGenerator<ScheduleView[]> {
    return this.#pages("listSchedules", filter as QueryOf<"listSchedules">, limit);
  }

  deleteSchedule(scheduleId: string): Promise<void> {
    return this.#call("deleteSchedule", { path: { scheduleId } }, `schedule ${scheduleId}`);
  }

  pauseSchedule(scheduleId: string): Promise<ScheduleView> {
    return this.#call("pauseSchedule", { path: { scheduleId } }, `schedule ${scheduleId}`);
  }

  resumeSchedule(scheduleId: string): Promise<ScheduleView> {
    return this.#call("resumeSchedule", { path: { scheduleId } }, `schedule ${scheduleId}`);
  }

  runSchedule(scheduleId: string, body: BodyOf<"runSchedule">): Promise<OccurrenceView> {
    return this.#call("runSchedule", { path: { scheduleId }, body }, `schedule ${scheduleId}`);
  }

  backfillSchedule(scheduleId: string, body: BodyOf<"backfillSchedule">): Promise<BackfillAnswer> {
    return this.#call("backfillSchedule", { path: { scheduleId }, body }, `schedule ${scheduleId}`);
  }

  /** The newest. */
  async listOccurrences(scheduleId: string, limit: number): Promise<OccurrenceView[]> {
    const about = `schedule ${scheduleId}`;
    return (await this.#call("listOccurrences", { path: { scheduleId }, query: { limit } }, about)).items;
  }

  nextTimes(scheduleId: string, n: number): Promise<ScheduleTimes> {
    return this.#call("nextTimes", { path: { scheduleId }, query: { n } }, `schedule ${scheduleId}`);
  }

  previewSchedule(id: string, body: NewSchedule, n: number): Promise<ScheduleTimes> {
    return this.#call("previewSchedule", { query: { id, n }, body }, `schedule ${id}`);
  }

  async listTaskTypes(): Promise<TaskTypeView[]> {
    return (await this.#call("listTaskTypes", {})).items;
  }

  async listTaskFigures(): Promise<TaskTypeFigures[]> {
    return (await this.#call("listTaskFigures", {})).items;
  }

  async groupTaskFailures(): Promise<TaskFailureGroup[]> {
    return (await this.#call("groupTaskFailures", {})).items;
  }

  changeTaskType(taskType: string, body: TaskTypeChange): Promise<TaskTypeView> {
    return this.#call("changeTaskType", { path: { taskType }, body }, `task type ${taskType}`);
  }

  errorPages(filter: ErrorFilter, limit?: number): AsyncGenerator<ErrorEntry[]> {
    return this.#pages("listErrors", filter as QueryOf<"listErrors">, limit);
  }

  /** The newest first. */
  auditPages(filter: AuditFilter, limit?: number): AsyncGenerator<AuditEntry[]> {
    return this.#pages("listAudit", filter as QueryOf<"listAudit">, limit);
  }

  /** Of those in the error queue. */
  async errorGroups(): Promise<ErrorGroup[]> {
    return (await this.#call("groupErrors", {})).items;
  }

  getError(errorId: string): Promise<ErrorEntry> {
    return this.#call("getError", { path: { errorId } }, `error ${errorId}`);
  }

  retryError(errorId: string): Promise<ObserverView> {
    return this.#call("retryError", { path: { errorId } }, `error ${errorId}`);
  }

  deleteError(errorId: string): Promise<void> {
    return this.#call("deleteError", { path: { errorId } }, `error ${errorId}`);
  }

  /** What observers failed of last. */
  async observerErrorGroups(): Promise<ObserverErrorGroup[]> {
    return (await this.#call("getErrorStats", {})).items;
  }

  async listTypes(): Promise<TypeView[]> {
    return (await this.#call("listTypes", {})).items;
  }

  async listServices({ all }: { all: boolean }, signal?: AbortSignal): Promise<ServiceView[]> {
    return (await this.#call("listServices", { query: all ? { all } : {} }, undefined, signal)).items;
  }

  drainService(service: string): Promise<ServiceView> {
    return this.#call("drainService", { path: { service } }, `service ${service}`);
  }

  cordonService(service: string): Promise<ServiceView> {
    return this.#call("cordonService", { path: { service } }, `service ${service}`);
  }

  uncordonService(service: string): Promise<ServiceView> {
    return this.#call("uncordonService", { path: { service } }, `service ${service}`);
  }

  reloadService(service: string): Promise<ServiceView> {
    return this.#call("reloadService", { path: { service } }, `service ${service}`);
  }

  getBalance(pool: string): Promise<BalanceView> {
    return this.#call("getBalance", { path: { pool } }, `pool ${pool}`);
  }

  rebalance(pool: string, { dryRun }: { dryRun: boolean }): Promise<BalanceView> {
    return this.#call("rebalance", { path: { pool }, body: { dryRun } }, `pool ${pool}`);
  }

  cancelRebalance(pool: string): Promise<BalanceView> {
    return this.#call("cancelRebalance", { path: { pool } }, `pool ${pool}`);
  }

  moveObserver(ref: string): Promise<ObserverView> {
    return this.#call("moveObserver", { path: { ref } }, `observer ${ref}`);
  }

  getCheckpoint(ref: string): Promise<CheckpointView> {
    return this.#call("getCheckpoint", { path: { ref } }, `observer ${ref}`);
  }

  /** @param before the one that it takes the place of; another by now is left alone */
  putCheckpoint(ref: string, value: unknown, before: CheckpointView): Promise<CheckpointView> {
    const ifMatch = checkpointTag(before);
    return this.#call("putCheckpoint", { path: { ref }, body: { value: value as never }, ifMatch }, `observer ${ref}`);
  }

  /** @param before as above */
  resetCheckpoint(ref: string, before: CheckpointView): Promise<CheckpointView> {
    return this.#call("resetCheckpoint", { path: { ref }, ifMatch: checkpointTag(before) }, `observer ${ref}`);
  }

  /** The newest `limit` of what it said. */
  getLogs(ref: string, limit: number): Promise<ObserverLogs> {
    return this.#call("getLogs", { path: { ref }, query: { limit } }, `observer ${ref}`);
  }

  followLogs(ref: string, limit: number, signal: AbortSignal): AsyncGenerator<LogEvent | Lost> {
    return this.#told(this.#client.logs(ref, { limit }, signal), `observer ${ref}`);
  }

  stats(signal?: AbortSignal): Promise<Stats> {
    return this.#call("getStats", {}, undefined, signal);
  }

  changes(signal: AbortSignal): AsyncGenerator<ChangeEvent | Lost> {
    return this.#told(this.#client.changes(signal));
  }

  /** @param about what it is about, for refusals */
  async #call<Name extends CallName>(
    name: Name,
    input: CallInput<Name>,
    about?: string,
    signal?: AbortSignal,
  ): Promise<AnswerOf<Name>> {
    return this.#client.call(name, input, signal).catch((error: unknown) => Promise.reject(this.#failure(error, about)));
  }

  async *#pages<Name extends PagedCallName>(
    name: Name,
    query: QueryOf<Name>,
    limit?: number,
  ): AsyncGenerator<ItemOf<Name>[]> {
    for await (const page of this.#told(this.#client.pages(name, query, { limit })))
      yield (page as Page<ItemOf<Name>>).items;
  }

  async *#told<News>(news: AsyncGenerator<News>, about?: string): AsyncGenerator<News> {
    try {
      for await (const one of news) yield this.#isLost(one) ? { ...one, why: this.#whyLost(one, about) } : one;
    } catch (error) {
      throw this.#failure(error, about);
    }
  }

  #isLost<News>(news: News): news is News & Lost {
    return (news as Partial<Lost>).name === "lost";
  }

  #whyLost({ why, cause }: Lost, about: string | undefined): string {
    return cause instanceof CallError ? failureOf(cause, this.url, about).message : why;
  }

  #failure(error: unknown, about: string | undefined): unknown {
    return error instanceof CallError ? failureOf(error, this.url, about) : error;
  }
}

function toQuery({ labels = {}, status, ...rest }: ObserverFilter): object {
  return {
    ...(status !== undefined && { status }),
    ...rest,
    label: Object.entries(labels).map(([key, value]) => `${key}=${value}`),
  };
}

function toBody(target: BulkTarget): object {
  if ("all" in target) return { all: true };
  if ("filter" in target) return { filter: target.filter };
  const ids = target.refs.filter(looksLikeUuid);
  const names = target.refs.filter((ref) => !looksLikeUuid(ref));
  return { ...(ids.length > 0 && { ids }), ...(names.length > 0 && { names }) };
}
