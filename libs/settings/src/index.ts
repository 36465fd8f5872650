export { followFiles } from "./follow-files.ts";
export { listenFlaw } from "./listen-flaw.ts";
export { describeSettings, loadSettings } from "./load-settings.ts";
export { EXIT_CANNOT_START, isAnswered, ownVersion, type ProgramWords } from "./program-words.ts";
export { anyNumber, flag, oneOf, text, textList, wholeNumber, wholeNumberOrAuto, withTraits } from "./setting.ts";
export { LISTED_BY_HELP, SettingsError } from "./settings-error.ts";
export { StandardOutput } from "./standard-output.ts";
export { type TlsFiles, tlsFilesOf, tlsFlaws, tlsSettings } from "./tls-settings.ts";
