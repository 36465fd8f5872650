import { MANAGER_FEATURES, type ReadinessCheck } from "@unacked/contracts";
import type { TlsFiles } from "@unacked/settings";
import type { DataSource } from "typeorm";
import type { ActionDone } from "../../operations/access/audit.ts";
import type { Wakeups } from "../../operations/changes/change-log.ts";
import type { Log } from "../../operations/log.ts";
import { Loop } from "../../operations/loop.ts";
import type { ManagerReads } from "../../operations/manager-reads.ts";
import type { AskQueues } from "../../operations/pools/pool-queues.ts";
import { missingActions, onActionsCommitted } from "./access/committed-actions.ts";
import { adoptRestoredRows } from "./books/restored-rows.ts";
import { createDataSource } from "./connection/data-source.ts";
import { checkDatabase, unavailable } from "./connection/database-check.ts";
import { describeBeforeBooks, describeDatabaseError, isLocked } from "./connection/database-error.ts";
import { databaseUrls } from "./connection/database-urls.ts";
import { migrate } from "./connection/migrate.ts";
import { type Channel, Notifications } from "./connection/notifications.ts";
import { Primary } from "./connection/primary.ts";
import { warnOfSchemaCreators } from "./connection/schema-creators.ts";
import { sslOptions } from "./connection/ssl-mode.ts";
import { UnusableDatabaseError } from "./connection/unusable-database.ts";
import { areNew } from "./migrations/migrations.ts";
import { postgresReads } from "./postgres-reads.ts";
import { postgresStores, type Stores } from "./postgres-stores.ts";

export interface DatabaseSideSettings {
  databaseUrl: string;
  tls: TlsFiles;
  poolSize: number;
  log: Log;
}

const AGAIN_MS = 1_000;
/** The pause after tables were held: managers that serve wait while a migration waits for a lock. */
const HELD_AGAIN_MS = 5_000;

/** The manager's way to PostgreSQL: one pool of connections, and one that listens; it opens the books and says whether they can be reached. */
export class DatabaseSide {
  readonly stores: Stores;
  readonly #dataSource: DataSource;
  readonly #primary: Primary;
  readonly #notifications: Notifications;
  readonly #log: Log;
  /** Why the books could not be opened. */
  #lastFailure: ReadinessCheck | undefined;
  /** Why migrations that the database lacks are not applied. */
  #notMigrated: ReadinessCheck | undefined;
  readonly #catchUp = new Loop({ round: () => this.#lookAgain(), failed: (error) => this.#failed(error) });
  #checking: Promise<ReadinessCheck> | undefined;
  #isOpen = false;
  #committed: (done: readonly ActionDone[]) => void = () => undefined;

