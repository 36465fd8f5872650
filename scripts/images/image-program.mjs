import { PRIVATE_MOUNTS } from "../servers/other-root.mjs";

/** As an engine runs an image with a read-only root: its command, its user, its environment, nothing of ours but the network. */

const ENTER = `
root=$1; user=$2; dir=$3; shift 3
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" "$root" /bin/sh -ec 'cd "$0"; exec "$@"' "$dir" "$@"`;

/**
 * @param {string} folder the image's files
 * @param {import("./buildah.mjs").ImageConfig} config
 * @param {string[]} [command] the image's own if missing
 */
export function commandInImage(folder, config, command = config.Cmd) {
  const user = `${config.User}:${config.User}`;
  return [...PRIVATE_MOUNTS, "/bin/sh", "-ec", ENTER, "enter", folder, user, config.WorkingDir, ...command];
}

/**
 * @param {import("./buildah.mjs").ImageConfig} config
 * @param {Record<string, string>} settings
 */
export function environmentInImage(config, settings) {
  const own = config.Env.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
  return { ...Object.fromEntries(own), ...settings };
}
