import type { ServiceId } from "@unacked/contracts";

/** Who this process is, for as long as it lives. */
export interface ServiceIdentity {
  /** Of this boot. */
  readonly serviceId: ServiceId;
  /** Given at deploy. */
  readonly serviceName: string;
  readonly pool: string;
  readonly workerCount: number;
}
