import type { BrokerSettings } from "@unacked/broker";
import type { QueueType } from "@unacked/contracts";
import type { Tracing } from "@unacked/tracing";
import type { ServiceIdentity } from "../keeper/identity.ts";
import type { Handlers, Reload } from "../keeper/runs/handlers.ts";
import type { SlotsView } from "../keeper/slots/slot-history.ts";
import type { Log } from "../log.ts";
import type { RunCost } from "../machine/run-cost.ts";

/** What one observer-service is made of, and whom it tells of its own end. */
export interface ServiceParts {
  readonly identity: ServiceIdentity;
  /** Where handlers run; open, and closed by this service's end. */
  readonly handlers: Handlers & SlotsView;
  readonly version: string;
  readonly broker: Pick<BrokerSettings, "url" | "tls" | "heartbeatS">;
  readonly queueType: QueueType;
  /** Whether this service declares what it uses on the broker, beside its own control queue. */
  readonly declaresTopology: boolean;
  readonly stopTimeoutMs: number;
  /** How often a run may save where it has got to, and how much all of them may in a second. */
  readonly updateTimeoutMs: number;
  readonly saving: { readonly everyMs: number; readonly bytesPerS: number };
  /** With `WORKER_COUNT=auto`: what an observer takes, which decides how many are taken. */
  readonly cost?: RunCost | undefined;
  /** How many tasks run at once, where there are types of tasks. */
  readonly taskWorkers: number;
  readonly log: Log;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** At once: what cannot be stopped otherwise must not act any more. */
  readonly exit: (code: number) => void;
  /** What became of loading the folder again, for the log. */
  readonly onReload: (reload: Reload) => void;
  /** This service fails, for a reason that is its process's. */
  readonly onFail: (error: unknown) => void;
  /** It has failed, is fenced and has said so: nothing of it is left but its process. */
  readonly onFailed: () => void;
}
