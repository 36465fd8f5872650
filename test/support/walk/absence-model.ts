import {
  nextStep,
  type Proof,
  type ProofService,
  type ProofSighting,
  serviceSet,
} from "../../../services/observer-manager/src/domain/observers/absence-proof.ts";

/** What stands in the work queue; `place` is where it was first put, and where it goes back to. */
type Message = { place: number } & ({ observer: number; revision: number } | { markerId: string });
type Start = Message & { observer: number };

/** What a service tells, in order. */
type Told = { service: number; generation: number } & (
  | { kind: "born" | "draining" }
  | { kind: "started" | "ended" | "released"; observer: number; run: string }
  | {
      kind: "inventory";
      runs: { observer: number; run: string }[];
      draining: boolean;
      givenBack: number[];
      markerId: string;
      round: number;
    }
  | { kind: "seen"; markerId: string }
);
type InStateQueue = Told | { kind: "dead"; service: number; generation: number } | { kind: "marker"; markerId: string };

interface Service {
  id: number;
  generation: number;
  isConnected: boolean;
  isFenced: boolean;
  isBorn: boolean;
  isDraining: boolean;
  /** What it tells does not get through; what it is sent does not. */
  isStalled: { sending: boolean; reading: boolean };
  /** What the broker has sent and the service has not read: deliveries, and answers to a passive declare. */
  socket: (Message | { flushed: { markerId: string; round: number } })[];
  /** Read, unacked, and known here as a run. */
  runs: Map<number, { message: Start; run: string; isTold: boolean }>;
  /** Read and unacked, though no run any more: fenced, or waiting for the confirm of what was told, to be acked or given back. */
  unacked: { message: Message; after?: Told; goesBack?: true }[];
  outbox: Told[];
  /** What it has sent and is not confirmed yet; nothing is sent meanwhile. Only of releases: elsewhere both are one step. */
  unconfirmed: Told | null;
  /** What a proof of life was given, on a channel of its own, and whose messages such, or ends of runs, have given back. */
  probed: Message | null;
  givenBack: Set<number>;
}

interface Observer {
  revision: number;
  version: number;
  run: string | null;
  isDeleting: boolean;
}

interface Marker {
  markerId: string;
  through: "queue" | "state";
}

/** With the observers' rows as they were when it, and its last pair of rounds, began. */
type OpenProof = Proof & { versions: number[]; pairVersions: number[]; pending: Set<number> };

/** Weaknesses on purpose, to show that the property would find them. */
export interface Weakness {
  consumesBeforeBirth?: boolean;
  answersWithoutFlush?: boolean;
  fencedAnswers?: boolean;
  ignoresPending?: boolean;
  ignoresServices?: boolean;
  ignoresMarker?: boolean;
  forgetsGivenBack?: boolean;
}

const PREFETCH = 2;

/** A broker, services, books and a manager, in which every step is somebody's choice: any order of what really happens side by side. */
export class World {
  readonly #weakness: Weakness;
  readonly #services: Service[] = [];
  readonly #observers: Observer[];
  #ready: Message[] = [];
  #place = 0;
  #names = 0;
  readonly #pendingStarts = new Set<number>();
  #stateQueue: InStateQueue[] = [];
  /** As the books know them. */
  readonly #known = new Map<number, ProofService & { isOver: boolean }>();
  readonly #runsOf = new Map<string, { observer: number; service: number }>();
  #proof: OpenProof | null = null;
  #unsentMarkers: Marker[] = [];
  #areStartsStalled = false;
  concluded = 0;

  constructor(observers: number, services: number, weakness: Weakness = {}) {
    this.#weakness = weakness;
    this.#observers = Array.from({ length: observers }, () => ({ revision: 1, version: 0, run: null, isDeleting: false }));
    for (let i = 0; i < observers; i += 1) this.#pendingStarts.add(i);
    for (let i = 0; i < services; i += 1) this.#bear();
  }

