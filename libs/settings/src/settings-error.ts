/** What a program adds to a {@link SettingsError} that keeps it from starting. */
export const LISTED_BY_HELP = "--help lists each setting, with what it takes and its default.";

/** Some settings are wrong. `problems` names each in one line, without its value if it could be a secret. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "invalid-settings";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("; "));
    this.problems = problems;
  }
}
