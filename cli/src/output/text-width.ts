const CLUSTERS = new Intl.Segmenter();
const PLAIN = /^[\u0020-\u007e]*$/;
/** East Asian Wide and Fullwidth (Unicode UAX #11), and emoji (UTS #51). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;
const UNSEEN = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** How many columns of a terminal a text takes: two for a wide character, none for one that only changes the one before it. */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of CLUSTERS.segment(text)) width += clusterWidth(segment);
  return width;
}

/** Keeps at most `width` columns; the last one is `…` if something was cut. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let cut = "";
  let left = width - 1;
  for (const { segment } of CLUSTERS.segment(text)) {
    left -= clusterWidth(segment);
    if (left < 0) break;
    cut += segment;
  }
  return `${cut}…`;
}

const clusterWidth = (cluster: string): number => (WIDE.test(cluster) ? 2 : UNSEEN.test(cluster) ? 0 : 1);
