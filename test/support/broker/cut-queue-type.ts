import type { Management } from "./management.ts";

/** The type of queue from which this broker takes long unacked messages back: from 4.3 on it lets classic ones be. */
export async function cutQueueType(management: Management): Promise<"classic" | "quorum"> {
  const { rabbitmq_version } = (await management.call("GET", "/overview")) as { rabbitmq_version: string };
  const [major = 0, minor = 0] = rabbitmq_version.split(".").map(Number);
  return major > 4 || (major === 4 && minor >= 3) ? "quorum" : "classic";
}
