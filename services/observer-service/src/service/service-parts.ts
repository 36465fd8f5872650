import type { BrokerSettings } from "@unacked/broker";
import type { QueueType } from "@unacked/contracts";
import type { Tracing } from "@unacked/tracing";
import type { ServiceIdentity } from "../keeper/identity.ts";
import type { Handlers, Reload } from "../keeper/runs/handlers.ts";
import type { SlotsView } from "../keeper/slots/slot-history.ts";
import type { Log } from "../log.ts";
import type { RunCost } from "../machine/run-cost.ts";

/** The parts of one observer-service, and the hooks that hear of its end. */
export interface ServiceParts {
  readonly identity: ServiceIdentity;
  /** Where handlers run. It is open already, and closed when this service ends. */
  readonly handlers: Handlers & SlotsView;
  readonly version: string;
  readonly broker: Pick<BrokerSettings, "url" | "tls" | "heartbeatS">;
  readonly queueType: QueueType;
  /** Whether this service declares what it uses on the broker, beside its own control queue. */
  readonly declaresTopology: boolean;
  readonly stopTimeoutMs: number;
  readonly updateTimeoutMs: number;
  /** How often a run may save how far it has got, and how much all of them may in a second. */
  readonly saving: { readonly everyMs: number; readonly bytesPerS: number };
  /** With `WORKER_COUNT=auto`: the memory that an observer takes, which decides how many are taken. */
  readonly cost?: RunCost | undefined;
  /** How many tasks run at once, if there are types of tasks. */
  readonly taskWorkers: number;
  readonly log: Log;
  /** Undefined means that nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Ends the process at once: what cannot be stopped otherwise must not act any more. */
  readonly exit: (code: number) => void;
  /** Called with the outcome of loading the folder again, for the log. */
  readonly onReload: (reload: Reload) => void;
  /** Called when this service fails for a reason that concerns the whole process. */
  readonly onFail: (error: unknown) => void;
  /** Called when it has failed, is fenced and has said farewell: only its process is left. */
  readonly onFailed: () => void;
}
