/** What figures of runs are asked for. */
export interface RunFigureQuery {
  /** The last so many, this one included. */
  minutes: number;
  type?: string | undefined;
  /** Its name or id. */
  service?: string | undefined;
}
