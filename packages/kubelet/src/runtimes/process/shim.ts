/** The part of a shell script that has it write to `$1` which process it is, as `parseIdentity` reads it. Fails where that cannot be written. */
export const tellingIdentity = `
coracle_boot=
if [ -r /proc/$$/stat ]; then
  read -r coracle_line </proc/$$/stat
  read -r coracle_boot </proc/sys/kernel/random/boot_id
else
  coracle_line=$(ps -o lstart= -p $$)
fi
printf '%s\\n%s\\n%s\\n' "$$" "$coracle_line" "$coracle_boot" >"$1"`

/**
 * The program that stands between the node agent and a container's command: a POSIX shell, because it costs less than
 * a megabyte and is everywhere. It leads the container's session and process group, and outlives the node agent.
 *
 * - It records who it is (process id and start time), so that a later node agent can tell it from a process that got
 *   the same id.
 * - It ignores no signal but survives them, so that a signal to the group reaches the command and the shim can still
 *   tell how that ended. The command runs in the foreground: in the background a shell would make it ignore SIGINT.
 * - It writes the exit code in a single write of one line: a reader takes a file without the newline as not there yet.
 *   The time of the exit is the file's modification time.
 * - It runs nothing once it is given up: a later node agent that finds no identity writes the exit code itself, and looks
 *   for the identity again; the shim writes its identity, and looks for the exit code. One of them sees the other.
 * - When the command has ended it kills what is left of the group, itself included: a container ends with its main
 *   process.
 * - Its variables have names that no container uses: one that the container has too would reach it changed.
 *
 * $1 is the file for the identity, $2 the file for the exit code, $3 the number of the signal that asks the container to end, the
 * rest is the command. Its output is file descriptor 3,
 * kept from the shell's own standard error, on which some shells comment the death of their children.
 */
export const shimScript = `${tellingIdentity} || exit
coracle_exits=$2
[ ! -e "$coracle_exits" ] || exit
trap : HUP INT QUIT USR1 USR2 PIPE ALRM TERM $3
shift 3
"$@" 2>&3 3>&-
coracle_code=$?
printf '%s\\n' "$coracle_code" >"$coracle_exits"
kill -KILL 0
`
