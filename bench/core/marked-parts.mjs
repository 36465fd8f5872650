/**
 * Puts texts between the markers `<!-- bench:NAME -->` and `<!-- /bench:NAME -->` of a page. What is outside stays as it is.
 *
 * @param {string} page
 * @param {Record<string, string>} parts
 * @returns {string}
 */
export function fillMarkedParts(page, parts) {
  return Object.entries(parts).reduce((text, [name, content]) => {
    const [from, to] = placeOf(text, name);
    return `${text.slice(0, from)}\n\n${content.trim()}\n\n${text.slice(to)}`;
  }, page);
}

/** What stands there. @param {string} page @param {string} name */
export const markedPart = (page, name) => page.slice(...placeOf(page, name)).trim();

/** @param {string} page @param {string} name @returns {[number, number]} */
function placeOf(page, name) {
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The page has no place for ${name}: ${begin} … ${end}`);
  return [from + begin.length, to];
}
