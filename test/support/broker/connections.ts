import { eventually } from "../eventually.ts";
import type { ConnectionInfo, Management } from "./management.ts";

/**
 * The connection whose client gave itself a name that is so or begins with these words, once the management API shows it: it lists what a queue
 * already counts as its consumer up to a second later.
 */
export const shownConnection = (management: Management, clientName: string): Promise<ConnectionInfo> =>
  eventually(
    async () => {
      const connections = await management.connections();
      return connections.find((each) => `${each.clientName} `.startsWith(`${clientName} `)) ?? false;
    },
    { what: `that the connection of ${clientName} is shown` },
  ) as Promise<ConnectionInfo>;
