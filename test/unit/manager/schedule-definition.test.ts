import { PutSchedule } from "@unacked/contracts";
import { expect, test } from "vitest";
import { definitionFlaws } from "../../../services/observer-manager/src/domain/schedules/definition.ts";

const HOURS = [{ from: "09:30", to: "16:00" }];
const flawsOf = (filter: object) =>
  definitionFlaws(PutSchedule.parse({ hours: HOURS, observers: { filter } })).map(
    (flaw) => "pointer" in flaw && flaw.pointer,
  );

test("Observers are not chosen by what a pause changes: at the opening nobody would match, and be resumed", () => {
  expect(flawsOf({ status: "Processing" })).toEqual(["/observers/filter/status"]);
  expect(flawsOf({ type: "ticker", service: "host-a", silent: true })).toEqual([
    "/observers/filter/service",
    "/observers/filter/silent",
  ]);
  expect(flawsOf({ errorGroup: "TypeError: no" })).toEqual(["/observers/filter/errorGroup"]);
  expect(flawsOf({ labels: { market: "nyse" }, type: "ticker", pool: "fast", q: "ny" })).toEqual([]);
});

test("A wrong expression beside a wrong time zone is told together with it", () => {
  const flaws = definitionFlaws(
    PutSchedule.parse({ cron: "61 * * * *", timeZone: "Europe/Nowhere", task: { type: "report" } }),
  );
  expect(flaws.map((flaw) => "pointer" in flaw && flaw.pointer)).toEqual(["/timeZone", "/cron"]);
});
