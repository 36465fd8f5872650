import { useState } from "react";

/** What came first, whatever comes later: a form that somebody fills in is not made anew, or taken away, below their hands. */
export function useFirst<T>(latest: T | null): T | null {
  const [first, setFirst] = useState(latest);
  if (first === null && latest !== null) setFirst(latest);
  return first ?? latest;
}
