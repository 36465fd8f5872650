/** What a problem's remedy says, for people: they see no headers. */
export function remedyInWords(remedy: string, retryAfterS: number | undefined): string {
  const when = retryAfterS === undefined ? "later" : `in ${retryAfterS} s`;
  const howLong = retryAfterS === undefined ? "a while" : `${retryAfterS} s`;
  return remedy.replace("Try again after Retry-After", `Try again ${when}`).replace("as long as Retry-After says", howLong);
}
