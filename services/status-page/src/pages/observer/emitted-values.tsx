import { Button } from "@mantine/core";
import type { EmittedValue } from "@unacked/contracts";
import { useState } from "react";
import { Blank, Pending } from "../../parts/blank.tsx";
import { Time } from "../../parts/time.tsx";
import type { LogTail } from "../../store/log-tail.ts";
import css from "./emitted-values.module.css";
import { jsonText } from "./said.ts";

const SHORT_LINES = 8;
const SHORT_CHARACTERS = 400;

/** What it emitted last, the newest first. */
export function EmittedValues({ tail: { values, state } }: { tail: LogTail }) {
  return (
    <section aria-labelledby="emitted-title" className={css.section}>
      <h2 id="emitted-title" className={css.title}>
        Emitted last
      </h2>
      {/* Focusable, as it scrolls. */}
      <div className={`panel ${css.box}`} tabIndex={0} role="group" aria-labelledby="emitted-title">
        {values.length > 0 && (
          <ol className={css.values}>
            {values.map(({ key, entry }) => (
              <Value key={key} entry={entry} />
            ))}
          </ol>
        )}
        {values.length === 0 && state.phase === "asking" && <Pending label="Asking its service" height="100%" />}
        {values.length === 0 && state.phase !== "asking" && <Blank title="No values yet">{NONE_TEXT}</Blank>}
      </div>
    </section>
  );
}

const NONE_TEXT = <p>What its handler emits stands here while its service keeps it.</p>;

function Value({ entry: { at, value, cut } }: { entry: EmittedValue }) {
  const [isWhole, setWhole] = useState(false);
  const text = jsonText(value, cut, 2);
  const short = text.split("\n").slice(0, SHORT_LINES).join("\n").slice(0, SHORT_CHARACTERS);
  return (
    <li className={css.value}>
      <p className={css.when}>
        <Time at={at} isExact isBare />
        {cut && <span>longer than its service keeps</span>}
        {short.length < text.length && (
          <Button size="compact-xs" variant="default" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Show less" : "Show all"}
          </Button>
        )}
      </p>
      <pre className={css.json}>{isWhole || short.length === text.length ? text : `${short} …`}</pre>
    </li>
  );
}
