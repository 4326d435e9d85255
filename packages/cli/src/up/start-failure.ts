import { isIPv6 } from 'node:net'
import { CliError } from '../cli-error.ts'
import type { HostProcess } from '../host-processes.ts'
import { type ClusterPlace, placeFlagText } from '../local/cluster-place.ts'
import { holderText } from './port-holder.ts'

export interface StartFlags {
  readonly place: ClusterPlace
  readonly listen: string
  readonly port: number
}

/** What is found out only where it is needed. */
export interface StartSurroundings {
  /** Who listens on a port. */
  portHolder(port: number): HostProcess | undefined
}

/** Why a cluster did not start, in one line that says what to do; any other error as it is. */
export function explainStartFailure(error: unknown, flags: StartFlags, { portHolder }: StartSurroundings): unknown {
  const { place, listen, port } = flags
  const dataDir = place.shown
  const elsewhere = `choose another directory with ${place.home === undefined ? '--data-dir' : '--data-dir or --name'}`
  if (!(error instanceof Error)) return error
  const { code, syscall } = error as NodeJS.ErrnoException
  if (error.name === 'DirectoryInUseError' && 'owner' in error) {
    return new CliError(
      `${dataDir} is in use by ${error.owner}: stop that with \`coracle down${placeFlagText(place)}\`, or ${elsewhere}`,
    )
  }
  if (explained.has(error.name)) return new CliError(error.message)
  if (error.name === 'StoreDamagedError') {
    return new CliError(
      `${error.message}; \`coracle doctor${placeFlagText(place)}\` says more, and with --repair goes on without what is damaged`,
    )
  }
  switch (code) {
    case 'EADDRINUSE':
      return new CliError(
        `port ${port} of ${listen} is in use${holderText(portHolder(port))}: stop that, or choose another with --port (0 picks a free one)`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CliError(`${listen} is no address of this machine: ${addressAdvice(listen)}`)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'EEXIST':
    case 'ENOTDIR':
    case 'ENOENT':
    case 'ENOSPC':
      return syscall === 'listen'
        ? new CliError(`port ${port} needs rights that this user lacks: choose another with --port`)
        : new CliError(`cannot write to ${dataDir} (${reasons[code]}): ${elsewhere}`)
    default:
      return error
  }
}

function addressAdvice(listen: string): string {
  const [, host, port] = /^\[?([^[\]]+?)\]?:(\d+)$/.exec(listen) ?? []
  if (host === undefined || (isIPv6(listen) && !listen.includes(']'))) return 'choose one with --listen'
  return `give its port apart, --listen ${host} --port ${port}`
}

/** Errors whose message says what to do. */
const explained = new Set([
  'CriRuntimeError',
  'DirectoryLockError',
  'StoreMissingError',
  'StoreUnavailableError',
  'UnknownAdmissionPluginError',
  'UnknownAuthorizationModeError',
  'UnknownFormatError',
])

const reasons = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EEXIST: 'it is a file',
  ENOTDIR: 'part of the path is a file',
  ENOENT: 'no directory can be made there',
  ENOSPC: 'the disk is full',
} as const
