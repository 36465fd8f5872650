import { type TaskId, uuidOf } from "@unacked/contracts";

/**
 * The id of the task of a time. It is the same once more where the books have lost that the time was decided about (a standby that was
 * behind, a backup), so that others can tell the repeat. It begins with the time: what starts at once goes in the order of its times. The
 * rest is of the schedule, and of when it was created: one of that name that is made again, or is in other books, is another.
 */
export const ownTaskId = ({ id, createdMs }: { id: string; createdMs: number }, atMs: number): TaskId =>
  uuidOf(atMs, `schedule ${id} ${createdMs} ${atMs}`) as TaskId;
