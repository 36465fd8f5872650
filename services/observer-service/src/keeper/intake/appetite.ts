/**
 * How many observers a service takes under `WORKER_COUNT=auto`, by what memory they need. Pure: figures and time are arguments.
 *
 * It takes in windows: half of what there seems to be room for, then it looks at what these took, and so on, so that a wrong guess
 * costs little. Where there is room for twice of all that it may take, the first window is the whole. After a lease that was lost for
 * slowness windows are small, and clocked by the broker's answers.
 */
export interface MemoryUse {
  readonly usedBytes: number;
  /** Infinite means unknown. */
  readonly limitBytes: number;
  /** Whose memory it is, in words for people. */
  readonly of: string;
}

export interface Circumstances {
  /** How many it runs at most, whatever memory there is. */
  readonly workers: number;
  readonly running: number;
  /** The memory that one observer takes, as far as that is known. */
  readonly costBytes: number;
  readonly memory: readonly MemoryUse[];
  /**
   * After a lease was lost because everything was too slow: how many are taken at once, and whether that is allowed now. See
   * caution.ts.
   */
  readonly care?: { readonly window: number; readonly mayGoOn: boolean } | undefined;
}

export type Appetite =
  /** Nothing was looked at yet. */
  | { readonly kind: "none" }
  | { readonly kind: "paused"; readonly sinceMs: number; readonly why: string }
  | {
      readonly kind: "taking";
      /** How many it takes beside those that it had. */
      readonly window: number;
      /** Whether the window is all that it may take, so that it looks no more. */
      readonly isWhole: boolean;
      readonly taken: number;
      readonly lastTakenAtMs: number;
    };

/** Undefined means no change. */
export type Decision = { kind: "pause"; why: string } | { kind: "take"; window: number; isWhole: boolean } | undefined;

/** Above this part of the limit nothing more is taken … */
const FULL = 0.85;
/** … until less than this is used. */
const ROOMY = 0.7;
const SETTLE_MS = 1_500;
/** How long a pause lasts at least, as measured memory goes up and down. */
const CALM_MS = 5_000;
/** A window of at least all workers divided by this comes at once; a smaller one waits for a while after the last. */
const WORTH_PART = 64;
const APART_MS = 1_000;
const MIB = 2 ** 20;

/** Whether what was taken last has had the time to allocate what it needs. */
export const isSettled = (appetite: Appetite, nowMs: number): boolean =>
  appetite.kind === "paused" || (appetite.kind === "taking" && nowMs - appetite.lastTakenAtMs >= SETTLE_MS);

/** How many more there is room for. */
export const roomFor = (now: Circumstances): number => Math.max(0, Math.min(now.workers - now.running, fitting(now)));

/** How many fit into the memory that is left. */
const fitting = ({ costBytes, memory }: Circumstances): number =>
  Math.min(...memory.map(({ usedBytes, limitBytes }) => Math.floor((FULL * limitBytes - usedBytes) / costBytes)));

export function decide(appetite: Appetite, now: Circumstances, nowMs: number): Decision {
  const fullest = now.memory.toSorted((a, b) => shareOf(b) - shareOf(a))[0];
  switch (appetite.kind) {
    case "none":
      if (fullest !== undefined && shareOf(fullest) > FULL) return { kind: "pause", why: fullText(fullest) };
      return now.running >= now.workers ? undefined : takeSomeOrSayWhy(now, fullest);
    case "paused":
      if (nowMs - appetite.sinceMs < CALM_MS) return undefined;
      return shareOf(fullest) < (now.running === 0 ? FULL : ROOMY) ? takeSome(now) : undefined;
    case "taking":
      return whenTaking(appetite, now, fullest, nowMs);
    default:
      return appetite satisfies never;
  }
}

function whenTaking(
  appetite: Appetite & { kind: "taking" },
  now: Circumstances,
  fullest: MemoryUse | undefined,
  nowMs: number,
): Decision {
  if (fullest !== undefined && shareOf(fullest) > FULL) return { kind: "pause", why: fullText(fullest) };
  const { isWhole, taken, window, lastTakenAtMs } = appetite;
  const isMeasured = fullest === undefined || isSettled(appetite, nowMs);
  if (isWhole || taken < window || !isMeasured || now.running >= now.workers) return undefined;
  if (now.care !== undefined && !now.care.mayGoOn) return undefined;
  if (now.care === undefined && !isWorthIt(now) && nowMs - lastTakenAtMs < APART_MS) return undefined;
  return takeSomeOrSayWhy(now, fullest);
}

/** For a service with free workers. */
const takeSomeOrSayWhy = (now: Circumstances, fullest: MemoryUse | undefined): Decision =>
  takeSome(now) ?? {
    kind: "pause",
    why: `${fullest === undefined ? "" : `${useText(fullest)}, and `}${costText(now)}`,
  };

function takeSome(now: Circumstances): Decision {
  const { workers, running, care } = now;
  const free = workers - running;
  // A service that runs nothing tries one, whatever it is thought to take: otherwise nobody would ever know.
  const fits = Math.max(running === 0 ? 1 : 0, fitting(now));
  if (free <= 0 || fits <= 0) return undefined;
  const isAll = free <= fits / 2;
  const window = isAll ? free : Math.min(free, Math.ceil(fits / 2));
  if (care !== undefined && care.window < window) return { kind: "take", window: care.window, isWhole: false };
  return { kind: "take", window, isWhole: isAll && running === 0 };
}

/** Each window is a new consumer at the broker, so windows for single free workers must not come ten times a second. */
const isWorthIt = ({ workers, running }: Circumstances): boolean => workers - running >= workers / WORTH_PART;

const shareOf = (use: MemoryUse | undefined): number => (use === undefined ? 0 : use.usedBytes / use.limitBytes);

const mib = (bytes: number): number => Math.round(bytes / MIB);

const useText = ({ of, usedBytes, limitBytes }: MemoryUse): string =>
  `${of} has ${mib(usedBytes)} of ${mib(limitBytes)} MiB in use`;

const fullText = (use: MemoryUse): string =>
  `${useText(use)}: more than ${100 * FULL} %; it takes observers again below ${100 * ROOMY} %`;

const costText = ({ costBytes }: Circumstances): string =>
  `one more, at ${(costBytes / MIB).toFixed(1)} MiB each, would be more than ${100 * FULL} %`;
