import pg, { type PoolClient, type PoolConfig } from "pg";
import { FailFastClient, type WithTableSizes } from "./fail-fast-client.ts";
import type { Primary } from "./primary.ts";
import type { DatabaseAddress } from "./ssl-mode.ts";

/** An option that pg and TypeORM pass on to each connection. */
export interface WithPrimary {
  primary: Primary;
}

/**
 * What we decide and read by, whatever somebody has made the default of the server, the database or the role: rows as they are committed
 * (by a snapshot PostgreSQL refuses with 40001 what only has to wait for a lock), times as pg reads them, and numbers with all their digits.
 * And the limits of time, which pg would send as startup parameters: a pooler refuses these, or passes over them.
 */
const sessionOf = (limits: Limits): string => `
  SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET DateStyle = 'ISO';
  SET extra_float_digits = 1;
  SET statement_timeout = ${limits.statement_timeout || "DEFAULT"};
  SET idle_in_transaction_session_timeout = ${limits.idle_in_transaction_session_timeout || "DEFAULT"}`;

type Limits = Pick<pg.ClientConfig, "statement_timeout" | "idle_in_transaction_session_timeout">;

/** A connection to the primary as it was last known, or none: one that comes to another server is ended before anybody has it. */
export class PrimaryClient extends FailFastClient {
  readonly address: DatabaseAddress;
  readonly #primary: Primary;
  readonly #session: string;

  constructor({
    primary,
    statement_timeout,
    idle_in_transaction_session_timeout,
    ...config
  }: pg.ClientConfig & WithPrimary & WithTableSizes) {
    const address = primary.latest;
    super({ ...config, connectionString: address.url, ssl: address.ssl ?? false });
    this.#primary = primary;
    this.#session = sessionOf({ statement_timeout, idle_in_transaction_session_timeout });
    this.address = address;
    // It may break before its user listens for errors. What is awaited reports that.
    this.on("error", () => undefined);
    const connect = super.connect.bind(this) as () => Promise<pg.Client>;
    // pg declares two overloads, a callback's and a promise's: the pool takes the one, listeners the other.
    this.connect = ((told?: (error?: unknown) => void) => {
      const connected = this.#check(connect());
      return told === undefined ? connected : void connected.then(() => told(), told);
    }) as pg.Client["connect"];
  }

  async #check(connected: Promise<pg.Client>): Promise<pg.Client> {
    try {
      const client = await connected;
      await Promise.all([client.query(this.#session), this.#primary.check(this, this.address)]);
      return client;
    } catch (error) {
      if (!isAnswer(error)) this.#primary.doubt(this.address);
      void this.end().catch(() => undefined);
      throw error;
    }
  }
}

/** The server is there and says no: too many clients, a wrong password, no such database. Another one would not help. */
const isAnswer = (error: unknown): boolean => /^(53|28|3D)/.test(String((error as { code?: unknown }).code));

type Taken = (error: Error | undefined, client: PoolClient | undefined, release: PoolClient["release"]) => void;

/**
 * pg's pool, with connections to the primary only. If one cannot be made, all servers are asked which it is, and it is tried there once. A
 * connection is ended if the primary has changed while it idled: the old one may have come back.
 */
class PrimaryPool extends pg.Pool {
  readonly #primary: Primary;

  constructor(options: PoolConfig & WithPrimary) {
    super(options);
    this.#primary = options.primary;
    const connect = super.connect.bind(this) as (taken?: Taken) => Promise<PoolClient>;
    if (this.#primary.isOnly) return;
    this.connect = ((taken?: Taken) => {
      const client = this.#connect(connect);
      if (taken === undefined) return client;
      return void client.then(
        (one) => taken(undefined, one, one.release),
        (error: Error) => taken(error, undefined, () => undefined),
      );
    }) as pg.Pool["connect"];
  }

  async #connect(connect: () => Promise<PoolClient>): Promise<PoolClient> {
    for (let isSecond = false; ; ) {
      const address = await this.#primary.find();
      try {
        const client = await connect();
        if ((client as unknown as PrimaryClient).address === this.#primary.latest) return client;
        client.release(true);
      } catch (error) {
        // If it was not the server's fault (all connections are taken), nobody doubts it, and a second try would be in vain.
        if (isSecond || (await this.#isStill(address))) throw error;
        isSecond = true;
      }
    }
  }

  async #isStill(address: DatabaseAddress): Promise<boolean> {
    return (await this.#primary.find()) === address;
  }
}

/** What TypeORM takes for the module pg. */
export const PRIMARY_DRIVER: unknown = Object.create(pg, { Pool: { value: PrimaryPool } });
