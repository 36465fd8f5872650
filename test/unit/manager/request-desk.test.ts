import { expect, it } from "vitest";
import type { AdmittedRequest } from "../../../services/observer-manager/src/operations/requests/request.ts";
import { RequestDesk } from "../../../services/observer-manager/src/operations/requests/request-desk.ts";

it("Of kept answers that are too long together the first are given, and the others when they are asked for next", async () => {
  const find = async (requests: AdmittedRequest[]) =>
    new Map(requests.map(({ name, messageId }, i) => [`${name} ${messageId}`, { digest: "d", json: i < 2 ? "[]" : null }]));
  const desk = new RequestDesk({
    ...{ store: { find } as never, types: {} as never, log: {} as never },
    ...{ isPassing: () => false, wake() {}, wakeTimers() {} },
  });
  const wanted = [{ kind: "problem", code: "invalid-body" }];
  const requests = Array.from({ length: 5 }, (_, i) => {
    return {
      kind: "tasks",
      name: "shop",
      messageId: `m-${i}`,
      digest: "d",
      replyKey: "shop.q",
      wanted,
    } as unknown as AdmittedRequest;
  });
  const answers = await desk.decide(requests);
  expect([...answers.keys()]).toEqual(requests.slice(0, 2));
  expect([...(await desk.decide(requests.slice(2))).keys()]).toEqual(requests.slice(2, 4));
});
