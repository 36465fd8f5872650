import type { ServiceId } from "@unacked/contracts";

/** The identity of this process, for as long as it lives. */
export interface ServiceIdentity {
  /** The id of this boot. */
  readonly serviceId: ServiceId;
  /** The name that was given at deploy. */
  readonly serviceName: string;
  readonly pool: string;
  readonly workerCount: number;
}
