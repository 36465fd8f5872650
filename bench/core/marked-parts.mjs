/**
 * Puts texts between the markers `<!-- bench:NAME -->` and `<!-- /bench:NAME -->` of a page. What is outside stays as it is.
 *
 * @param {string} page
 * @param {Record<string, string>} parts
 * @returns {string}
 */
export function fillMarkedParts(page, parts) {
  return Object.entries(parts).reduce((text, [name, content]) => {
    const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`The page has no place for ${name}: ${begin} … ${end}`);
    return `${text.slice(0, from + begin.length)}\n\n${content.trim()}\n\n${text.slice(to)}`;
  }, page);
}
