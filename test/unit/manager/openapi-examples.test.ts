import { PROBLEMS, type ProblemCode, ProblemDetails } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import type { ObserverDefinition } from "../../../libs/sdk/src/observer-definition.ts";
import { paramsJsonSchema } from "../../../libs/sdk/src/params-json-schema.ts";
import ticker from "../../../observers/ticker.ts";
import { apiRoutes } from "../../../services/observer-manager/src/adapters/http/api/api-routes.ts";
import type { Examples } from "../../../services/observer-manager/src/adapters/http/openapi/call-description.ts";
import { problemExample } from "../../../services/observer-manager/src/adapters/http/openapi/examples/problem-examples.ts";
import { TYPES } from "../../../services/observer-manager/src/adapters/http/openapi/examples/service-examples.ts";
import { PLAIN_CALLS } from "../../../services/observer-manager/src/adapters/http/openapi/plain-calls.ts";
import { type Document, openApi, RestContract, token } from "../../support/rest/rest-contract.ts";
import { inTurn } from "../../support/runs/turns.ts";

/** Routes are described before anything is asked of them. */
const calls = [...apiRoutes({} as never), ...PLAIN_CALLS];
const entriesOf = (examples: Examples | undefined) => Object.entries(examples ?? {});

const bodies = calls.flatMap(({ operationId, body, bodyExamples }) =>
  body === undefined ? [] : [{ operationId, body, examples: entriesOf(bodyExamples) }],
);
const answers = calls.flatMap(({ operationId, answers }) =>
  Object.entries(answers).flatMap(([status, { schema, examples, contentType }]) =>
    schema === undefined ? [] : [{ operationId, status, schema, contentType, examples: entriesOf(examples) }],
  ),
);

function receiptsOf({ operationId, answers }: (typeof calls)[number]) {
  return Object.values(answers).flatMap(({ minimal, receipts }) =>
    minimal === undefined ? [] : entriesOf(receipts).map(([, value]) => ({ operationId, minimal, value })),
  );
}

describe("an example in the document", () => {
  it("is there for every body, every answer that has one, and every problem", () => {
    expect(bodies.length).toBeGreaterThan(3);
    expect(answers.length).toBeGreaterThan(20);
    const without = [...bodies, ...answers].filter(({ examples }) => examples.length === 0);
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
    const problems = Object.values(openApi().paths).flatMap((operations) =>
      Object.values(operations).flatMap(({ responses }) =>
        Object.values(responses).flatMap(({ content }) => content?.["application/problem+json"] ?? []),
      ),
    );
    expect(problems.length).toBeGreaterThan(60);
    expect(problems.filter(({ examples }) => Object.keys(examples ?? {}).length === 0)).toEqual([]);
  });

  it.each(bodies.flatMap((each) => each.examples.map(([title, value]) => ({ ...each, title, value }))))(
    "is a body that is taken: $operationId, $title",
    ({ body, value }) => {
      expect(body.safeParse(value).error?.issues).toBeUndefined();
    },
  );

  it.each(answers.flatMap((each) => each.examples.map(([title, value]) => ({ ...each, title, value }))))(
    "is an answer as it is given, whole and nothing more: $operationId $status, $title",
    ({ schema, value }) => {
      expect(schema.parse(value)).toEqual(value);
    },
  );

  it.each(calls.flatMap(receiptsOf))(
    "is a receipt as it is given, whole and nothing more: $operationId",
    ({ minimal, value }) => {
      expect(minimal.parse(value)).toEqual(value);
    },
  );

  it.each(Object.keys(PROBLEMS) as ProblemCode[])("is a problem as it is answered: %s", (code) => {
    const example = problemExample(code);
    expect(ProblemDetails.parse(example)).toEqual(example);
  });

  it("of a type is what the type of that name announces", () => {
    const { type, description } = ticker;
    const { schema: paramsSchema } = paramsJsonSchema(ticker as ObserverDefinition);
    expect(TYPES.items).toEqual([expect.objectContaining({ type, description, paramsSchema })]);
  });

  it("is taken by the schema that the document has beside it", () => {
    const document = openApi();
    const contract = new RestContract(document);
    const bodies = mediaIn(document.components.requestBodies, "/components/requestBodies");
    expect(bodies.length).toBeGreaterThan(3);
    const media = [...bodies, ...mediaIn(document.paths, "/paths")];
    expect(media.length).toBeGreaterThan(80);
    const flaws = inTurn(media).flatMap(({ pointer, examples }) =>
      Object.values(examples).flatMap((example) => contract.flawsAt(`${pointer}/schema`, valueOf(document, example))),
    );
    expect(flaws).toEqual([]);
    // Hundreds of schemas are compiled: seconds, and much more on a machine that runs everything at once.
  }, 300_000);
});

/** Whatever has a schema and examples beside it. */
function mediaIn(value: unknown, pointer: string): { pointer: string; examples: Record<string, object> }[] {
  if (typeof value !== "object" || value === null) return [];
  const { schema, examples } = value as { schema?: object; examples?: Record<string, object> };
  if (schema !== undefined && examples !== undefined) return [{ pointer, examples }];
  return Object.entries(value).flatMap(([key, inner]) => mediaIn(inner, `${pointer}/${token(key)}`));
}

function valueOf({ components }: Document, example: { $ref?: string; value?: unknown }): unknown {
  if (example.$ref === undefined) return example.value;
  return (components.examples[example.$ref.split("/").at(-1) ?? ""] as { value: unknown }).value;
}
