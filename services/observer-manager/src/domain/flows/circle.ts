interface Step {
  ref: string;
  after: readonly string[];
}

/**
 * The refs of a circle, in the order in which they would have to run: the first comes after the last. Undefined: there is none. Does not
 * recurse: a flow may be ten thousand deep.
 */
export function circleIn(steps: readonly Step[]): string[] | undefined {
  const left = new Map(steps.map(({ ref, after }) => [ref, after.length]));
  const next = followersOf(steps);
  const free = steps.filter(({ after }) => after.length === 0).map(({ ref }) => ref);
  for (let ref = free.pop(); ref !== undefined; ref = free.pop()) {
    left.delete(ref);
    for (const follower of next.get(ref) ?? []) {
      const count = (left.get(follower) ?? 0) - 1;
      left.set(follower, count);
      if (count === 0) free.push(follower);
    }
  }
  const [start] = left.keys();
  return start === undefined ? undefined : walkBack(start, new Map(steps.map((step) => [step.ref, step])), left);
}

/** The refs that come directly after each ref. */
export function followersOf(steps: readonly Step[]): Map<string, string[]> {
  const followers = new Map<string, string[]>(steps.map(({ ref }) => [ref, []]));
  for (const { ref, after } of steps) for (const before of after) followers.get(before)?.push(ref);
  return followers;
}

/** Every step that is left comes after another that is left, so the way back passes some step twice. */
function walkBack(start: string, byRef: ReadonlyMap<string, Step>, left: ReadonlyMap<string, number>): string[] {
  const path: string[] = [];
  const places = new Map<string, number>();
  for (let ref = start; ; ) {
    const place = places.get(ref);
    if (place !== undefined) return path.slice(place).reverse();
    places.set(ref, path.length);
    path.push(ref);
    ref = byRef.get(ref)?.after.find((before) => left.has(before)) as string;
  }
}
