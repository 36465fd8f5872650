import css from "./cut-name.module.css";

/** What is always shown of its end: there names differ that begin alike, as `…-BTC-USD` and `…-BTC-EUR`. */
const END = 12;

/** A name on one line: where it is too long for that its middle is left out. Copied whole; whoever reads it out is told it by a label, as two parts would be two words. */
export function CutName({ name }: { name: string }) {
  if (name.length <= END) return name;
  return (
    <span className={css.name}>
      <span className={css.start}>{name.slice(0, -END)}</span>
      <span>{name.slice(-END)}</span>
    </span>
  );
}
