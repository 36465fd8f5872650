import { describe, expect, test } from "vitest";
import { flawOfPools, flawOfWorkers, servedPools } from "../../../services/observer-service/src/settings/served-pools.ts";

describe("the pools of one process", () => {
  test("one is served by the service of that name, with the workers that are said here or nowhere", () => {
    expect(servedPools("default", "web-1")).toEqual([{ pool: "default", serviceName: "web-1", workers: undefined }]);
    expect(servedPools("fast:20", "web-1")).toEqual([{ pool: "fast", serviceName: "web-1", workers: 20 }]);
  });

  test("each of several is served by a service of its own, which has the pool in its name", () => {
    expect(servedPools("fast:20, default", "web-1")).toEqual([
      { pool: "fast", serviceName: "web-1:fast", workers: 20 },
      { pool: "default", serviceName: "web-1:default", workers: undefined },
    ]);
  });

  test.each([
    ["default", undefined],
    ["fast:20,default:80", undefined],
    [" fast:20 , default ", undefined],
    ["fast:1,slow:65535", undefined],
    ["", '"" is no pool'],
    ["fast,", '"" is no pool'],
    ["fa st", "only A-Z a-z 0-9 _ - are allowed"],
    ["fast:0", '"fast:0" must be a pool, or a pool and its workers'],
    ["fast:65536", '"fast:65536" must be a pool, or a pool and its workers'],
    ["fast:auto", '"fast:auto" must be'],
    ["fast:1:2", '"fast:1:2" must be'],
    ["fast:1,fast:2", "names fast twice"],
    [Array.from({ length: 17 }, (_, i) => `p${i}`).join(","), "at most 16 pools"],
  ])("%j: %s", (text, flaw) => {
    if (flaw === undefined) expect(flawOfPools(text)).toBeUndefined();
    else expect(flawOfPools(text)).toContain(flaw);
  });

  test("of several each needs its workers, or all of them WORKER_COUNT", () => {
    expect(flawOfWorkers("fast:20,default", "auto")).toMatch(/each needs its workers, as in default:80/);
    expect(flawOfWorkers("fast:20,default", 10)).toBeUndefined();
    expect(flawOfWorkers("fast:20,default:80", "auto")).toBeUndefined();
    expect(flawOfWorkers("default", "auto")).toBeUndefined();
    expect(flawOfWorkers("fast:20,default:80", "auto", "x".repeat(125))).toMatch(/:fast is too long|:default is too long/);
  });
});
