/**
 * What is read of TypeDoc's reflections here; all of one export hangs on its reflection.
 *
 * @typedef {{ summary: object[], blockTags: { tag: string, content: object[] }[] }} Comment
 * @typedef {{ name: string, comment?: Comment, flags: { isOptional: boolean }, defaultValue?: string, type?: Type }} Named
 * @typedef {Named & { default?: Type }} TypeParameter
 * @typedef {Named & { parameters?: Named[], typeParameters?: TypeParameter[] }} Signature
 * @typedef {Named & { kind: number, parent?: object, signatures?: Signature[], children?: Reflection[], typeParameters?: TypeParameter[], extendedTypes?: Type[] }} Reflection
 * @typedef {{ type: string, types?: Type[], declaration?: Reflection }} Type
 *
 * What writes types and comments: the context of typedoc-plugin-markdown.
 * @typedef {{ someType(type: Type): string, functionType(signatures: Signature[], options?: object): string }} Partials
 * @typedef {{ partials: Partials, helpers: { getCommentParts(parts: object[]): string } }} Context
 */

const CONSTRUCTOR = 512;
const CLASS = 128;
const CONST = 32;
/** TypeDoc's kinds, by the word that stands in front of the name. A function needs none: it has brackets. */
const WORDS = new Map([
  [CONST, "const"],
  [CLASS, "class"],
  [256, "interface"],
  [2_097_152, "type"],
]);

/** @param {Reflection} reflection */
const titleOf = ({ kind, name }) => (WORDS.has(kind) ? `${WORDS.get(kind)} ${name}` : `${name}()`);

/** @param {Reflection} reflection the anchor that GitHub makes of its title */
export const slugOf = (reflection) => titleOf(reflection).toLowerCase().replace("()", "").replace(" ", "-");

/**
 * One export: how it is called, what it means, and a table of what it takes or has.
 *
 * @param {Reflection} reflection @param {Context} context @param {(what: string) => void} unsaid told of what has no doc comment
 */
