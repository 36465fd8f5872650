import { describe, expect, it } from "vitest";
import { provenAbsent, type Sighting } from "../../../services/observer-manager/src/domain/observers/absence.ts";

const service = { id: "s1", generation: 1, isSuspect: false, consumes: true, inventoryAtMs: 900 };
const first: Sighting = {
  suspects: new Map([["o1", "7"]]),
  queue: { ready: 0, consumers: 1 },
  stateQueueDepth: 0,
  services: [service],
  readUntilMs: null,
  atMs: 1_000,
};
/** Two seconds later; the service has given its inventory since, and a marker that was sent after the first look has been read. */
const second: Sighting = {
  ...first,
  services: [{ ...service, inventoryAtMs: 1_500 }],
  readUntilMs: 1_001,
  atMs: 3_000,
};

/** As it was at the first look: it drains, or takes nothing for now. */
const resting = { ...service, consumes: false };

describe("absence", () => {
  it("is proven by two quiet looks with everybody's whole inventory between them", () => {
    expect(provenAbsent(first, second)).toEqual(["o1"]);
  });

  it("needs nobody's inventory where there is no service", () => {
    const empty = { ...first, services: [], queue: { ready: 0, consumers: 0 } };
    expect(provenAbsent(empty, { ...empty, readUntilMs: 1_001, atMs: 3_000 })).toEqual(["o1"]);
  });

  it("needs no consumer of a service that drains, or takes nothing for now, but its inventory", () => {
    const queue = { ready: 0, consumers: 1 };
    const now = second.services.concat({ ...resting, id: "s2", inventoryAtMs: 1_500 });
    const before = { ...first, queue, services: [service, { ...resting, id: "s2" }] };
    expect(provenAbsent(before, { ...second, queue, services: now })).toEqual(["o1"]);
  });

  it.each<[string, Partial<Sighting>, Partial<Sighting>]>([
    ["a message is ready", {}, { queue: { ready: 1, consumers: 1 } }],
    ["a message was ready before", { queue: { ready: 1, consumers: 1 } }, {}],
    ["events are still to be read", {}, { stateQueueDepth: 1 }],
    ["no marker has been read", {}, { readUntilMs: null }],
    ["the marker that has been read was sent before the first look", {}, { readUntilMs: 1_000 }],
    ["the marker that has been read was sent before the clock was set back", {}, { readUntilMs: 3_001 }],
    ["a service has answered before the clock was set back", {}, { services: [{ ...service, inventoryAtMs: 3_001 }] }],
    ["a consumer is not among the services", {}, { queue: { ready: 0, consumers: 2 } }],
    ["a service has no consumer", {}, { queue: { ready: 0, consumers: 0 } }],
    ["one that drains still has its consumer", { services: [resting] }, {}],
    [
      "one that took nothing takes again",
      { services: [resting], queue: { ready: 0, consumers: 0 } },
      { services: [{ ...resting, inventoryAtMs: 1_500 }] },
    ],
    [
      "a consumer that is not among the services is there in place of one that takes nothing for now",
      { services: [resting] },
      { services: [{ ...resting, inventoryAtMs: 1_500 }] },
    ],
    [
      "one that takes nothing has not answered since the first look",
      { services: [resting], queue: { ready: 0, consumers: 0 } },
      { services: [resting], queue: { ready: 0, consumers: 0 } },
    ],
    ["a service is silent", {}, { services: [{ ...service, inventoryAtMs: 1_500, isSuspect: true }] }],
    ["a service has not answered since the first look", {}, { services: [{ ...service, inventoryAtMs: 1_000 }] }],
    ["a service never gave an inventory", {}, { services: [{ ...service, inventoryAtMs: null }] }],
    ["a service has a new connection", {}, { services: [{ ...service, generation: 2, inventoryAtMs: 1_500 }] }],
    ["another service has come", {}, { services: [{ ...service, id: "s2", inventoryAtMs: 1_500 }] }],
    ["its row has changed meanwhile", {}, { suspects: new Map([["o1", "8"]]) }],
    ["it was not in doubt before", { suspects: new Map() }, {}],
  ])("is not concluded while %s", (_, before, now) => {
    expect(provenAbsent({ ...first, ...before }, { ...second, ...now })).toEqual([]);
  });
});
