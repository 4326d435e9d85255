import { accessSync, constants } from 'node:fs'
import type { Command } from './command.ts'

/**
 * The same command with a pipe without a name for its input, which `cat` fills from the named one. Who opens `/dev/stdin` would
 * wait for ever on a named pipe that nobody writes any more. Such a pipe takes a system call that Node.js does not have, but bash
 * has; without bash the command is left as it is.
 */
export function withInputPipe(command: Command): Command {
  found ??= shells.find(isExecutable) ?? ''
  if (found === '') return command
  // -p: what the container's BASH_ENV names is for shells of its own.
  return { ...command, argv: [found, '-p', '-c', 'exec "$@" < <(exec cat)', 'coracle-input', ...command.argv] }
}

const shells = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash']

/** '' where there is none. */
let found: string | undefined

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
