const A_UUID = "must be a UUID, such as 01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41";

/** Replaces those of zod's messages that do not say what would be right. */
const WORDS: Readonly<Record<string, string>> = {
  "Invalid ISO datetime": "must be a time with its offset, such as 2027-01-31T09:00:00+01:00 or 2027-01-31T08:00:00Z",
  "Invalid ISO date": "must be a day, such as 2027-01-31",
  "Invalid UUID": A_UUID,
  "Invalid GUID": A_UUID, // a UUID in any form that PostgreSQL takes
};

/** What is wrong, in words that say what would be right. */
export const issueWords = (message: string): string => WORDS[message] ?? message;
