/** What zod says of formats without what would be right. */
const WORDS: Readonly<Record<string, string>> = {
  "Invalid ISO datetime": "must be a time with its offset, such as 2027-01-31T09:00:00+01:00 or 2027-01-31T08:00:00Z",
  "Invalid ISO date": "must be a day, such as 2027-01-31",
};

/** What is wrong, in words that say what would be right. */
export const issueWords = (message: string): string => WORDS[message] ?? message;
