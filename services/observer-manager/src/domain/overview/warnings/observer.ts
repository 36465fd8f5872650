import type { Warning } from "@unacked/contracts";
import type { RestartedObservers, SilentObservers } from "../facts.ts";
import { counted } from "./words.ts";

export const observersSilent = ({ pool, count, since, names }: SilentObservers): Warning => ({
  code: "observers-silent",
  subject: pool,
  message: `${counted(count)} of pool ${pool} ${count === 1 ? "runs and is" : "run and are"} silent: ${names.join(", ")}${count > names.length ? ", …" : ""}. The first since ${since.toISOString()}.`,
  remedy:
    "What it listens to sends nothing, or it no longer listens. Restart it, or give it a silence.restartAfterMs, after which it is restarted. GET /api/v1/observers?silent=true lists them.",
});

export const observersRestart = ({ pool, count, most, names }: RestartedObservers): Warning => ({
  code: "observers-restart",
  subject: pool,
  message: `${counted(count)} of pool ${pool} began again 5 times or more in 10 minutes, up to ${most === 100 ? "100 and more" : most} times: ${names.join(", ")}${count > names.length ? ", …" : ""}.`,
  remedy:
    "Some fail, others only share a slot or a service with what ends it. For each, GET /api/v1/observers/{ref}/timeline says why, and whose fault it was.",
});
