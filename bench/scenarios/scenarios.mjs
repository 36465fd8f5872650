import { brokerRestart } from "./broker-restart.mjs";
import { create } from "./create.mjs";
import { fleet } from "./fleet.mjs";
import { hundredThousand } from "./hundred-thousand.mjs";
import { idle } from "./idle.mjs";
import { kill } from "./kill.mjs";
import { killBesideTasks } from "./kill-beside-tasks.mjs";
import { oneCreate } from "./one-create.mjs";
import { sigterm } from "./sigterm.mjs";
import { slots } from "./slots.mjs";
import { stop } from "./stop.mjs";
import { taskLimit } from "./task-limit.mjs";
import { tasks } from "./tasks.mjs";
import { tasksByTurns } from "./tasks-by-turns.mjs";
import { tasksInBatches } from "./tasks-in-batches.mjs";
import { throughput } from "./throughput.mjs";

/** In the order in which they are measured. */
export const SCENARIOS = [
  create,
  oneCreate,
  kill,
  stop,
  sigterm,
  brokerRestart,
  hundredThousand,
  idle,
  throughput,
  slots,
  tasks,
  killBesideTasks,
  fleet,
  taskLimit,
  tasksByTurns,
  tasksInBatches,
];
