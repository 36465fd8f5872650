import type { ReactNode } from "react";
import css from "./page-head.module.css";

/** The name of what a page is about, how it stands, and at the other side what can be done. */
export const PageHead = ({ children }: { children: ReactNode }) => <div className={css.head}>{children}</div>;

/** It can have the focus when the button that was pressed is gone. */
export const PageActions = ({ children }: { children: ReactNode }) => (
  <div tabIndex={-1} className={css.actions}>
    {children}
  </div>
);
