import { NativeSelect, TextInput } from "@mantine/core";
import { AUDITED_ACTIONS, AUDITED_KINDS, type AuditEntry, type AuditedKind } from "@unacked/contracts";
import { useList } from "../../live/use-list.ts";
import { Blank } from "../../parts/blank.tsx";
import { Listed } from "../../parts/listed.tsx";
import table from "../../parts/plain-table.module.css";
import { sayCount } from "../../parts/say.ts";
import { Time } from "../../parts/time.tsx";
import { Link, navigate, useSearch } from "../../shell/navigation.tsx";
import { addressOfFlow, addressOfObserver, addressOfSchedule, addressOfTask, addressOfWork } from "../../shell/route.ts";
import { type AuditFilter, addressOfAudit, auditFilterOf, isNarrowed, queryOf } from "../../store/audit-filter.ts";
import css from "./audit.module.css";

const LOOK_EVERY_MS = 5_000;
/** Of one entry, before somebody asks for the others. */
const SHOWN_TARGETS = 3;

/** Who changed what and when. The newest first. */
export default function Audit() {
  const search = useSearch();
  const filter = auditFilterOf(search);
  const list = useList("listAudit", queryOf(filter), search, { mayGrow: false, lookEveryMs: LOOK_EVERY_MS });
  const narrow = (change: Partial<AuditFilter>) => {
    navigate(addressOfAudit({ ...filter, ...change }), { replace: true });
  };
  return (
    <>
      <h1>Audit</h1>
      <FilterBar filter={filter} onChange={narrow} />
      <Listed what="The audit trail" list={list} none={<None isNarrowed={isNarrowed(filter)} />}>
        {(entries) => <AuditTable entries={entries} />}
      </Listed>
    </>
  );
}

function FilterBar({ filter, onChange }: { filter: AuditFilter; onChange: (change: Partial<AuditFilter>) => void }) {
  return (
    <search className={css.filter}>
      <NativeSelect
        label="What"
        value={filter.action}
        onChange={(event) => onChange({ action: event.currentTarget.value as AuditFilter["action"] })}
        data={[{ value: "", label: "any" }, ...AUDITED_ACTIONS.map((action) => ({ value: action, label: action }))]}
      />
      <TextInput
        label="Who"
        placeholder="anybody"
        value={filter.actor}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange({ actor: event.currentTarget.value })}
      />
      <TextInput
        label="To"
        placeholder="anything: a name or an id"
        value={filter.target}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange({ target: event.currentTarget.value })}
      />
      <NativeSelect
        label="Of the kind"
        value={filter.targetKind}
        onChange={(event) => onChange({ targetKind: event.currentTarget.value as AuditFilter["targetKind"] })}
        data={[{ value: "", label: "any" }, ...AUDITED_KINDS.map((kind) => ({ value: kind, label: kind }))]}
      />
    </search>
  );
}

const None = (props: { isNarrowed: boolean }) => (
  <Blank title={props.isNarrowed ? "Nothing matches" : "Nobody has changed anything yet"}>
    <p>Entries older than the retention are forgotten.</p>
  </Blank>
);

function AuditTable({ entries }: { entries: readonly AuditEntry[] }) {
  return (
    // Focusable, as a wide one scrolls.
    <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Audit trail">
      <table className={`${table.table} ${table.lined} ${css.table} figures`}>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col" className={css.count}>
              How many
            </th>
            <th scope="col">To</th>
            <th scope="col">Asked with</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row key={entry.id} entry={entry} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ entry }: { entry: AuditEntry }) {
  const { at, actor, action, count, details, requestId } = entry;
  const asked = Object.keys(details).length === 0 ? "" : JSON.stringify(details);
  return (
    <tr>
      <td>
        <Time at={at} />
      </td>
      <td>
        {actor.name} <span className={css.role}>{`${actor.role} · ${actor.authentication}`}</span>
      </td>
      <th scope="row">{action}</th>
      <td className={css.count}>{sayCount(count)}</td>
      <td className={css.targets}>
        <Targets entry={entry} />
      </td>
      <td className={css.details} title={asked}>
        <code>{asked.slice(0, 200)}</code>
      </td>
      <td title={requestId}>{actor.address}</td>
    </tr>
  );
}

/** The first few, and the others that the trail names when they are asked for. */
function Targets({ entry: { targets, count } }: { entry: AuditEntry }) {
  const first = targets.slice(0, SHOWN_TARGETS);
  const others = targets.slice(SHOWN_TARGETS);
  const unnamed = count - targets.length;
  if (others.length === 0)
    return (
      <>
        <Names of={first} />
        {unnamed > 0 && " …"}
      </>
    );
  return (
    <>
      <Names of={first} />
      <details>
        <summary className={css.more}>and {sayCount(count - first.length)} more</summary>
        <Names of={others} />
        {unnamed > 0 && ` and ${sayCount(unnamed)} that the trail does not name`}
      </details>
    </>
  );
}

const Names = ({ of }: { of: AuditEntry["targets"] }) =>
  of.map(({ kind, id, name }, place) => {
    const address = ADDRESSES[kind]?.(id);
    return (
      <span key={id}>
        {place > 0 && ", "}
        {address === undefined ? (name ?? id) : <Link href={address}>{name ?? id}</Link>}
      </span>
    );
  });

/** Of what has a page of its own. */
const ADDRESSES: Partial<Record<AuditedKind, (id: string) => string>> = {
  observer: addressOfObserver,
  task: addressOfTask,
  flow: addressOfFlow,
  schedule: addressOfSchedule,
  work: addressOfWork,
};
