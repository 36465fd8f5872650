import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * What a pod's volumes hold, as a kubelet lays it out: files of Secrets and ConfigMaps with their modes, empty folders, and all of
 * it the group's that `fsGroup` names.
 *
 * @typedef {Record<string, Record<string, string>>} Files by the Secret's or ConfigMap's name and by key
 * @typedef {{ secrets: Files, configMaps: Files }} Kept
 * @typedef {{ key: string, path: string }[]} Items
 */

/**
 * @param {any} spec of the pod
 * @param {string} folder
 * @param {Kept} kept
 * @param {string[]} [claims] names of volumes that are claimed
 */
export function layOutVolumes(spec, folder, kept, claims = []) {
  const group = spec.securityContext?.fsGroup ?? 0;
  for (const volume of spec.volumes ?? []) {
    const place = join(folder, volume.name);
    if (volume.emptyDir !== undefined) makeFolder(place, group);
    else layOutFiles(place, group, filesOf(volume, kept), volume.secret ?? volume.configMap ?? volume.projected);
  }
  for (const claim of claims) makeFolder(join(folder, claim), group);
}

/** @param {string} place @param {number} group */
function makeFolder(place, group) {
  mkdirSync(place, { recursive: true });
  chownSync(place, 0, group);
  chmodSync(place, 0o2777);
}

/**
 * @param {any} volume
 * @param {Kept} kept
 * @returns {Record<string, string>} by path
 */
function filesOf(volume, { secrets, configMaps }) {
  if (volume.secret) return chosen(secrets, volume.secret.secretName, volume.secret.items);
  if (volume.configMap) return chosen(configMaps, volume.configMap.name, volume.configMap.items);
  if (!volume.projected) throw new Error(`The volume ${volume.name} is of a kind that is not known here.`);
  return Object.assign(
    {},
    ...volume.projected.sources.map((/** @type {any} */ { secret }) => chosen(secrets, secret.name, secret.items)),
  );
}

/**
 * @param {Files} kept
 * @param {string} name
 * @param {Items} [items] all of it if missing
 */
function chosen(kept, name, items) {
  const data = kept[name];
  if (data === undefined)
    throw new Error(`There is no Secret or ConfigMap ${name}; there are ${Object.keys(kept).join(", ")}`);
  if (items === undefined) return data;
  return Object.fromEntries(items.map(({ key, path }) => [path, data[key] ?? ""]));
}

/**
 * @param {string} place
 * @param {number} group
 * @param {Record<string, string>} files
 * @param {{ defaultMode?: number }} options
 */
function layOutFiles(place, group, files, { defaultMode = 0o644 }) {
  for (const [path, text] of Object.entries(files)) {
    const file = join(place, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chownSync(file, 0, group);
    chmodSync(file, group === 0 ? defaultMode : defaultMode | 0o440); // as `fsGroup` has it
  }
}
