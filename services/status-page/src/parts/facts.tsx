import { Fragment, type ReactNode } from "react";
import css from "./facts.module.css";

export type Fact = [name: string, value: ReactNode];

/** What is known of one thing, line by line. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={`panel ${css.facts}`}>
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
