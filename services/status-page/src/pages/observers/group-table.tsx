import { useMemo } from "react";
import type { OrderedView } from "../../live/ordered-view.ts";
import { useLive } from "../../live/use-live.ts";
import { useShownNow } from "../../live/use-now.ts";
import table from "../../parts/plain-table.module.css";
import { sayCount } from "../../parts/say.ts";
import { Link } from "../../shell/navigation.tsx";
import { type ListFilter, writeFilter } from "../../store/list-filter.ts";
import { filterOfGroup, groupsOf, type ObserverGroup } from "../../store/observer-groups.ts";
import css from "./group-table.module.css";

const EVERY_MS = 1_000;

/** Those that the filter lets through, group by group; each leads to its list. Counted once a second, as there may be very many. */
export function GroupTable({ view, filter }: { view: OrderedView; filter: ListFilter }) {
  const { observers } = useLive();
  const nowMs = useShownNow(EVERY_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the time is what it is counted by
  const groups = useMemo(
    () =>
      groupsOf(
        view.rows.ids().flatMap((id) => observers.index.get(id) ?? []),
        filter.group,
      ),
    [view, observers, filter.group, nowMs],
  );
  return (
    <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Groups">
      <table className={`${table.table} ${table.lined} ${css.table} figures`}>
        <thead>
          <tr>
            <th scope="col">{filter.group.replace(/^label:/, "")}</th>
            {COLUMNS.map(([heading]) => (
              <th key={heading} scope="col" className={css.number}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.name ?? "\0"}>
              <th scope="row">
                <GroupName group={group} filter={filter} />
              </th>
              {COLUMNS.map(([heading, countOf, isBad]) => (
                <td key={heading} className={css.number} data-bad={isBad && countOf(group) > 0}>
                  {sayCount(countOf(group))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const COLUMNS: [heading: string, countOf: (group: ObserverGroup) => number, isBad: boolean][] = [
  ["Observers", ({ total }) => total, false],
  ["Running", ({ byTone }) => byTone.good, false],
  ["On their way", ({ byTone }) => byTone.wait, false],
  ["Failing", ({ byTone }) => byTone.bad, true],
  ["Over or paused", ({ byTone }) => byTone.over, false],
  ["Silent", ({ silent }) => silent, true],
  ["Restarts in 10 min", ({ restarts }) => restarts, false],
];

function GroupName({ group, filter }: { group: ObserverGroup; filter: ListFilter }) {
  const next = filterOfGroup(filter, group.name);
  if (next === undefined) return <>none</>;
  return <Link href={`/observers${writeFilter(next)}`}>{group.name}</Link>;
}
