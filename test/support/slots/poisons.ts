import { fileURLToPath } from "node:url";

/** How the author of a poison learns of it. */
export type Fate =
  /** By name and stack; its slot is ended. */
  | "named"
  /** By name and stack; it is refused what it tried, or nothing of the process was harmed. */
  | "refused"
  /** Nobody can be named at once: found by splitting. */
  | "found"
  /** It harms nobody, and never fails. */
  | "bearable";

export interface Poison {
  readonly what: string;
  readonly fate: Fate;
  /** Of its last error: name and message. */
  readonly words?: RegExp;
  /** Settings of the services, where its harm needs a bound that is near. */
  readonly env?: Record<string, string>;
  /** Of an observer that writes its acts into this file. */
  request(file: string): { type: string; params: object };
}

const ACT_ON = fileURLToPath(new URL("../../fixtures/poison/acts/act-on.mjs", import.meta.url));
const LITTLE_MEMORY = { SLOT_MEMORY_MB: "160" };

const BLOCKED = /^HandlerBlockedError: the handler has blocked the event loop/;

/** A slot that finds its pipes closed may end itself before. */
const TAMPERED = /^SlotEndedError: .*(SlotWireError: .* tampered with|exit code 1|SIGKILL)/;

const does = (how: string, more: object = {}) => ({
  request: (file: string) => ({ type: "poison", params: { how, file, ...more } }),
});

/** What observers may do to their process. */
export const POISONS: readonly Poison[] = [
  { what: "a busy loop of 20 s", fate: "named", words: BLOCKED, ...does("busy-loop") },
  { what: "endless microtasks", fate: "named", words: BLOCKED, ...does("microtasks") },
  { what: "a catastrophic regular expression", fate: "named", words: BLOCKED, ...does("regex") },
  { what: "execSync of 20 s", fate: "found", words: /^SlotEndedError: .*SIGKILL/, ...does("exec-sync") },
  { what: "process.exit", fate: "refused", words: /^ProcessGuardError: process\.exit\(3\)/, ...does("exit") },
  { what: "process.exit on abort", fate: "bearable", ...does("exit", { onAbort: true }) },
  { what: "process.abort", fate: "refused", words: /^ProcessGuardError: process\.abort/, ...does("abort") },
  { what: "process.kill(process.pid)", fate: "refused", words: /^ProcessGuardError: process\.kill/, ...does("segv") },
  { what: "a segmentation fault", fate: "found", words: /^SlotEndedError: .*SIGSEGV/, ...does("segv-from-outside") },
  {
    what: "a leak in the heap",
    fate: "found",
    env: LITTLE_MEMORY,
    words: /^(SlotEndedError|HandlerBlockedError|MemoryLimitError)/,
    ...does("heap"),
  },
  {
    what: "a leak of Buffers outside of it",
    fate: "found",
    env: LITTLE_MEMORY,
    words: /^MemoryLimitError: the handler is alone in its slot/,
    ...does("grow-buffers"),
  },
  { what: "10,000 unawaited emits a tick", fate: "bearable", ...does("emits") },
  { what: "a flood of log lines", fate: "bearable", ...does("logs") },
  {
    what: "a flood of stderr of a process observer",
    fate: "bearable",
    request: (file) => ({ type: "process", params: { command: "node", args: [ACT_ON, file, "{}", "flood"] } }),
  },
  { what: "a rejection in a timer", fate: "refused", words: /^Error: nobody caught this/, ...does("rejection") },
  { what: "a handler that ignores its abort", fate: "bearable", ...does("ignore-abort", { afterMs: 0 }) },
  { what: "a stack overflow", fate: "refused", words: /^RangeError: Maximum call stack/, ...does("stack-overflow") },
  {
    what: "a stack overflow in V8's own code",
    fate: "refused",
    words: /^RangeError: Maximum call stack/,
    ...does("native-stack-overflow"),
  },
  ...["junk-on-3", "half-a-frame-on-3", "junk-on-4", "close-3", "close-4"].map(
    (how): Poison => ({ what: `its slot's pipes: ${how}`, fate: "found", words: TAMPERED, ...does(how) }),
  ),
];

/** What services need to have all of them. */
export const POISON_ENV = {
  OBSERVERS_DIR: "test/fixtures/poison",
  ALLOW_PROCESS_OBSERVERS: "true",
  PROCESS_COMMANDS: "node",
};
