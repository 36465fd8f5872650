import css from "./workers-bar.module.css";

interface Props {
  used: number;
  total: number;
  label: string;
  /** Its free workers take nothing. */
  isClosed?: boolean;
}

/** Workers used of those there are. What is over the brim is said in the text; the bar is full. */
export function WorkersBar({ used, total, label, isClosed = false }: Props) {
  const share = total === 0 ? 0 : Math.min(1, used / total);
  const text = `${used} of ${total} workers in use`;
  return (
    <div
      className={css.bar}
      role="meter"
      aria-label={`Workers of ${label}`}
      aria-valuemin={0}
      aria-valuemax={Math.max(total, 1)}
      aria-valuenow={Math.min(used, Math.max(total, 1))}
      aria-valuetext={text}
      data-full={used >= total && total > 0}
      data-closed={isClosed}
    >
      <div className={css.used} style={{ transform: `scaleX(${share})` }} />
    </div>
  );
}
