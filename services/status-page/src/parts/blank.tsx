import type { ReactNode } from "react";
import css from "./blank.module.css";

/** What stands where there is nothing to show: why, and what to do about it. */
export function Blank({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={css.blank}>
      <p className={css.title}>{title}</p>
      {children !== undefined && <div className={css.text}>{children}</div>}
    </div>
  );
}

/** Keeps the place of what is on its way, at its later height. */
export function Pending({ label, height }: { label: string; height: string }) {
  return (
    <div className={css.pending} style={{ height }} role="status">
      <span className="unseen">{label}</span>
    </div>
  );
}
