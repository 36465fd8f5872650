/**
 * MAJOR.MINOR.PATCH or MAJOR.MINOR.PATCH-PRERELEASE, by semver.org. Not `+BUILD`: npm drops it, and a tag of an image has no
 * place for it.
 */
const NUMBER = "(?:0|[1-9]\\d*)";
const WORD = `(?:${NUMBER}|\\d*[a-zA-Z-][\\w-]*)`;
const VERSION = new RegExp(`^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${WORD}(?:\\.${WORD})*))?$`);

/** @param {string} text */
export const isVersion = (text) => VERSION.test(text);

/** Whether one version comes after another. @param {string} version @param {string} other */
export function isGreater(version, other) {
  const [mine, others] = [partsOf(version), partsOf(other)];
  for (const [n, number] of mine.numbers.entries()) {
    const difference = number - (others.numbers[n] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  // 1.0.0-rc.1 comes before 1.0.0.
  if (mine.words.length === 0 || others.words.length === 0) return mine.words.length === 0 && others.words.length > 0;
  for (const [n, word] of mine.words.entries()) {
    const otherWord = others.words[n];
    if (otherWord === undefined) return true;
    if (word !== otherWord) return comesAfter(word, otherWord);
  }
  return false;
}

/** @param {string} version */
function partsOf(version) {
  const [, major, minor, patch, prerelease = ""] = VERSION.exec(version) ?? [];
  return { numbers: [major, minor, patch].map(Number), words: prerelease === "" ? [] : prerelease.split(".") };
}

/** Numbers come before words, and are compared as numbers. @param {string} word @param {string} other */
function comesAfter(word, other) {
  const [isNumber, isOtherNumber] = [word, other].map((each) => /^\d+$/.test(each));
  if (isNumber !== isOtherNumber) return isOtherNumber === true;
  return isNumber ? Number(word) > Number(other) : word > other;
}
