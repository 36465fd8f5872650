/** What a call of `nap` and of `nap-many` takes. */
export const NAP_MS = 50;
