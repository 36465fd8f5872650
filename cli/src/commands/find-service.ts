import type { ServiceView } from "@unacked/contracts";
import { CliFailure } from "../failure.ts";

/** Finds a service by name or id. Of several boots of a name it takes the living one, or else the last. */
export function findService(services: ServiceView[], name: string): ServiceView {
  const found = services
    .filter((service) => service.name === name || service.id === name)
    .sort((a, b) => Number(a.endedAt !== null) - Number(b.endedAt !== null) || b.startedAt.localeCompare(a.startedAt));
  if (found[0] !== undefined) return found[0];
  throw new CliFailure("failed", `There is no service ${name}`, {
    code: "service-not-found",
    remedy: "See: unacked get services --all",
  });
}
