import { execFile } from 'node:child_process'
import type { TerminalSize } from '@coracle/client/streaming'
import type { Command } from './command.ts'
import { asItsUser } from './process-user.ts'
import { utilLinuxProgram } from './util-linux.ts'

/** Which terminal a command has, and the process that leads its session there. */
export interface Terminal {
  readonly path: string
  readonly pid: number
}

/** Where `script` is on systems that have it. */
const scriptPrograms: readonly string[] = ['/usr/bin/script', '/bin/script']

/**
 * The same command on a terminal of its own, made by `script` of util-linux: to give a process a terminal takes system calls
 * that Node.js does not have. Its input and output become the terminal's; which one that is it writes to `reportPath`.
 * Throws where this host has no such program.
 */
export function onTerminal(
  command: Command,
  reportPath: string,
  size?: TerminalSize,
  programs: readonly string[] = scriptPrograms,
): Command {
  const script = utilLinuxProgram(programs)
  if (script === undefined) {
    throw new Error(
      'a terminal (tty) needs the program "script" of util-linux on this host: install util-linux, or leave the terminal out (-t)',
    )
  }
  const { directory, argv, env: all, user } = asItsUser(command)
  const { SHELL: shell, TERM: term = 'xterm', ...env } = all
  const restored = shell === undefined ? ['-u', 'SHELL'] : [`SHELL=${shell}`]
  const sides = size === undefined ? '' : `rows ${size.height} cols ${size.width}`
  const owner = user === undefined ? '' : `${user.uid}:${user.gid}`
  const inner = ['/bin/sh', '-c', terminalScript, reportPath, sides, owner, '/usr/bin/env', ...restored, ...argv]
  return {
    directory,
    // `script` runs its command by the shell that this names.
    env: { ...env, TERM: term, SHELL: '/bin/sh' },
    argv: [script, '-qefc', `exec ${inner.map(quoted).join(' ')}`, '/dev/null'],
  }
}

/** What `onTerminal` has a command report. Undefined where that is not complete. */
export function parseTerminal(report: string): Terminal | undefined {
  const [, path, pid] = /^(\/dev\/\S+) (\d+)\n$/.exec(report) ?? []
  return path === undefined ? undefined : { path, pid: Number(pid) }
}

/** Makes a terminal this large; who runs on it is told by the system (SIGWINCH). What has gone is left alone. */
export function resizeTerminal({ path }: Terminal, { width, height }: TerminalSize): Promise<void> {
  const which = process.platform === 'darwin' ? '-f' : '-F'
  return new Promise((resolve) => {
    execFile('stty', [which, path, 'rows', String(height), 'cols', String(width)], () => resolve())
  })
}

/**
 * $0 is where the report goes, $1 the size as `stty` takes it, $2 whose the terminal is to be, where it is another's, the rest the command. `script` turns the echo off, since its
 * own input is no terminal.
 */
const terminalScript =
  'stty echo $1; [ -z "$2" ] || chown "$2" "$(tty)"; shift 2; printf "%s %s\\n" "$(tty)" "$$" >"$0"; exec "$@"'

/** A word of a shell script. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
