const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Writes `412 B`, `1.5 KiB` or `84 MiB`, the same on the command line and on the page. */
export function readableBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[power]}`;
}
