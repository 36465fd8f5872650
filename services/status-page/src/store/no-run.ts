import { type ObserverView, type StatusTraits, traitsOf } from "@unacked/contracts";

const WHY: Record<StatusTraits["run"], string> = {
  awaited: "It waits until a service takes it.",
  current: "It waits until a service takes it.",
  ending: "It is being stopped.",
  "on-hold": "It is paused: none begins until it is resumed.",
  later: "One begins at its time, when a worker is free.",
  none: "It is over, and none begins.",
};

/** Why no run of an observer is listed. Those that ended long ago are forgotten, so that one which has run may have none. */
export const noRunOf = ({
  status,
  runNumber,
}: Pick<ObserverView, "status" | "runNumber">): { title: string; text: string } => ({
  title: runNumber === 0 ? "No run yet" : "Its runs ended so long ago that they are forgotten",
  text: WHY[traitsOf(status).run],
});
