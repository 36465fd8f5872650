import type { ReactNode } from "react";
import css from "./page-head.module.css";

/** The name of what a page is about, how it stands, and at the other side what can be done. */
export const PageHead = ({ children }: { children: ReactNode }) => <div className={css.head}>{children}</div>;

export const PageActions = ({ children }: { children: ReactNode }) => <div className={css.actions}>{children}</div>;