  /** One step; `by` chooses among those that could take it. */
  step(kind: (typeof ALL_STEPS)[number], by: number): void {
    const connected = this.#services.filter(({ isConnected }) => isConnected);
    const pick = <T>(from: readonly T[]): T | undefined => from[by % Math.max(1, from.length)];
    const service = pick(connected);
    switch (kind) {
      case "publish":
        return this.#publish(pick([...this.#pendingStarts]));
      case "publish-marker":
        return this.#publishMarker(pick(this.#unsentMarkers));
      case "deliver":
        return this.#deliver(pick(connected.filter((each) => this.#hasCredit(each))));
      case "shed":
        return service && this.#shed(service, by);
      case "confirm":
        return service && this.#confirm(service);
      case "probe":
        return service && this.#probe(service);
      case "give-back":
        return service && this.#giveProbedBack(service);
      case "read":
        return service && this.#read(service);
      case "tell-run":
        return service && this.#tellRun(service, by);
      case "end-run":
        return service && this.#endRun(service, by);
      case "send":
        return this.#send(pick(this.#services));
      case "stall-sending":
      case "stall-reading":
        return service && this.#stall(service, kind === "stall-sending" ? "sending" : "reading");
      case "apply":
        return this.#apply(this.#stateQueue.shift());
      case "ask":
        return service && this.#answer(service);
      case "drain":
        return service && this.#drain(service);
      case "fence":
        return service && this.#fence(service);
      case "reconnect":
        return service && this.#reconnect(service);
      case "die":
        return service && this.#die(service);
      case "find-dead":
        return this.#findDead(pick(this.#services.filter(({ isConnected }) => !isConnected)));
      case "bear":
        return this.#services.length < 6 ? this.#bear() : undefined;
      case "lose":
        return this.#lose(by);
      case "stall-starts":
        this.#areStartsStalled = !this.#areStartsStalled;
        return;
      case "delete":
        return this.#delete(pick(this.#observers));
      case "look":
        return this.#look(by);
      default:
        return kind satisfies never;
    }
  }

  /** Where the message of an observer still is, or what is said of it and not read. */
  traces(observer: number): string[] {
    const { revision } = this.#observers[observer] as Observer;
    const isIts = (message: Message) =>
      "observer" in message && message.observer === observer && message.revision === revision;
    const found = this.#ready.filter(isIts).map(() => "ready");
    for (const { id, socket, runs, unacked, probed } of this.#services) {
      if (socket.some((each) => "place" in each && isIts(each))) found.push(`in the socket of ${id}`);
      if ([...runs.values()].some(({ message }) => isIts(message))) found.push(`run by ${id}`);
      if (unacked.some(({ message }) => isIts(message))) found.push(`unacked at ${id}`);
      if (probed !== null && isIts(probed)) found.push(`with a proof of life of ${id}`);
    }
    if (this.#pendingStarts.has(observer)) found.push("to be sent");
    return found;
  }

  #bear(): void {
    const id = this.#services.length;
    const isStalled = { sending: false, reading: false };
    const none = {
      socket: [],
      runs: new Map(),
      unacked: [],
      outbox: [],
      isStalled,
      unconfirmed: null,
      probed: null,
      givenBack: new Set<number>(),
    };
    const service: Service = {
      id,
      generation: 0,
      isConnected: true,
      isFenced: false,
      isBorn: false,
      isDraining: false,
      ...none,
    };
    this.#services.push(service);
    this.#begin(service);
  }

