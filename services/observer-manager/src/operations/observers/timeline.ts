/** Where a page of an observer's timeline ended. */
export interface TimelinePosition {
  atMicros: string;
  /** Tells apart what happened at one moment. */
  key: string;
}

export interface TimelineQuery {
  limit: number;
  after?: TimelinePosition | undefined;
}
