import { CliError } from '../cli-error.ts'

export interface StartFlags {
  readonly dataDir: string
  readonly listen: string
  readonly port: number
}

/** Why a cluster did not start, in one line that says what to do; any other error as it is. */
export function explainStartFailure(error: unknown, { dataDir, listen, port }: StartFlags): unknown {
  if (!(error instanceof Error)) return error
  const { code, syscall } = error as NodeJS.ErrnoException
  if (error.name === 'DirectoryInUseError' && 'owner' in error) {
    return new CliError(
      `${dataDir} is in use by ${error.owner}: stop that, or choose another directory with --data-dir`,
    )
  }
  if (explained.has(error.name)) return new CliError(error.message)
  if (error.name === 'StoreDamagedError') {
    return new CliError(
      `${error.message}; \`coracle doctor --data-dir ${dataDir}\` says more, and with --repair goes on without what is damaged`,
    )
  }
  switch (code) {
    case 'EADDRINUSE':
      return new CliError(`port ${port} of ${listen} is in use: choose another with --port (0 picks a free one)`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CliError(`${listen} is no address of this machine: choose one with --listen`)
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'EEXIST':
    case 'ENOTDIR':
    case 'ENOENT':
    case 'ENOSPC':
      return syscall === 'listen'
        ? new CliError(`port ${port} needs rights that this user lacks: choose another with --port`)
        : new CliError(`cannot write to ${dataDir} (${reasons[code]}): choose another directory with --data-dir`)
    default:
      return error
  }
}

/** Errors whose message says what to do. */
const explained = new Set(['DirectoryLockError', 'StoreMissingError', 'StoreUnavailableError'])

const reasons = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EEXIST: 'it is a file',
  ENOTDIR: 'part of the path is a file',
  ENOENT: 'no directory can be made there',
  ENOSPC: 'the disk is full',
} as const
