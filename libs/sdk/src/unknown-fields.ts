/** By this key a definition has the names of what its draft had besides, so that a host knows them from any copy of the package. */
const key = Symbol.for("unacked.unknown-fields");

/** Defines on a definition which fields of its draft it does not know. */
export function noteUnknownFields(definition: object, draft: object, known: object): void {
  Object.defineProperty(definition, key, { value: Object.keys(draft).filter((name) => !Object.hasOwn(known, name)) });
}

/**
 * Fields that a type was defined with and that mean nothing: mistyped perhaps, or what its own functions find in `this`. For its author
 * to be told.
 */
export function unknownFieldsOf(definition: object): readonly string[] {
  const names = (definition as Record<symbol, unknown>)[key];
  return Array.isArray(names) ? (names as string[]) : [];
}
