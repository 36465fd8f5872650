import type {
  FlowStatusName,
  ObserverStatus,
  RunView,
  ScheduleStatusName,
  ServiceState,
  TaskStatus,
  TimerStatusName,
} from "@unacked/contracts";

const CODES = { red: 31, green: 32, yellow: 33, blue: 34, cyan: 36, dim: 2, bold: 1 } as const;

export type Colour = keyof typeof CODES;

export type Paint = (colour: Colour | undefined, text: string) => string;

export const unpainted: Paint = (_colour, text) => text;

export const painted: Paint = (colour, text) =>
  colour === undefined || text === "" ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`;

/** Paints only on a terminal that can, unless NO_COLOR (https://no-color.org) or `--no-color` says otherwise. */
export function choosePaint(asked: { isTerminal: boolean; noColorOption: boolean; env: NodeJS.ProcessEnv }): Paint {
  const { isTerminal, noColorOption, env } = asked;
  const refused = noColorOption || (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return isTerminal && !refused ? painted : unpainted;
}

export type State =
  | ObserverStatus
  | ServiceState
  | RunView["state"]
  | TaskStatus
  | FlowStatusName
  | TimerStatusName
  | ScheduleStatusName;

/** A status that is added to the contracts does not compile until it has a colour. */
const STATE_COLOURS: Readonly<Record<State, Colour>> = {
  Processing: "green",
  Alive: "green",
  Current: "green",
  Running: "green",
  Blocked: "blue",
  Scheduled: "blue",
  Ready: "yellow",
  Sent: "yellow",
  Cancelled: "dim",
  Created: "yellow",
  Retrying: "yellow",
  Redistributing: "yellow",
  OnDeleting: "yellow",
  Paused: "cyan",
  Suspect: "yellow",
  Active: "green",
  Over: "dim",
  Waiting: "blue",
  Firing: "yellow",
  Expired: "red",
  Fired: "dim",
  Failed: "red",
  Gone: "red",
  Deleted: "dim",
  Completed: "dim",
  Stopped: "dim",
  Ended: "dim",
  Requested: "yellow",
  Superseded: "dim",
};

/**
 * The colour of an observer's status, or of a service's or run's state. The word is printed as well: colour alone says
 * nothing.
 */
export const stateColour = (state: State): Colour => STATE_COLOURS[state];
