/** Whether `npm run prove -- SUBJECT` runs the tests, with full counts; `npm test` runs a short form of each. */
export const proves = (subject: string): boolean => process.env.PROVE === subject;

/** `npm run prove -- slots` */
export const FULL = proves("slots");

/** The first, or with full counts the second. */
export const shortOrFull = <T>(short: T, full: T): T => (FULL ? full : short);