  #begin(service: Service): void {
    service.generation += 1;
    service.isConnected = true;
    service.isFenced = false;
    service.isBorn = this.#weakness.consumesBeforeBirth === true;
    this.#tell(service, { kind: "born" });
  }

  // A mapped type over the union would lose which fields belong to which kind.
  #tell(service: Service, what: Record<string, unknown> & { kind: Told["kind"] }): Told {
    const told = { service: service.id, generation: service.generation, ...what } as unknown as Told;
    service.outbox.push(told);
    return told;
  }

  #publish(observer: number | undefined): void {
    if (observer === undefined || this.#areStartsStalled) return;
    const { revision } = this.#observers[observer] as Observer;
    this.#ready.push({ place: this.#place++, observer, revision });
    this.#pendingStarts.delete(observer);
  }

  #publishMarker(marker: Marker | undefined): void {
    if (marker === undefined) return;
    this.#unsentMarkers = this.#unsentMarkers.filter((each) => each !== marker);
    const { markerId } = marker;
    if (marker.through === "queue") this.#ready.push({ place: this.#place++, markerId });
    else this.#stateQueue.push({ kind: "marker", markerId });
  }

  #hasCredit({ socket, runs, unacked, isBorn, isDraining }: Service): boolean {
    const held = socket.filter((each) => "place" in each).length + runs.size + unacked.length;
    return isBorn && !isDraining && held < PREFETCH;
  }

  #deliver(service: Service | undefined): void {
    const message = service && this.#ready.shift();
    if (message) service.socket.push(message);
  }

  /** Somebody purges the queue, or a service acks what it should not. */
  #lose(by: number): void {
    if (this.#ready.length > 0) return void this.#ready.splice(by % this.#ready.length, 1);
    const untold = this.#services.flatMap(({ runs }) =>
      [...runs].flatMap(([place, { isTold }]) => (isTold ? [] : { runs, place })),
    );
    const lost = untold[by % Math.max(1, untold.length)];
    lost?.runs.delete(lost.place);
  }

  /** A proof of life: the broker gives it what no other consumer has room for. */
  #probe(service: Service): void {
    const hasRoom = this.#services.some((each) => each.isConnected && this.#hasCredit(each));
    if (service.probed === null && service.isBorn && !hasRoom) service.probed = this.#ready.shift() ?? null;
  }

  #giveProbedBack(service: Service): void {
    const { probed } = service;
    if (probed === null) return;
    service.probed = null;
    // Only those count that were given back since the proof began.
    if ("markerId" in probed) return void this.#tell(service, { kind: "seen", markerId: probed.markerId });
    service.givenBack.add(probed.observer);
    this.#requeue([probed]);
  }

  #requeue(messages: Message[]): void {
    this.#ready = [...this.#ready, ...messages].toSorted((a, b) => a.place - b.place);
  }

  #read(service: Service): void {
    const next = service.isStalled.reading ? undefined : service.socket.shift();
    if (next === undefined) return;
    if ("flushed" in next && service.probed !== null) return void service.socket.unshift(next);
    if ("flushed" in next) return this.#takeInventory(service, next.flushed);
    if (service.isFenced) return void service.unacked.push({ message: next });
    if (service.isDraining) return this.#requeue([next]);
    if ("markerId" in next) {
      const after = this.#tell(service, { kind: "seen", markerId: next.markerId });
      return void service.unacked.push({ message: next, after });
    }
    service.runs.set(next.place, { message: next, run: `run-${this.#names++}`, isTold: false });
  }

  #stall({ isStalled }: Service, what: keyof Service["isStalled"]): void {
    isStalled[what] = !isStalled[what];
  }

  #tellRun(service: Service, by: number): void {
    const run = [...service.runs.values()][by % Math.max(1, service.runs.size)];
    if (run === undefined || run.isTold || service.isFenced) return;
    run.isTold = true;
    this.#tell(service, { kind: "started", observer: run.message.observer, run: run.run });
  }

  /** Others are to have it: told first, and given back when that is confirmed; at once where nobody knows its run. */
  #shed(service: Service, by: number): void {
    const [place, found] = [...service.runs][by % Math.max(1, service.runs.size)] ?? [];
    if (place === undefined || found === undefined || service.isFenced) return;
    service.runs.delete(place);
    if (!found.isTold) return this.#giveRunBack(service, found.message);
    const after = this.#tell(service, { kind: "released", observer: found.message.observer, run: found.run });
    service.unacked.push({ message: found.message, after, goesBack: true });
  }

  #confirm(service: Service): void {
    const told = service.unconfirmed;
    service.unconfirmed = null;
    if (service.isFenced || told === null) return;
    const given = service.unacked.filter(({ after }) => after === told).map(({ message }) => message);
    service.unacked = service.unacked.filter(({ after }) => after !== told);
    for (const message of given) this.#giveRunBack(service, message as Start);
  }

  #giveRunBack(service: Service, message: Start): void {
    service.givenBack.add(message.observer);
    this.#requeue([message]);
  }

  #endRun(service: Service, by: number): void {
    const [place, found] = [...service.runs][by % Math.max(1, service.runs.size)] ?? [];
    if (place === undefined || found === undefined || !found.isTold || service.isFenced) return;
    service.runs.delete(place);
    const after = this.#tell(service, { kind: "ended", observer: found.message.observer, run: found.run });
    service.unacked.push({ message: found.message, after });
  }

  /** The first of what it has to tell is confirmed. Its birth before it consumes; an end before its ack. */
  #send(service: Service | undefined): void {
    const isStalled = service === undefined || service.isStalled.sending || service.unconfirmed !== null;
    const told = isStalled ? undefined : service.outbox.shift();
    if (service === undefined || told === undefined) return;
    this.#stateQueue.push(told);
    if (service.unacked.some(({ after, goesBack }) => goesBack && after === told)) {
      service.unconfirmed = told;
      return;
    }
    if (told.kind === "born" && told.generation === service.generation) service.isBorn = true;
    if (service.isConnected && !service.isFenced) service.unacked = service.unacked.filter(({ after }) => after !== told);
  }

  /** It has the manager's question; the answer to its passive declare comes behind the deliveries. */
  #answer(service: Service): void {
    const { markerId, round } = this.#proof ?? {};
    if (markerId === undefined || round === undefined || round === 0) return;
    if (this.#weakness.answersWithoutFlush) return this.#takeInventory(service, { markerId, round });
    service.socket.push({ flushed: { markerId, round } });
  }

  #takeInventory(service: Service, asked: { markerId: string; round: number }): void {
    if (service.isFenced && !this.#weakness.fencedAnswers) return;
    const runs = [...service.runs.values()].map((each) => {
      each.isTold = true;
      return { observer: each.message.observer, run: each.run };
    });
    const givenBack = [...service.givenBack];
    this.#tell(service, { kind: "inventory", runs, givenBack, draining: service.isDraining, ...asked });
  }

  #drain(service: Service): void {
    if (service.isDraining) return;
    service.isDraining = true;
    this.#tell(service, { kind: "draining" });
    for (const { message, run, isTold } of service.runs.values()) {
      if (isTold) this.#tell(service, { kind: "released", observer: message.observer, run });
      this.#requeue([message]);
    }
    service.runs.clear();
  }

  /** Its runs are over, their messages still with its session. */
  #fence(service: Service): void {
    service.isFenced = true;
    for (const { message, run, isTold } of service.runs.values()) {
      if (isTold) this.#tell(service, { kind: "released", observer: message.observer, run });
      service.unacked.push({ message });
    }
    service.runs.clear();
  }

  #reconnect(service: Service): void {
    this.#fence(service);
    this.#giveBack(service);
    this.#begin(service);
  }

  #die(service: Service): void {
    service.isConnected = false;
    service.outbox = [];
    for (const { message } of service.runs.values()) service.unacked.push({ message });
    service.runs.clear();
    this.#giveBack(service);
  }

  #giveBack(service: Service): void {
    const inSocket = service.socket.filter((each): each is Message => "place" in each);
    this.#requeue([...inSocket, ...service.unacked.map(({ message }) => message)]);
    if (service.probed !== null) this.#requeue([service.probed]);
    service.probed = null;
    service.socket = [];
    service.unacked = [];
    service.unconfirmed = null;
  }

  #findDead(service: Service | undefined): void {
    if (service !== undefined && this.#known.get(service.id)?.isOver !== true)
      this.#stateQueue.push({ kind: "dead", service: service.id, generation: service.generation });
  }

  #delete(observer: Observer | undefined): void {
    if (observer === undefined || observer.isDeleting || observer.run === null) return;
    observer.isDeleting = true;
    observer.version += 1;
  }

  #apply(message: InStateQueue | undefined): void {
    if (message === undefined) return;
    if (message.kind === "marker") return this.#noteMarker(message.markerId, { stateSeen: true });
    if (message.kind === "dead") return this.#applyDeath(message);
    const known = this.#serviceOf(message);
    switch (message.kind) {
      case "born":
        return;
      case "draining":
        known.isDraining = true;
        return;
      case "seen":
        return this.#noteMarker(message.markerId, { queueSeen: true });
      case "started":
        return this.#noteRun(message.observer, message.run, message.service);
      case "ended":
      case "released":
        return this.#noteEnd(message.observer, message.run);
      case "inventory":
        for (const { observer, run } of message.runs) this.#noteHeld(observer, run, message.service);
        known.isDraining ||= message.draining;
        if (message.markerId === this.#proof?.markerId && !this.#weakness.forgetsGivenBack)
          for (const observer of message.givenBack) this.#proof.pending.add(observer);
        known.answered = { markerId: message.markerId, round: message.round };
        return;
      default:
        return message satisfies never;
    }
  }

  #serviceOf({ service: id, generation }: Told): ProofService & { isOver: boolean } {
    const known = this.#known.get(id) ?? {
      id: String(id),
      generation,
      isSuspect: false,
      isDraining: false,
      answered: null,
      isOver: false,
    };
    known.generation = Math.max(known.generation, generation);
    known.isOver = false;
    this.#known.set(id, known);
    return known;
  }

  #applyDeath({ service: id, generation }: { service: number; generation: number }): void {
    const known = this.#known.get(id);
    if (known === undefined || known.generation !== generation) return;
    known.isOver = true;
    for (const [run, { observer, service }] of this.#runsOf) if (service === id) this.#noteEnd(observer, run);
  }

  #noteRun(observer: number, run: string, service: number): void {
    const book = this.#observers[observer] as Observer;
    if (this.#runsOf.has(run)) return;
    this.#runsOf.set(run, { observer, service });
    book.run = run;
    book.version += 1;
  }

  /** In an inventory. One that is known, and that another one told later took the place of, counts again where its observer has none. */
  #noteHeld(observer: number, run: string, service: number): void {
    if (this.#observers[observer]?.run === null) this.#runsOf.delete(run);
    this.#noteRun(observer, run, service);
  }

  #noteEnd(observer: number, run: string): void {
    const book = this.#observers[observer] as Observer;
    this.#runsOf.set(run, { observer, service: -1 });
    if (book.run !== run) return;
    book.run = null;
    book.version += 1;
  }

  #noteMarker(markerId: string, seen: Partial<Proof>): void {
    if (this.#proof?.markerId !== markerId) return;
    Object.assign(this.#proof, seen);
    if (this.#proof.queueSeen && this.#proof.stateSeen) this.#proof.roundsBefore ??= this.#proof.round;
  }

  #look(by: number): void {
    const sighting = this.#sighting(by);
    const step = nextStep(sighting);
    if (step.kind === "begin") return this.#beginProof(sighting.services);
    const proof = this.#proof;
    if (proof === null) return;
    if (step.kind === "ask") {
      proof.round = step.round;
      if (!step.beginsPair) return;
      proof.pair = { from: step.round, services: serviceSet(sighting.services) };
      proof.pairVersions = this.#versions();
    } else if (step.kind === "conclude") {
      this.#conclude(step.whom, proof);
    }
  }

  #sighting(by: number): ProofSighting {
    const proof = this.#proof;
    const services = [...this.#known.values()].filter(({ isOver }) => !isOver);
    const doubts = this.#inDoubt();
    const deleting = doubts.filter((i) => this.#observers[i]?.isDeleting);
    const asSeen = proof && {
      ...proof,
      ageMs: [0, 6_000, 11_000, 11_000][by % 4] as number,
      askedAgoMs: [2_500, 7_000][by % 2] as number,
      ...(this.#weakness.ignoresServices && { services: serviceSet(services) }),
      ...(this.#weakness.ignoresServices && proof.pair && { pair: { ...proof.pair, services: serviceSet(services) } }),
      ...(this.#weakness.ignoresMarker && { queueSeen: true, stateSeen: true, roundsBefore: 0 }),
    };
    return {
      proof: asSeen,
      services,
      sinceDeathMs: null,
      doubts: {
        count: doubts.length,
        oldestMs: 30_000,
        unchanged: proof ? doubts.filter((i) => this.#isUnchanged(i, proof)).length : 0,
        deleting: deleting.length,
        deletingUnchanged: proof ? deleting.filter((i) => this.#observers[i]?.version === proof.pairVersions[i]).length : 0,
      },
      ready: this.#ready.length,
    };
  }

  #inDoubt(): number[] {
    return [...this.#observers.keys()].filter((i) => this.#observers[i]?.run === null && !this.#pendingStarts.has(i));
  }

  #isUnchanged(i: number, { versions, pending }: { versions: number[]; pending: Set<number> }): boolean {
    const wasToBeSent = pending.has(i) && !this.#weakness.ignoresPending;
    return this.#observers[i]?.version === versions[i] && !wasToBeSent;
  }

  #versions(): number[] {
    return this.#observers.map(({ version }) => version);
  }

  #beginProof(services: readonly ProofService[]): void {
    for (const { givenBack } of this.#services) givenBack.clear();
    const markerId = `marker-${this.#names++}`;
    const seen = { queueSeen: false, stateSeen: false, round: 0, askedAgoMs: 0, roundsBefore: null, pair: null, ageMs: 0 };
    const pending = new Set(this.#pendingStarts);
    this.#proof = {
      markerId,
      services: serviceSet(services),
      versions: this.#versions(),
      pairVersions: [],
      pending,
      ...seen,
    };
    this.#unsentMarkers.push({ markerId, through: "queue" }, { markerId, through: "state" });
  }

  #conclude(whom: "unchanged" | "deleting", proof: OpenProof): void {
    const judged = this.#inDoubt().filter((i) => {
      const { isDeleting, version } = this.#observers[i] as Observer;
      return whom === "unchanged" ? this.#isUnchanged(i, proof) : isDeleting && version === proof.pairVersions[i];
    });
    for (const observer of judged) {
      const traces = this.traces(observer).filter((where) => whom === "unchanged" || where.startsWith("run by"));
      if (traces.length > 0) throw new Error(`observer ${observer} was concluded absent, though it is ${traces.join(", ")}`);
      const book = this.#observers[observer] as Observer;
      book.version += 1;
      book.isDeleting = false;
      book.revision += 1;
      this.#pendingStarts.add(observer);
      this.concluded += 1;
    }
    if (whom === "unchanged") this.#proof = null;
  }
}

/** What happens where nothing goes wrong. */
export const FORWARD = ["publish", "publish-marker", "deliver", "read", "send", "apply", "ask", "look"] as const;

export const STEPS = [
  ...FORWARD,
  "tell-run",
  "end-run",
  "drain",
  "fence",
  "reconnect",
  "die",
  "find-dead",
  "bear",
  "lose",
  "delete",
  "stall-sending",
  "stall-reading",
] as const;

export const ALL_STEPS = [...STEPS, "stall-starts", "probe", "give-back", "shed", "confirm"] as const;
