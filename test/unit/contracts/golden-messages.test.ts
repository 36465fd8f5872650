import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeBody, MESSAGES } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import {
  complaintsOf,
  goldenMessages,
  goldenSchemas,
  goldenVersions,
  kindsIn,
  presentSchemas,
  presentVersion,
} from "../../support/messages/golden-messages.ts";
import { changedSince, isHere, RELEASES } from "../../support/messages/releases.ts";
import { ROOT } from "../../support/processes/processes.ts";

const present = goldenMessages(presentVersion);
/** Every word that some field may say. */
const wordsIn = (schemas: object): Set<string> =>
  new Set([...JSON.stringify(schemas).matchAll(/"enum":(\[[^\]]*\])/g)].flatMap(([, list = "[]"]) => JSON.parse(list)));

const encoded = (body: unknown) => Buffer.from(JSON.stringify(body));

describe.each(goldenVersions)("the messages of %s", (version) => {
  it.each(goldenMessages(version).map((message) => [message.file, message] as const))(
    "%s is understood by this version, in every field",
    (_, { decoder, body }) => {
      const decoded = decodeBody(MESSAGES[decoder], encoded(body));
      expect(decoded).toMatchObject({ ok: true, value: body });
    },
  );

  it("were such as that version took itself", () => {
    const complaints = complaintsOf(version);
    expect(goldenMessages(version).flatMap(({ decoder, body }) => complaints(decoder, body))).toEqual([]);
  });

  const release = RELEASES.find((one) => `v${one.version}` === version);
  if (release !== undefined)
    it.skipIf(!isHere(release))("stay as they were when that version was released", () => {
      expect(changedSince(release, `test/fixtures/messages/${version}`)).toBe("");
    });
});

describe("this version", () => {
  it("is none of those that are released", () => {
    expect(RELEASES.map(({ version }) => `v${version}`)).not.toContain(presentVersion);
  });

  it("keeps the messages of the version in package.json", () => {
    expect(goldenVersions.at(-1)).toBe(presentVersion);
  });

  it("has a golden message for every kind that it knows", () => {
    const known = kindsIn(presentSchemas());
    expect(known.size).toBeGreaterThan(18);
    const kept = new Set(present.flatMap(({ kinds }) => kinds));
    expect([...known].filter((kind) => !kept.has(kind))).toEqual([]);
  });

  it("has golden messages with every word that a field may say", () => {
    const words = wordsIn(presentSchemas());
    expect(words.size).toBeGreaterThan(15);
    const kept = present.map(({ body }) => JSON.stringify(body)).join();
    expect([...words].filter((word) => !kept.includes(`"${word}"`))).toEqual([]);
  });

  it("has written down what it takes; if not: node scripts/message-schemas.mjs", () => {
    expect(goldenSchemas(presentVersion)).toEqual(presentSchemas());
  });

  it.each(goldenVersions)(
    "sends nothing that %s does not take, but kinds and words that docs/upgrade.md tells of",
    (version) => {
      const complaints = complaintsOf(version);
      const known = kindsIn(goldenSchemas(version));
      const newWords = [...wordsIn(presentSchemas())].filter((word) => !wordsIn(goldenSchemas(version)).has(word));
      const told = readFileSync(join(ROOT, "docs/upgrade.md"), "utf8");
      for (const { decoder, body, kinds, file } of present) {
        const text = JSON.stringify(body);
        const unknown = [
          ...kinds.filter((kind) => !known.has(kind)),
          ...newWords.filter((word) => text.includes(`"${word}"`)),
        ];
        for (const word of unknown) expect(told, `${version} does not know ${word}`).toContain(`\`${word}\``);
        if (unknown.length === 0) expect(complaints(decoder, body), file).toEqual([]);
      }
    },
  );

  it("would be refused by its own written word if it sent otherwise: the check can fail", () => {
    const complaints = complaintsOf(presentVersion);
    const [start] = present.filter(({ decoder }) => decoder === "StartObserver");
    expect(
      complaints("StartObserver", { ...start?.body, retry: { ...Object(start?.body.retry), color: "red" } }),
    ).not.toEqual([]);
    expect(complaints("ControlMessage", { kind: "Explode" })).not.toEqual([]);
    expect(complaints("StartObserver", { ...start?.body, somethingNew: 1 })).toEqual([]);
  });
});
