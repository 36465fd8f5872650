import type { FlowStatusName, QueryOf } from "@unacked/contracts";
import { FLOW_SHOWN } from "./flow-looks.ts";

/** What the list of flows is narrowed to; it stands in the page's address, as it was typed: a name may go on after a space. */
export interface FlowFilter {
  status: FlowStatusName | "";
  name: string;
}

export function flowFilterOf(search: string): FlowFilter {
  const given = new URLSearchParams(search);
  const status = FLOW_SHOWN.find((one) => one === given.get("status")) ?? "";
  return { status, name: given.get("name") ?? "" };
}

export function addressOfFlows(filter: FlowFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return given.length === 0 ? "/flows" : `/flows?${new URLSearchParams(given)}`;
}

export const queryOf = ({ status, name }: FlowFilter): QueryOf<"listFlows"> => ({
  ...(status !== "" && { status: [status] }),
  ...(name.trim() !== "" && { name: name.trim() }),
});
