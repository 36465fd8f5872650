/** Words for a term of the contracts. A term that only a newer manager has stays as it is. */
export const inWords = (words: Readonly<Partial<Record<string, string>>>, word: string): string => words[word] ?? word;
