import { SupervisedConnection } from "@unacked/broker";
import { EXCHANGES, newMessageId, newRunId, newServiceId, STATE_KEY, STATE_QUEUE, stateQueue } from "@unacked/contracts";
import { expect, onTestFinished, test } from "vitest";
import { StateConsumer } from "../../services/observer-manager/src/adapters/amqp/state/state-consumer.ts";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { Ledger } from "../../services/observer-manager/src/operations/books/ledger.ts";
import { brokerSettings } from "../support/broker/broker-client.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { keptLog, putObserver, useBooks } from "../support/servers/books.ts";
import { freshVhost } from "../support/servers/servers.ts";

const MESSAGES = 20;
const EVENTS = 100;

const books = useBooks();
const tally = { applied: () => undefined, sent: () => undefined, putAside: () => undefined };
const noted = async () => undefined;

test.runIf(isTurnOf(2))(
  "a database that is too slow for all that waits is asked for less, until it is in the books",
  async () => {
    const ids = await Promise.all(Array.from({ length: MESSAGES * EVENTS }, () => putObserver(books.dataSource)));
    // A millisecond a row: two seconds for all, of the nine tenths that a statement has.
    await books.dataSource.query(`
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.001); RETURN NEW; END $$;
    CREATE TRIGGER slow BEFORE UPDATE ON observers FOR EACH ROW EXECUTE FUNCTION slow()`);
    const log = keptLog();
    const settings = { databaseUrl: books.databaseUrl, poolSize: 2, log: keptLog(), statementTimeoutMs: 900 };
    const impatient = await createDataSource(settings).initialize();
    const ledger = new Ledger(new PostgresBooksStore(impatient), "a manager", tally);
    const consumer = new StateConsumer({ ledger, log, tracing: undefined, committed() {}, markerRead: noted, born() {} });

    const { amqpUrl, management } = await freshVhost();
    const connection = new SupervisedConnection(brokerSettings(amqpUrl), {
      build: (session) => session.declare(stateQueue("classic")),
    });
    connection.start();
    onTestFinished(() => connection.close());
    const session = await connection.up();
    const service = { serviceId: newServiceId(), serviceName: "s", pool: "default", workerCount: 5_000, generation: 1 };
    for (let message = 0; message < MESSAGES; message += 1) {
      const events = ids.slice(message * EVENTS, (message + 1) * EVENTS).map((observerId) => ({
        kind: "RunStarted",
        observerId,
        runId: newRunId(),
        messageId: newMessageId(),
        revision: 1,
        attempt: 1,
        at: Date.now(),
      }));
      const body = JSON.stringify({ kind: "EventBatch", ...service, seq: message + 1, events });
      await management.publish({ exchange: EXCHANGES.events.name, routingKey: STATE_KEY, body });
    }
    await consumer.begin(session); // when all is there, so that many come together
    const counted = "SELECT status, count(*)::int AS count FROM observers GROUP BY status";
    const all = [{ status: "Processing", count: MESSAGES * EVENTS }];
    await eventually(async () => expect(await books.dataSource.query(counted)).toEqual(all), { timeoutMs: 30_000 });
    await eventually(async () => expect(await management.queue(STATE_QUEUE)).toMatchObject({ ready: 0, unacked: 0 }));
    const refused = log.lines.filter(({ message }) => message.startsWith("events could not be applied"));
    console.log(`${MESSAGES * EVENTS} events after ${refused.length} transactions that took too long`);
    expect(refused.length).toBeGreaterThan(0);
    await impatient.destroy();
  },
);
