import { expect, test } from "vitest";
import type { Actor } from "../../../services/observer-manager/src/domain/access/identity.ts";
import { WHOLE } from "../../../services/observer-manager/src/domain/access/task-share.ts";
import { LogStreams } from "../../../services/observer-manager/src/operations/logs/log-streams.ts";

const somebody = (name: string, more: Partial<Actor> = {}): Actor => ({
  name,
  role: "viewer",
  authentication: "token",
  expiresAtMs: null,
  share: WHOLE,
  address: "10.0.0.1",
  requestId: "r",
  ...more,
});

test("one caller has so many streams, and all together so many; what is closed makes room", () => {
  const streams = new LogStreams({ ofOneCaller: 2, inAll: 3 });
  const [anna, ben] = [somebody("anna"), somebody("ben")];
  for (let i = 0; i < 2; i += 1) streams.opened(anna);
  expect(streams.refusal(anna)).toMatchObject({ code: "too-many-log-streams", detail: expect.stringContaining("2") });
  expect(streams.refusal(ben)).toBeNull();
  streams.opened(ben);
  expect(streams.refusal(ben)).toMatchObject({ code: "logs-unavailable", detail: expect.stringContaining("3") });
  streams.closed(anna);
  expect([streams.refusal(anna), streams.refusal(ben)]).toEqual([null, null]);
});

test("those who are not known are told apart by address", () => {
  const streams = new LogStreams({ ofOneCaller: 1, inAll: 9 });
  const from = (address: string) => somebody("anonymous", { authentication: "anonymous", address });
  streams.opened(from("10.0.0.1"));
  expect(streams.refusal(from("10.0.0.1"))).not.toBeNull();
  expect(streams.refusal(from("10.0.0.2"))).toBeNull();
});
