import type { QueueDepth, ReadinessCheck } from "@unacked/contracts";
import type { TlsFiles } from "@unacked/settings";
import type { DataSource } from "typeorm";
import type { BooksStore } from "../../flows/books-store.ts";
import type { ChangeLog, Wakeups } from "../../flows/change-log.ts";
import type { CommandCount } from "../../flows/command-count.ts";
import type { CommandStore } from "../../flows/dispatcher.ts";
import type { ErrorBook } from "../../flows/error-book.ts";
import type { FreshStarts } from "../../flows/fresh-starts.ts";
import type { Log } from "../../flows/log.ts";
import type { LogPlaces } from "../../flows/log-source.ts";
import type { ManagerReads } from "../../flows/manager-api.ts";
import type { SilenceStore } from "../../flows/prober.ts";
import type { ReconcilerStore } from "../../flows/reconciler.ts";
import type { RetentionStore } from "../../flows/retention.ts";
import type { ServiceStore } from "../../flows/service-desk.ts";
import type { TypeDirectory } from "../../flows/type-check.ts";
import { PostgresChangeLog } from "./change-feed.ts";
import { countCommands } from "./command-reads.ts";
import { createDataSource, migrate } from "./data-source.ts";
import { checkDatabase, unavailable } from "./database-check.ts";
import { describeDatabaseError } from "./database-error.ts";
import { recordErrors } from "./error-writes.ts";
import { PostgresLogPlaces } from "./log-places.ts";
import { type Channel, Notifications } from "./notifications.ts";
import { PostgresBooksStore } from "./postgres-books-store.ts";
import { PostgresCommandStore } from "./postgres-command-store.ts";
import { postgresReads } from "./postgres-reads.ts";
import { PostgresReconcilerStore } from "./reconciler-store.ts";
import { PostgresRetentionStore } from "./retention-store.ts";
import { PostgresServiceStore } from "./service-store.ts";
import { PostgresSilenceStore } from "./silence-store.ts";
import { sslOptions } from "./ssl-mode.ts";
import { PostgresTypeDirectory } from "./type-reads.ts";

export interface DatabaseSideSettings {
  databaseUrl: string;
  tls: TlsFiles;
  poolSize: number;
  /** What was created a moment ago, and need not be read back to be sent. */
  freshStarts: FreshStarts;
  log: Log;
}

/** Everything of the manager that lives in PostgreSQL: one pool of connections, and one that listens. */
export class DatabaseSide {
  readonly books: BooksStore;
  readonly commands: CommandStore;
  readonly errors: ErrorBook;
  readonly silence: SilenceStore;
  readonly reconciliation: ReconcilerStore;
  readonly retention: RetentionStore;
  readonly types: TypeDirectory;
  readonly services: ServiceStore;
  readonly logPlaces: LogPlaces;
  readonly changes: ChangeLog;
  readonly #dataSource: DataSource;
  readonly #notifications: Notifications;
  readonly #log: Log;
  /** Why the books could not be opened. */
  #lastFailure: ReadinessCheck | undefined;

  constructor({ databaseUrl, tls, poolSize, freshStarts, log }: DatabaseSideSettings) {
    this.#log = log;
    const address = sslOptions(databaseUrl, tls);
    this.#dataSource = createDataSource({ databaseUrl: address.url, ssl: address.ssl, poolSize, log });
    this.#notifications = new Notifications(address, log);
    this.books = new PostgresBooksStore(this.#dataSource);
    this.commands = new PostgresCommandStore(this.#dataSource, freshStarts);
    this.errors = { record: (errors) => recordErrors(this.#dataSource, errors) };
    this.silence = new PostgresSilenceStore(this.#dataSource);
    this.reconciliation = new PostgresReconcilerStore(this.#dataSource);
    this.retention = new PostgresRetentionStore(this.#dataSource);
    this.types = new PostgresTypeDirectory(this.#dataSource);
    this.services = new PostgresServiceStore(this.#dataSource);
    this.logPlaces = new PostgresLogPlaces(this.#dataSource);
    this.changes = new PostgresChangeLog(this.#dataSource);
  }

  reads(queueDepths: (pools: string[]) => Promise<QueueDepth[] | null>): ManagerReads {
    return postgresReads(this.#dataSource, queueDepths);
  }

  commandCounts(): Promise<CommandCount[]> {
    return countCommands(this.#dataSource);
  }

  notifications(channel: Channel): Wakeups {
    return this.#notifications.of(channel);
  }

  /** Connects and brings the schema up to date. @returns false while the database is away */
  async open(): Promise<boolean> {
    try {
      if (!this.#dataSource.isInitialized) await this.#dataSource.initialize();
      const applied = await migrate(this.#dataSource);
      this.#log.info({ event: "books-open", applied }, "the schema is up to date");
      this.#notifications.start();
      return true;
    } catch (error) {
      const { unavailable: isPassing, fields } = describeDatabaseError(error);
      if (!isPassing) throw error;
      this.#lastFailure = unavailable(fields);
      const { remedy } = this.#lastFailure;
      this.#log.warn({ err: error, remedy }, "PostgreSQL cannot be reached; trying again");
      return false;
    }
  }

  async check(): Promise<ReadinessCheck> {
    // Before the first connection there is nobody to ask.
    if (!this.#dataSource.isInitialized && this.#lastFailure !== undefined) return this.#lastFailure;
    return checkDatabase(this.#dataSource);
  }

  async close(): Promise<void> {
    await this.#notifications.close();
    if (this.#dataSource.isInitialized) await this.#dataSource.destroy();
  }
}