export function sdkEntry(reflection, context, unsaid) {
  const { someType, functionType } = context.partials;
  const parts = [`### ${titleOf(reflection).replaceAll("_", "\\_")}`];
  if (reflection.signatures !== undefined) for (const signature of reflection.signatures) parts.push(...called(signature));
  else if (reflection.kind === CLASS) parts.push(...classParts());
  else parts.push(...typeParts());
  return parts.filter((part) => part !== "").join("\n\n");

  /** @param {Signature} signature @param {string} [word] */
  function* called(signature, word = "") {
    const { name, parameters = [], typeParameters, type } = signature;
    const taken = parameters.map((one) => nameOf(one, isOptional(one))).join(", ");
    yield `> ${word}**${name}**${angled(typeParameters, false)}(${taken})${type && word === "" ? `: ${someType(type)}` : ""}`;
    if (word === "") yield said(signature, name);
    yield typeParameterList(typeParameters);
    yield table(
      "parameter",
      parameters.map((one) => [
        nameOf(one, isOptional(one)),
        someType(/** @type {Type} */ (one.type)),
        oneLine(one.comment),
      ]),
    );
    yield tagsOf(signature.comment);
  }

  function* classParts() {
    const { name, comment, children = [], extendedTypes: parents = [] } = reflection;
    yield said(reflection, name);
    for (const parent of parents) yield `Extends ${someType(parent)}.`;
    for (const { signatures = [] } of children.filter(({ kind }) => kind === CONSTRUCTOR))
      for (const signature of signatures) yield* called({ ...signature, name }, "new ");
    yield fieldTable(children.filter(({ kind }) => kind !== CONSTRUCTOR));
    yield tagsOf(comment);
  }

  function* typeParts() {
    const { name, type, typeParameters, comment, kind } = reflection;
    const fields = reflection.children ?? fieldsOf(type);
    const whole = wholeOf(type, fields.length > 0);
    const sign = kind === CONST ? ": " : " = ";
    if (whole !== "" || typeParameters)
      yield `> **${name.replaceAll("_", "\\_")}**${angled(typeParameters, true)}${whole === "" ? "" : sign}${whole}`;
    yield said(reflection, name);
    yield typeParameterList(typeParameters);
    yield fieldTable(fields);
    yield tagsOf(comment);
  }

  /**
   * A type in a line, but for its fields, which have a table. None of one that asks what its parameters are: its comment says it better.
   *
   * @param {Type | undefined} type @param {boolean} hasFields
   */
  function wholeOf(type, hasFields) {
    if (type === undefined || type.type === "reflection") return "";
    if (type.type !== "intersection") return type.type === "conditional" ? "" : someType(type);
    const others = (type.types ?? []).filter((one) => fieldsOf(one).length === 0);
    if (others.some((one) => one.type === "conditional")) return "";
    const each = others.map((one) => (one.type === "union" ? `(${someType(one)})` : someType(one)));
    return [...each, ...(hasFields ? ["these fields"] : [])].join(" & ");
  }

  /** @param {Named} named @param {string} what */
  function said({ comment }, what) {
    const text = comment === undefined ? "" : context.helpers.getCommentParts(comment.summary).trim();
    if (text === "") unsaid(what);
    return text;
  }

  /** @param {TypeParameter[] | undefined} all @param {boolean} withDefaults */
  function angled(all, withDefaults) {
    const each = all?.map((one) => `\`${one.name}\`${withDefaults && one.default ? ` = ${someType(one.default)}` : ""}`);
    return each === undefined ? "" : `\\<${each.join(", ")}\\>`;
  }

  /** @param {TypeParameter[] | undefined} all */
  function typeParameterList(all = []) {
    const told = all.filter(({ comment }) => comment !== undefined);
    return told.map((one) => `- \`${one.name}\`: ${oneLine(one.comment)}`).join("\n");
  }

  /** @param {Reflection[]} fields */
  function fieldTable(fields) {
    return table(
      "field",
      fields.map((field) => {
        const { signatures, type } = field;
        const text = signatures
          ? functionType(signatures, { forceParameterType: true })
          : someType(/** @type {Type} */ (type));
        const meaning = [field, ...(signatures?.slice(0, 1).flatMap((one) => [one, ...(one.parameters ?? [])]) ?? [])];
        const told = meaning.map(({ name, comment }, at) =>
          at > 1 && comment ? `\`${name}\`: ${oneLine(comment)}` : oneLine(comment),
        );
        if (told.join("") === "") unsaid(`${reflection.name}.${field.name}`);
        return [nameOf(field, field.flags.isOptional), text, told.filter((one) => one !== "").join("<br><br>")];
      }),
    );
  }

  /** @param {string} what @param {[string, string, string][]} rows name, type, meaning */
  function table(what, rows) {
    if (rows.length === 0) return "";
    const isTold = rows.some(([, , meaning]) => meaning !== "");
    const lines = rows.map((cells) => `| ${cells.slice(0, isTold ? 3 : 2).join(" | ")} |`);
    return [`| ${what} | type |${isTold ? " meaning |" : ""}`, `| --- | --- |${isTold ? " --- |" : ""}`, ...lines].join(
      "\n",
    );
  }

  /** In a cell: its paragraphs, and its parameters and result where it is of a method. @param {Comment | undefined} comment */
  function oneLine(comment) {
    if (comment === undefined) return "";
    const parts = [context.helpers.getCommentParts(comment.summary), ...(comment.blockTags ?? []).map(tagText)];
    const text = parts.map((part) => part.trim()).filter((part) => part !== "");
    return text
      .join("\n\n")
      .replaceAll(/\n{2,}/g, "<br><br>")
      .replaceAll("\n", " ")
      .replaceAll(/(?<!\\)\|/g, "\\|");
  }

  /** @param {Comment | undefined} comment */
  function tagsOf(comment) {
    return (comment?.blockTags ?? []).map(tagText).join("\n\n");
  }

  /** @param {{ tag: string, name?: string, content: object[] }} tag */
  function tagText({ tag, name, content }) {
    const text = context.helpers.getCommentParts(content).trim();
    if (tag === "@example") return text;
    if (tag === "@param") return `\`${name}\`: ${text}`;
    return `${tag === "@returns" ? "Returns" : tag.slice(1)} ${text}`;
  }
}

/** @param {Named} one @param {boolean} isOptional */
const nameOf = ({ name }, isOptional) => `\`${name}${isOptional ? "?" : ""}\``;

/** @param {Named} one */
const isOptional = ({ flags, defaultValue }) => flags.isOptional || defaultValue !== undefined;

/** @param {Type | undefined} type @returns {Reflection[]} */
function fieldsOf(type) {
  if (type?.type === "intersection") return (type.types ?? []).flatMap((one) => fieldsOf(one));
  return type?.declaration?.children ?? [];
}
