/**
 * Runs a program of another root folder (a second Debian, say) on this machine's kernel, network and process table. What
 * it needs is mounted in a namespace of its own and goes with it, however it ends. Needs root, and Linux.
 */

export const PRIVATE_MOUNTS = ["unshare", "--mount", "--propagation", "private"];

// The shell and chroot become the program: its pid is the one that we started, and a signal reaches it.
const ENTER = `
root=$1; dir=$2; shift 2
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root$dir"
mount --bind "$dir" "$root$dir"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" "$@"`;

/**
 * @param {string} root
 * @param {string} dir the one folder of ours that the program sees, under the same path
 * @param {string[]} command
 */
export function commandInRoot(root, dir, command) {
  return [...PRIVATE_MOUNTS, "/bin/sh", "-ec", ENTER, "enter", root, dir, ...command];
}
