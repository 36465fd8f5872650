import type { SendId, ServiceId, TaskId } from "@unacked/contracts";

/** A send that nobody wants (any more), and who has it. */
export interface UnwantedSend {
  serviceId: ServiceId;
  generation: number;
  taskId: TaskId;
  sendId: SendId;
}
