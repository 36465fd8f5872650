import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Channel, type ChannelModel, connect } from "amqplib";
import type { Rabbitmq } from "../../../scripts/servers/rabbitmq.mjs";
import { ROOT } from "../processes/processes.ts";
import { privateBroker, temporaryFolder } from "../servers/servers.ts";
import type { Management } from "./management.ts";

const PASSWORDS = {
  MANAGER_PASSWORD: "manager-secret",
  SERVICE_PASSWORD: "service-secret",
  REQUESTER_PASSWORD: "requester-secret",
};

type Definitions = { users: object[]; permissions: object[] };

/** A broker of the file's own that has loaded the definitions of deploy/, as the compose file has it load them. */
export interface RestrictedBroker {
  broker: Rabbitmq & { management: Management };
  /** With the user of each program. */
  managerUrl: string;
  serviceUrl: string;
  requesterUrl: string;
}

/** Its `amqpUrl` and `management` are of an administrator whom the tests add. */
export async function restrictedBroker(): Promise<RestrictedBroker> {
  const file = join(temporaryFolder("definitions"), "definitions.json");
  writeFileSync(file, JSON.stringify(withAdministrator(shippedDefinitions())));
  const broker = await privateBroker({ config: { load_definitions: file } });
  const as = (user: string, password: string) => broker.amqpUrl.replace("guest:guest", `${user}:${password}`);
  return {
    broker,
    managerUrl: as("unacked-manager", PASSWORDS.MANAGER_PASSWORD),
    serviceUrl: as("unacked-service", PASSWORDS.SERVICE_PASSWORD),
    requesterUrl: as("unacked-requester", PASSWORDS.REQUESTER_PASSWORD),
  };
}

/** As `rabbitmq-definitions.sh` prints them. */
export function shippedDefinitions(passwords: Record<string, string> = {}): Definitions {
  const env = { ...process.env, ...PASSWORDS, ...passwords };
  return JSON.parse(
    execFileSync("sh", [`${ROOT}/deploy/rabbitmq-definitions.sh`], { env, encoding: "utf8" }),
  ) as Definitions;
}

function withAdministrator(definitions: Definitions): Definitions {
  return {
    ...definitions,
    users: [...definitions.users, { name: "guest", password: "guest", tags: "administrator" }],
    permissions: [...definitions.permissions, { user: "guest", vhost: "/", configure: ".*", write: ".*", read: ".*" }],
  };
}

/** A plain AMQP client, as a thief of a program's password would use. Close it. */
export class Intruder {
  readonly #model: ChannelModel;

  private constructor(model: ChannelModel) {
    this.#model = model;
  }

  static async connect(url: string): Promise<Intruder> {
    const model = await connect(url);
    model.on("error", () => undefined);
    return new Intruder(model);
  }

  /** What the broker says to this, on a channel of its own: its refusal, or "allowed". */
  async attempt(act: (channel: Channel) => unknown): Promise<string> {
    const channel = await this.#model.createConfirmChannel();
    const refused = new Promise<string>((resolve) => channel.once("error", (error: Error) => resolve(error.message)));
    const answered = (async () => {
      await act(channel);
      await channel.waitForConfirms();
      await channel.close();
      return "allowed";
    })();
    return Promise.race([refused, answered.catch(() => refused)]);
  }

  close(): Promise<void> {
    return this.#model.close();
  }
}
