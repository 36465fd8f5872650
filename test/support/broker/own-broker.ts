import { startRabbitmq } from "../../../scripts/servers/rabbitmq.mjs";
import { freshDatabase, temporaryFolder } from "../servers/servers.ts";
import { BROKER_TEST_CONFIG } from "../servers/test-servers.ts";
import { System } from "../system/system.ts";
import { managementOf } from "./management.ts";

export interface OwnBroker {
  readonly system: System;
  readonly databaseUrl: string;
  /** The broker's folder, for rabbitmqctl. */
  readonly dir: string;
  close(): Promise<void>;
}

/** For tests that do to a broker what others beside them would feel: alarms, restarts. */
export async function systemOnOwnBroker({ heartbeatS = 4 } = {}): Promise<OwnBroker> {
  const dir = temporaryFolder("rabbitmq");
  const [broker, { databaseUrl }] = await Promise.all([startRabbitmq({ dir, config: BROKER_TEST_CONFIG }), freshDatabase()]);
  const management = managementOf(broker.managementUrl, "/");
  const system = new System({ amqpUrl: broker.amqpUrl, databaseUrl, management, heartbeatS });
  return {
    system,
    databaseUrl,
    dir,
    close: async () => {
      await system.close();
      await broker.kill();
      await broker.stop();
    },
  };
}
