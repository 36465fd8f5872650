import { z } from "zod";
import { shownText } from "../bounds.ts";

/**
 * What services and managers can do that not every version can. Each announces its own (ServiceBorn, the table `managers`), and
 * what is new is used only where everybody concerned announces it: while a fleet is upgraded, old and new run side by side.
 *
 * - `queue-marker`: markers through a pool's work queue and the state queue
 * - `tasks`: it runs tasks (TASK_WORKERS), or orders them; what is said of them has a state queue of its own
 * - `pause`: of managers alone; one that does not know Paused takes the end of a run that was paused for a reason to start another
 * - `flows`: of managers, who note the ends of their tasks; of services, who give their handlers what these come after
 * - `update`: of managers alone; one that does not know it takes the end of a run that is being changed for the end of something else
 * - `scheduled`: of managers alone; one that does not know Scheduled cannot show such an observer, and starts none
 * - `balance`: of services: ShedRuns, StepAside, Cordon, Uncordon; of managers, what services say of these
 * - `admission`: of managers and services: RunRequested and Admit, the states and the checkpoints that go with them
 * - `hot-update`: of managers and services: UpdateRuns and RunUpdated
 * - `reload`: of managers and services: Reload and ReloadEnded
 */
export const FEATURES = [
  "queue-marker",
  "tasks",
  "pause",
  "flows",
  "scheduled",
  "update",
  "admission",
  "hot-update",
  "balance",
  "reload",
] as const;
export type Feature = (typeof FEATURES)[number];

/** The features that services of this version announce. */
export const SERVICE_FEATURES: readonly Feature[] = [
  "queue-marker",
  "tasks",
  "flows",
  "admission",
  "hot-update",
  "balance",
  "reload",
];

/** The features that managers of this version announce: what they understand when it comes out of the state queue. */
export const MANAGER_FEATURES: readonly Feature[] = [
  "queue-marker",
  "tasks",
  "pause",
  "flows",
  "scheduled",
  "update",
  "admission",
  "hot-update",
  "balance",
  "reload",
];

/** Features as announced: a later version may have some that this one does not know. */
export const AnnouncedFeatures = z.array(shownText(64)).max(256);
