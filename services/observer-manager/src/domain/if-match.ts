/** RFC 9110, 13.1.1: compared strongly; `*` means that there is one. Without the header anything is meant. */
export function isMeant(ifMatch: string | undefined, tag: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === "*") return true;
  return ifMatch.split(",").some((one) => one.trim() === tag);
}
