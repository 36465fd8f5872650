import { newServiceId, type ServiceId } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Prober, type SilenceStore } from "../../../services/observer-manager/src/operations/services/prober.ts";
import { Dying, deathsIn } from "../../support/ports/dying.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Services by how long they have been silent, the probes that are to be sent, and those that were. */
class Silence implements SilenceStore {
  readonly states = new Map<ServiceId, { silentMs: number; state: "Alive" | "Suspect" }>();
  toSend = new Set<ServiceId>();
  readonly sent: ServiceId[] = [];
  failures = 0;

  put(silentMs: number): ServiceId {
    const id = newServiceId();
    this.states.set(id, { silentMs, state: "Alive" });
    return id;
  }

  async probeSilent(limits: { probeAfterMs: number; suspectAfterMs: number }): Promise<number> {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error("the database is away");
    }
    let asked = 0;
    for (const [id, service] of this.states) {
      if (service.silentMs > limits.suspectAfterMs) service.state = "Suspect";
      if (service.silentMs <= limits.probeAfterMs || this.toSend.has(id)) continue;
      this.toSend.add(id);
      asked += 1;
    }
    return asked;
  }

  /** What a dispatcher does when it is woken: it looks, and sends what it finds. */
  dispatch(): void {
    this.sent.push(...this.toSend);
    this.toSend = new Set();
    for (const id of this.sent) this.states.delete(id);
  }
}

/** One that lives, one that is late, one that has been silent for long. */
function newSilence(): { silence: Silence; late: ServiceId; long: ServiceId } {
  const silence = new Silence();
  silence.put(5_000);
  return { silence, late: silence.put(8_000), long: silence.put(20_000) };
}

async function lookOnce(silence: Silence, process?: Dying, isCaughtUp = true): Promise<void> {
  const store = process?.port<SilenceStore>(silence) ?? silence;
  const wake = { probed: () => silence.dispatch() };
  const { probed } = process?.port(wake) ?? wake;
  const prober = new Prober({ store, isCaughtUp: () => isCaughtUp, probed, log });
  prober.start();
  await vi.advanceTimersByTimeAsync(3_000);
  void prober.stop();
}

vi.useFakeTimers();
const deaths = await deathsIn((process) => lookOnce(newSilence().silence, process));
vi.useRealTimers();

describe("a prober", () => {
  it("has those that are silent probed at once, suspects those that have been for long, and lets the others be", async () => {
    const { silence, late, long } = newSilence();
    const [first] = silence.states.keys();
    const suspect = silence.states.get(long);
    await lookOnce(silence);
    expect(silence.sent).toEqual([late, long]);
    expect(suspect?.state).toBe("Suspect");
    expect([...silence.states.entries()]).toEqual([[first, { silentMs: 5_000, state: "Alive" }]]);
  });

  it.each(deaths)(
    "that dies $when $step ($at) leaves each to be probed once, by whatever manager sends it",
    async ({ at, when }) => {
      const { silence, late, long } = newSilence();
      const process = new Dying(at, when);
      await lookOnce(silence, process);
      await process.died;
      await lookOnce(silence);
      // A dispatcher looks by itself, too: the command stands although its manager died before it could wake one.
      silence.dispatch();
      expect(silence.sent).toEqual([late, long]);
    },
  );

  it("says nothing of anybody while it has not read what they have said", async () => {
    const { silence } = newSilence();
    await lookOnce(silence, undefined, false);
    expect([silence.toSend.size, silence.sent]).toEqual([0, []]);
  });

  it("looks once more when the database was away", async () => {
    const { silence, late, long } = newSilence();
    silence.failures = 1;
    const prober = new Prober({ store: silence, isCaughtUp: () => true, probed: () => silence.dispatch(), log });
    prober.start();
    await vi.advanceTimersByTimeAsync(6_000);
    void prober.stop();
    expect(silence.sent).toEqual([late, long]);
  });
});
