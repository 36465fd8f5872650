import { NativeSelect } from "@mantine/core";

interface Props<Status extends string> {
  /** "": any. */
  value: Status | "";
  /** What each means, in the order in which they are offered. */
  looks: Record<Status, { meaning: string }>;
  onChange: (status: Status | "") => void;
}

/** Narrows a list to those of one status. */
export function StatusSelect<Status extends string>({ value, looks, onChange }: Props<Status>) {
  const all = Object.entries<{ meaning: string }>(looks);
  return (
    <NativeSelect
      label="Status"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as Status | "")}
      data={[
        { value: "", label: "any" },
        ...all.map(([status, { meaning }]) => ({ value: status, label: `${status}: ${meaning}` })),
      ]}
    />
  );
}
