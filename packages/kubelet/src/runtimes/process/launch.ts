import { type ChildProcess, type IOType, spawn, spawnSync } from 'node:child_process'
import type { Command } from './command.ts'
import { restoring, variablesUnder } from './variables.ts'

/** Names of variables until nothing of ours is in their way. */
const variablePrefix = 'CORACLE_LAUNCH_'

/**
 * Starts a command in a session of its own, with the descriptors of `stdio` and no other. Libraries open files that every
 * child would inherit (LMDB its database), and Node closes none of them: a shell does, before anything the container
 * has a say in happens. Until then the container's variables go by other names, so that LD_PRELOAD and the like are not
 * obeyed too early. Throws where that cannot be done.
 */
export function launch(command: Command, stdio: readonly (IOType | number)[]): ChildProcess {
  const [file = '', ...options] = closingShell()
  const counts = [stdio.length - 1, Object.keys(command.env).length].map(String)
  try {
    return spawn(file, [...options, '-c', launchScript, 'coracle-launch', ...counts, ...command.argv], {
      cwd: command.directory,
      env: variablesUnder(variablePrefix, command.env),
      detached: true,
      stdio: [...stdio],
    })
  } catch (error) {
    throw new Error(`failed to start container: ${reasonOf(error)}`)
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'E2BIG') return 'argument list too long: the command and its environment are more than this host takes'
  if (code === 'ERR_INVALID_ARG_VALUE')
    return 'invalid argument: the command, its environment or its directory has a NUL in it'
  return message
}

/** $1 is the last descriptor to keep, $2 the number of variables, the rest is the command. */
const launchScript = `
for coracle_fd in /proc/self/fd/* /dev/fd/*; do
  coracle_fd=\${coracle_fd##*/}
  case $coracle_fd in *[!0-9]*) continue ;; esac
  [ "$coracle_fd" -le "$1" ] || eval "exec $coracle_fd>&-"
done
shift
${restoring(variablePrefix)}exec "$@"
`

/** Shells that may be able to close descriptors beyond 9, which POSIX does not ask of them and dash does not do. */
const closingShells: readonly (readonly string[])[] = [
  ['/bin/sh'],
  ['/bin/bash'],
  ['/usr/bin/bash'],
  ['/usr/local/bin/bash'],
  ['/bin/busybox', 'sh'],
]

let found: readonly string[] | undefined

function closingShell(): readonly string[] {
  found ??= closingShells.find(([file = '', ...options]) => {
    return spawnSync(file, [...options, '-c', 'exec 10>&-'], { stdio: 'ignore', env: {} }).status === 0
  })
  if (found !== undefined) return found
  throw new Error(
    'failed to start container: no shell of this host can close inherited descriptors (dash cannot): install bash or busybox',
  )
}
