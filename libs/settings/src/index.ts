export { type FollowedFiles, followFiles } from "./follow-files.ts";
export { listenFlaw } from "./listen-flaw.ts";
export { describeSettings, loadSettings, type SettingDescription, type SettingsSources } from "./load-settings.ts";
export { EXIT_CANNOT_START, isAnswered, ownVersion, type ProgramWords } from "./program-words.ts";
export { anyNumber, flag, oneOf, type SettingTraits, text, textList, wholeNumber, withTraits } from "./setting.ts";
export { LISTED_BY_HELP, SettingsError } from "./settings-error.ts";
export { type TlsFiles, tlsFilesOf, tlsFlaws, tlsSettings } from "./tls-settings.ts";
