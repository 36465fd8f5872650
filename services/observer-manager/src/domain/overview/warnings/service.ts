import { type BrokenFile, placeText, type SlotDeathView, type Warning } from "@unacked/contracts";
import type { Facts, GoneService } from "../facts.ts";

export function lossOf({ name, brokerLoss }: Facts["services"][number]): Warning[] {
  if (brokerLoss === null) return [];
  const code = brokerLoss.kind === "consumer-timeout" ? "broker-cuts-jobs" : "broker-trouble";
  return [
    { code, subject: name, message: `${name} lost its broker session: ${brokerLoss.detail}`, remedy: brokerLoss.remedy },
  ];
}

/** Gives one warning for each file, however many services have it. */
export function brokenFiles({ services }: Facts): Warning[] {
  const byText = new Map<string, { file: BrokenFile; names: string[] }>();
  for (const { name, brokenFiles: files } of services)
    for (const file of files) {
      const { file: path, problem } = file;
      const entry = byText.get(`${path} ${problem}`) ?? { file, names: [] };
      byText.set(`${path} ${problem}`, { ...entry, names: [...entry.names, name] });
    }
  return [...byText.values()].map(({ file, names }) => ({
    code: "file-not-loaded",
    subject: file.file,
    message: `${placeText(file)} on ${names.join(", ")}: ${file.problem}.`,
    remedy:
      "Correct it, and let them load it: unacked reload NAME. Only its types are missing there; GET /api/v1/types shows the lines.",
  }));
}

/** One death may happen to anybody; more in 10 minutes come from somewhere. */
const MANY_SLOT_DEATHS = 3;
const LATELY_MS = 600_000;
/** Why services end slots themselves. Of what is told here these are none. */
const DONE_BY_SERVICES: ReadonlySet<string> = new Set(["stop", "recycled"]);

export function slotsDie({ name, slotDeaths, slotDeathsLately, lastSeenAt }: Facts["services"][number]): Warning[] {
  if (slotDeathsLately < MANY_SLOT_DEATHS) return [];
  const sinceMs = Date.parse(lastSeenAt) - LATELY_MS;
  const lately = slotDeaths.filter(({ at }) => Date.parse(at) >= sinceMs);
  const culprits = [...new Set(lately.flatMap(whoDid))];
  const newest = slotDeaths.find(({ reason }) => !DONE_BY_SERVICES.has(reason));
  const last = newest === undefined ? "" : ` The last one (${newest.end}): ${newest.why}.`;
  const remedy =
    culprits.length > 0
      ? `Mend or stop ${culprits.join(", ")}: until then each runs alone in a slot. Its lastError has the stack.`
      : lately.some(({ reason }) => reason === "unnamed")
        ? "Who it is, is being found by splitting its observers over slots: look again in some minutes, at the memory of its slots too."
        : "Nobody is looked for. GET /api/v1/services and its log tell how each ended: look at its host, and at what stops or ends processes there.";
  return [
    {
      code: "slots-die",
      subject: name,
      message: `Slots of ${name} ended ${slotDeathsLately} times in 10 minutes, and each time what ran in them began again.${last}`,
      remedy: `${remedy} GET /api/v1/services shows each end.`,
    },
  ];
}

function whoDid({ culprit, culpritTask }: SlotDeathView): string[] {
  if (culprit !== null) return [culprit.name];
  return culpritTask === null ? [] : [`tasks of the type ${culpritTask.type}`];
}

export const suspect = ({ name, lastSeenAt }: Facts["services"][number]): Warning => ({
  code: "service-suspect",
  subject: name,
  message: `${name} has been silent since ${lastSeenAt}, but its connection is still open.`,
  remedy:
    "Look at its host: a frozen process or a cut network. Its observers and tasks move when the broker closes the connection.",
});

export const serviceGone = ({ name, pool, host, goneAt }: GoneService): Warning => ({
  code: "service-gone",
  subject: name,
  message: `${name} of pool ${pool}, on ${host}, ended without notice at ${goneAt.toISOString()}: its process was killed, or its host or network failed. What it ran was given to others.`,
  remedy: `It was not started again under this name. If another has taken its place there is nothing to do; otherwise look at its last log lines and at its host. This warning stays for 10 minutes.`,
});

export function sameNames({ services }: Facts): Warning[] {
  const names = services.map(({ name }) => name);
  const twice = [...new Set(names.filter((name, i) => names.indexOf(name) !== i))];
  return twice.map((name) => ({
    code: "same-service-name",
    subject: name,
    message: `Two living services have the name ${name}.`,
    remedy: "Give each its own SERVICE_NAME. Both work, but people cannot tell them apart.",
  }));
}
