import { Button, NativeSelect, TextInput } from "@mantine/core";
import { HOW_LABELS_ARE_SELECTED, type ObserverStatus, parseLabelSelector } from "@unacked/contracts";
import { useEffect, useRef, useState } from "react";
import { useLive, useSignal } from "../../live/use-live.ts";
import { sayCount } from "../../parts/say.ts";
import { type ListFilter, NO_FILTER, narrows } from "../../store/list-filter.ts";
import { GROUPS, groupOfLabel, labelKeysOf } from "../../store/observer-groups.ts";
import { SILENT_LOOK, STATUS_LOOKS, STATUSES } from "../../store/statuses.ts";
import css from "./filter-bar.module.css";

interface Props {
  filter: ListFilter;
  onChange: (filter: ListFilter) => void;
}

export function FilterBar({ filter, onChange }: Props) {
  const { stats, services } = useLive();
  useSignal(stats.changed);
  useSignal(services.changed);
  const [isOpen, setOpen] = useState(false);
  const types = stats.stats?.observers.byType.map(({ type }) => type) ?? [];
  const pools = stats.stats?.workers.byPool.map(({ pool }) => pool) ?? [];
  const names = services.living().map(({ name }) => name);
  return (
    <form
      className={css.bar}
      role="search"
      aria-label="Filter observers"
      tabIndex={-1} // for the focus of a chip that goes
      onSubmit={(event) => event.preventDefault()}
    >
      <div className={css.fields} data-open={isOpen}>
        <Search filter={filter} onChange={onChange} />
        <Button className={css.opener} size="xs" variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          More filters
        </Button>
        <Choice name="Type" value={filter.type} options={types} onChange={(type) => onChange({ ...filter, type })} />
        <Choice
          name="Service"
          value={filter.service}
          options={names}
          onChange={(service) => onChange({ ...filter, service })}
        />
        <Choice name="Pool" value={filter.pool} options={pools} onChange={(pool) => onChange({ ...filter, pool })} />
        <GroupBy filter={filter} onChange={onChange} />
        <LabelField labels={filter.labels} onChange={(labels) => onChange({ ...filter, labels })} />
        <Button
          className={css.clear}
          size="xs"
          variant="default"
          disabled={!narrows(filter)}
          onClick={() => onChange({ ...NO_FILTER, sort: filter.sort, isReversed: filter.isReversed, group: filter.group })}
        >
          Clear
        </Button>
      </div>
      <StatusChips filter={filter} onChange={onChange} />
    </form>
  );
}

/** The keys of labels are looked for when the choice is opened: there may be very many observers. */
function GroupBy({ filter, onChange }: Props) {
  const { observers } = useLive();
  const [keys, setKeys] = useState<string[]>([]);
  const all = [...new Set([...GROUPS, ...keys.map(groupOfLabel), ...(filter.group === "" ? [] : [filter.group])])];
  return (
    <NativeSelect
      size="xs"
      label="Group by"
      value={filter.group}
      data={[{ value: "", label: "nothing" }, ...all.map((by) => ({ value: by, label: by.replace(":", " ") }))]}
      onFocus={() => setKeys(labelKeysOf(observers.index.rows()))}
      onChange={(event) => onChange({ ...filter, group: event.currentTarget.value })}
    />
  );
}

/** "/" comes here from everywhere on the page, as in many tools. */
function Search({ filter, onChange }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      if (document.querySelector('[aria-modal="true"]') !== null) return; // it keeps the focus until it is left
      event.preventDefault();
      field.current?.select();
    };
    window.addEventListener("keydown", focus);
    return () => window.removeEventListener("keydown", focus);
  }, []);
  return (
    <TextInput
      ref={field}
      className={css.search}
      size="xs"
      type="search"
      label="Name"
      placeholder="part of a name, or an id"
      autoComplete="off"
      spellCheck={false}
      value={filter.q}
      onChange={(event) => onChange({ ...filter, q: event.currentTarget.value })}
    />
  );
}

/** What is typed stays as it is until the address says something else: a comma at its end is no label yet. */
function LabelField({ labels, onChange }: { labels: readonly string[]; onChange: (labels: string[]) => void }) {
  const [typed, setTyped] = useState("");
  const text = isSame(splitLabels(typed), labels) ? typed : labels.join(", ");
  const isWrong = labels.some((label) => parseLabelSelector(label) === undefined);
  return (
    <TextInput
      size="xs"
      label="Labels"
      placeholder="key=value"
      value={text}
      error={isWrong && HOW_LABELS_ARE_SELECTED}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        onChange(splitLabels(event.currentTarget.value));
      }}
    />
  );
}

const splitLabels = (text: string): string[] => text.split(/[\s,]+/).filter((each) => each !== "");
const isSame = (some: readonly string[], others: readonly string[]): boolean => some.join("\n") === others.join("\n");

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select");

interface ChoiceProps {
  name: string;
  value: string;
  options: string[];
  onChange: (value: string) => void;
}

/** What the address asks for can be chosen even if nothing of the kind is there now. */
function Choice({ name, value, options, onChange }: ChoiceProps) {
  const all = [...new Set([...options, ...(value === "" ? [] : [value])])].sort();
  return (
    <NativeSelect
      size="xs"
      label={name}
      value={value}
      data={[{ value: "", label: "any" }, ...all.map((each) => ({ value: each, label: each }))]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** None pressed: all that live. */
function StatusChips({ filter, onChange }: Props) {
  const { observers, stats } = useLive();
  useSignal(observers.changed);
  const countOf = (status: ObserverStatus): number | undefined => {
    const isKnown = isRead && status !== "Deleted";
    return isKnown ? observers.index.countOf(status) : stats.stats?.observers.byStatus[status];
  };
  const silent = observers.index.silent;
  const isRead = observers.loading.phase === "whole";
  const toggle = (status: ObserverStatus) => {
    const next = STATUSES.filter((each) => filter.statuses.includes(each) !== (each === status));
    onChange({ ...filter, statuses: next });
  };
  return (
    <fieldset className={css.chips}>
      <legend className="unseen">Status; none chosen shows all but the deleted</legend>
      {filter.errorGroup !== "" && (
        <button
          type="button"
          className={css.chip}
          aria-pressed
          title="Show all again"
          onClick={() => onChange({ ...filter, errorGroup: "" })}
        >
          error: {filter.errorGroup} <span aria-hidden="true">✕</span>
        </button>
      )}
      {(filter.silent !== "" || silent > 0) && (
        <button
          type="button"
          className={css.chip}
          aria-pressed={filter.silent !== ""}
          data-tone={SILENT_LOOK.tone}
          title={SILENT_LOOK.meaning}
          onClick={() => onChange({ ...filter, silent: filter.silent === "" ? "true" : "" })}
        >
          {SILENT_LOOK.text} <Count of={isRead ? silent : undefined} />
        </button>
      )}
      {STATUSES.map((status) => (
        <button
          key={status}
          type="button"
          className={css.chip}
          aria-pressed={filter.statuses.includes(status)}
          data-tone={STATUS_LOOKS[status].tone}
          title={STATUS_LOOKS[status].meaning}
          onClick={() => toggle(status)}
        >
          {status} <Count of={countOf(status)} />
        </button>
      ))}
    </fieldset>
  );
}

/** Nothing, in the same place, until it has been read. */
const Count = ({ of }: { of: number | undefined }) => (
  <span className={css.count}>{of === undefined ? "" : sayCount(of)}</span>
);
