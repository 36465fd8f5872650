/** The most of these that lie within one second, wherever it begins. @param micros in any order */
export function mostInASecond(micros: number[]): number {
  const times = micros.toSorted((a, b) => a - b);
  let most = 0;
  let first = 0;
  for (const [last, time] of times.entries()) {
    while (time - (times[first] as number) >= 1_000_000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