  constructor({ databaseUrl, tls, poolSize, log }: DatabaseSideSettings) {
    this.#log = log;
    const [first = "", ...others] = databaseUrls(databaseUrl);
    const address = sslOptions(first, tls);
    this.#primary = new Primary([address, ...others.map((url) => sslOptions(url, tls))], log);
    this.#dataSource = createDataSource({
      databaseUrl: address.url,
      ssl: address.ssl,
      primary: this.#primary,
      poolSize,
      log,
    });
    this.stores = postgresStores(this.#dataSource);
    this.#notifications = new Notifications(this.#primary, log);
    this.#notifications.onConnected(() => this.#catchUp.wake());
  }

  reads(askQueues: AskQueues): ManagerReads {
    return postgresReads(this.#dataSource, askQueues);
  }

  notifications(channel: Channel): Wakeups {
    return this.#notifications.of(channel);
  }

  /** Connects and brings the schema up to date. @returns 0; or in how many ms to try again, while the database is away or its tables are held */
  async open(): Promise<number> {
    try {
      if (!this.#dataSource.isInitialized) await this.#connect();
      const applied = await this.#migrate();
      this.#log.info({ event: "books-open", applied }, "the schema is up to date");
      // The books are new: no manager has read anything for them that does not know what this one does (docs/decisions/0020).
      if (areNew(applied)) await this.stores.features.noteKnown(MANAGER_FEATURES);
      await this.#makeTaskDays();
      const adopted = await adoptRestoredRows(this.#dataSource);
      if (adopted > 0) this.#log.info({ event: "books-restored", rows: adopted }, "the books are from another server");
      await warnOfSchemaCreators(this.#dataSource, this.#log);
      this.#notifications.start();
      this.#catchUp.start(Number.POSITIVE_INFINITY);
      this.#isOpen = true;
      return 0;
    } catch (error) {
      if (!describeDatabaseError(error).unavailable) throw error;
      return this.#failed(error);
    }
  }

  async #migrate(): Promise<string[]> {
    const applied = await migrate(this.#dataSource);
    this.#notMigrated = undefined;
    return applied;
  }

  /** A standby that was promoted, or the database that a proxy leads to by now, may lack the last migrations. */
  async #lookAgain(): Promise<number> {
    this.#catchUp.takeWake();
    this.#isOpen = false;
    const applied = await this.#migrate();
    this.#isOpen = true;
    if (applied.length === 0) return Number.POSITIVE_INFINITY;
    this.#log.warn({ event: "schema-caught-up", applied }, "migrations were missing in the database, and have been applied");
    await this.#makeTaskDays();
    return Number.POSITIVE_INFINITY;
  }

  /** @returns in how many ms to try again */
  #failed(error: unknown): number {
    const { unavailable: isPassing, fields } = describeDatabaseError(error);
    const check = unavailable(error instanceof UnusableDatabaseError ? { message: error.message } : fields);
    const isHeld = isLocked(error);
    if (!this.#dataSource.isInitialized) this.#lastFailure = check;
    // A check of the database would not tell that its tables are not there.
    if (isHeld || !isPassing) this.#notMigrated = check;
    const why = isHeld ? "a migration waits for tables that others hold" : "PostgreSQL cannot be reached";
    this.#log.warn({ err: error, remedy: check.remedy }, `${isPassing ? why : "a migration fails"}; trying again`);
    return isHeld || !isPassing ? HELD_AGAIN_MS : AGAIN_MS;
  }

  /**
   * Done before anybody is served: in a new database no task can end without a partition for its day. If it fails, retention tries it
   * again.
   */
  async #makeTaskDays(): Promise<void> {
    try {
      await this.stores.tasks.days.makeAhead();
    } catch (error) {
      this.#log.warn({ err: error }, "the days of ended tasks could not be made; it is tried again");
    }
  }

  async #connect(): Promise<void> {
    await this.#dataSource.initialize();
    if (!this.#primary.isOnly) onActionsCommitted(this.#dataSource, (done) => this.#committed(done));
  }

  /** For several databases: hears what was committed for clients, and when another one becomes the primary. */
  onFailover(heard: { committed(done: readonly ActionDone[]): void; moved(): void }): void {
    this.#committed = heard.committed;
    this.#primary.onMoved(heard.moved);
  }

  missingActions(actions: { id: string; count: number }[]): Promise<ReadonlySet<string>> {
    return missingActions(this.#dataSource, actions);
  }

  /** What an error of a call means to its caller. It may come before the books are open. */
  describeError(error: unknown): ReturnType<typeof describeDatabaseError> {
    return this.#isOpen ? describeDatabaseError(error) : describeBeforeBooks(error);
  }

  /** All who ask while it is being checked get the same answer: anybody may ask, and each check takes a connection. */
  async check(): Promise<ReadinessCheck> {
    // Before the first connection there is nobody to ask.
    if (!this.#dataSource.isInitialized && this.#lastFailure !== undefined) return this.#lastFailure;
    if (this.#notMigrated !== undefined) return this.#notMigrated;
    this.#checking ??= checkDatabase(this.#dataSource).finally(() => (this.#checking = undefined));
    return await this.#checking;
  }

  async close(): Promise<void> {
    this.#primary.close();
    this.#catchUp.stop(); // not waited for: it may wait for another manager's migrations
    await this.#notifications.close();
    if (this.#dataSource.isInitialized) await this.#dataSource.destroy();
  }
}
