import { namespaces } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment, Timer } from '@coracle/environment'
import type { Host } from '../host.ts'

/** What is told by: util of systemd, on every host that has it. Node.js has no sockets of the kind that systemd listens on. */
const program = 'systemd-notify'

/** The service manager that has started this process and wants to hear of it, as sd_notify(3) has it: systemd. */
export interface ServiceManager {
  /** Tells that the service is ready, and from then on that it is well, as often as the manager wants to hear of that. */
  ready(status: string): Promise<void>
  stopping(): Promise<void>
}

type ServiceHost = Pick<Host, 'variables' | 'runProgram' | 'stderr'> & {
  readonly environment: Pick<Environment, 'clock'>
}

export interface ServiceProcess {
  readonly pid: number
  readonly ppid: number
  /** Rejects where the process runs and does not do its work. */
  check(): Promise<unknown>
}

/**
 * The manager that `NOTIFY_SOCKET` names. A process that is told to, by `WATCHDOG_USEC`, says twice in that time that it is well: one that
 * hangs, or whose check fails or takes too long, is silent, and is restarted. What cannot be told is said once on standard error, and ends nothing.
 */
export function serviceManager(host: ServiceHost, service: ServiceProcess): ServiceManager {
  const { environment, variables, stderr } = host
  let timer: Timer | undefined
  let isStopping = false
  let hasFailed = false

  const tell = async (...messages: readonly string[]): Promise<void> => {
    // The process may be a child of the one that was started, as under npm: from now on it is the one that counts.
    const why = await host.runProgram(program, [`--pid=${service.pid}`, ...messages], true).then(
      ({ code, stderr: said }) => (code === 0 ? undefined : said.trim() || `${program} ended with ${code}`),
      (error: unknown) => String(error instanceof Error ? error.message : error),
    )
    if (why === undefined || hasFailed) return
    hasFailed = true
    stderr.write(`warning: the service manager is not told how this process is: ${why}\n`)
  }

  const watch = (everyMs: number): void => {
    timer = environment.clock.setTimer(everyMs, () => void look(everyMs), { housekeeping: true })
  }
  const look = async (everyMs: number): Promise<void> => {
    const problem = await service.check().then(
      () => undefined,
      (error: unknown) => error,
    )
    if (isStopping) return
    if (problem === undefined) await tell('WATCHDOG=1')
    else stderr.write(`warning: not well, and the service manager is not told otherwise: ${problem}\n`)
    if (!isStopping) watch(everyMs)
  }

  return {
    async ready(status) {
      await tell('READY=1', `STATUS=${status}`)
      const everyMs = watchdogMs(variables, service)
      if (everyMs !== undefined && !isStopping) watch(everyMs)
    },
    async stopping() {
      isStopping = true
      timer?.cancel()
      await tell('STOPPING=1')
    },
  }
}

/** That of this process, which is well as long as its event loop turns and its API server, where it has one, answers. */
export const ownServiceManager = (host: ServiceHost, client?: Client): ServiceManager =>
  serviceManager(host, {
    pid: process.pid,
    ppid: process.ppid,
    check: async () => client?.get(namespaces, { name: 'kube-system' }),
  })

/** How often a process has to tell that it is well: at half of the time after which it is taken for hung. */
function watchdogMs(variables: Host['variables'], { pid, ppid }: ServiceProcess): number | undefined {
  const { WATCHDOG_USEC: microseconds = '', WATCHDOG_PID: watched } = variables
  const isWatched = watched === undefined || [pid, ppid].map(String).includes(watched)
  if (!isWatched || !/^[1-9]\d{0,15}$/.test(microseconds)) return undefined
  return Number(microseconds) / 2000
}
