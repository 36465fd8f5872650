/** What figures of runs are asked for. */
export interface RunFigureQuery {
  /** So many of the last minutes, this one included. */
  minutes: number;
  type?: string | undefined;
  /** The name or id of a service. */
  service?: string | undefined;
}
