/** What a problem's remedy says, for people: they see no headers and no fields. */
export function remedyInWords(remedy: string, retryAfterS: number | undefined): string {
  const when = retryAfterS === undefined ? "later" : `in ${retryAfterS} s`;
  const howLong = retryAfterS === undefined ? "a while" : `${retryAfterS} s`;
  return remedy
    .replace("of the role in `neededRole`", "of that role")
    .replace("Try again after Retry-After", `Try again ${when}`)
    .replace("as long as Retry-After says", howLong);
}
