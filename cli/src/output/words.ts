/** What is said here of a word of the contracts: the word itself where a newer manager has one that is not known here. */
export const inWords = (words: Readonly<Partial<Record<string, string>>>, word: string): string => words[word] ?? word;
