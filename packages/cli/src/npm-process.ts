import type { Clock, Timer } from '@coracle/environment'
import { type HostProcesses, hostProcesses } from './host-processes.ts'

/** The npm (or pnpm, or yarn) that runs this process, as `npm start` and `npx coracle` do, with a shell between them or not. */
export interface NpmProcess {
  readonly pid: number
  isAlive(): boolean
}

/** Between a script of npm and what it runs in the end stand so many processes at most: shells, test runners, their workers. */
const ancestorsMax = 16
/** How soon it is noticed that npm has ended. */
const checkEveryMs = 500

/**
 * The nearest npm that this process comes from; undefined without one. A process in a session of its own was detached on
 * purpose (`setsid`) from whatever started it, and belongs to no npm.
 */
export function npmProcess(
  variables: Readonly<Record<string, string | undefined>>,
  pid: number = process.pid,
  processes: Pick<HostProcesses, 'read' | 'isAlive'> = hostProcesses,
): NpmProcess | undefined {
  // What npm runs knows of it by this. Elsewhere nobody is looked at.
  if (variables.npm_execpath === undefined && variables.npm_lifecycle_event === undefined) return undefined
  const own = processes.read(pid)
  let current = own
  for (let distance = 0; current !== undefined && distance < ancestorsMax; distance++) {
    const ancestor = processes.read(current.parent)
    if (ancestor === undefined || ancestor.session !== own?.session) return undefined
    if (isNpm(ancestor.command)) return { pid: ancestor.pid, isAlive: () => processes.isAlive(ancestor) }
    current = ancestor
  }
  return undefined
}

/** Calls `onEnd` once when npm has ended: nobody stops it in order then who still knows this process. Returns what ends the watch. */
export function onNpmEnd(clock: Clock, npm: NpmProcess, onEnd: () => void): () => void {
  let timer: Timer
  const check = () => {
    if (npm.isAlive()) timer = clock.setTimer(checkEveryMs, check)
    else onEnd()
  }
  timer = clock.setTimer(checkEveryMs, check)
  return () => timer.cancel()
}

/** npm calls itself `npm start`, whatever it was run as; others are scripts that Node.js runs: `node /usr/bin/yarn start`. */
function isNpm(command: string): boolean {
  const [program = '', script = ''] = command.split(/[ \0]/)
  return packageManager.test(program) || (/(^|\/)node$/.test(program) && packageManager.test(script))
}

const packageManager = /(^|\/)(npm|npx|pnpm|pnpx|yarn|yarnpkg)(-cli)?(\.[cm]?js)?$/
