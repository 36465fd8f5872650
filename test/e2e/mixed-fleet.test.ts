import type { ProblemDetails } from "@unacked/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { builtRelease, isHere, RELEASES, type Release } from "../support/messages/releases.ts";
import { proves } from "../support/runs/counts.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { SaveLog } from "../support/runs/saves.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const release = RELEASES.at(-1) as Release;
const ROUNDS = proves("checkpoints") ? 5 : 1;
const LONG_MS = 120_000;
/** Half of them would do: a pool must be able to carry all while some of its services are down. */
const WORKERS = 30;

describe.runIf(isHere(release) && isTurnOf(0))(
  `a pool with services of ${release.version} beside new ones, under kills`,
  () => {
    let root: string;
    let system: System;
    let log: SaveLog;

    beforeAll(async () => {
      root = builtRelease(release);
      system = await freshSystem();
      log = new SaveLog(system.actsFile);
      await system.startManager();
      await system.startManager({ speakTo: false });
      return () => system.close();
    }, 600_000);

    const startNew = (name: string) =>
      system.startService(name, { workers: WORKERS, env: { OBSERVERS_DIR: compiled("admitted") } });
    const startOld = (name: string) => system.startService(name, { root, workers: WORKERS });

    it("loses no observer, runs none twice, and starts none below its checkpoint", async () => {
      await startNew("new-1");
      await startNew("new-2");
      const ids: string[] = [];
      for (let i = 0; i < 12; i += 1)
        for (const [name, type] of [
          [`saving-${i}`, "counter"],
          [`asking-${i}`, "admitted"],
          [`free-${i}`, "stamp"],
        ] as const) {
          const { status, body } = await system.create(name, { everyMs: 100 }, { type });
          expect(status, JSON.stringify(body)).toBe(201);
          ids.push(body.id);
        }
      const allRun = () => system.untilStatus(ids, "Processing", LONG_MS);
      await allRun();
      await startOld("old-1");
      await startOld("old-2");
      // Those that ask are known to the new ones alone: an old one lets their messages go. Nobody creates more of them meanwhile.
      const refused = await system.create("refused", {}, { type: "admitted" });
      expect([refused.status, refused.body.code]).toEqual([503, "admission-not-known"]);
      expect((refused.body as unknown as ProblemDetails).detail).toMatch(/2 of the pool.*old-1, old-2|old-2, old-1/);

      for (let round = 0; round < ROUNDS; round += 1) {
        for (const name of ["new-1", "old-1", "new-2", "old-2"]) {
          await system.service(name).kill("SIGKILL");
          if (name.endsWith("1")) {
            const victim = system.managers.findLast((one) => one.exit() === null);
            await system.startManager();
            await victim?.kill("SIGKILL");
          }
          await (name.startsWith("new") ? startNew(name) : startOld(name));
          await allRun();
          expect(log.readOn().below).toEqual([]);
        }
      }
      const saved = log.readOn().counts.resolved;
      await eventually(() => expect(log.readOn().counts.resolved).toBeGreaterThan(saved + 12), { timeoutMs: LONG_MS });
      await system.check({ timeoutMs: LONG_MS });
      const { counts, below, tokensBack, reached } = log.readOn();
      expect({ below, tokensBack, saving: reached.size }).toEqual({ below: [], tokensBack: [], saving: 12 });
      const onOld = (await system.observers(ids)).filter(({ service }) => service?.name.startsWith("old"));
      expect(onOld.filter(({ type }) => type !== "stamp")).toEqual([]);
      console.info(
        `36 observers on two services of ${release.version} and two new ones: ${4 * ROUNDS} kills of services, ${2 * ROUNDS} of managers; ${counts.given} starts of those that save, none below its checkpoint; ${onOld.length} run on old services now`,
      );
    }, 900_000);
  },
);
