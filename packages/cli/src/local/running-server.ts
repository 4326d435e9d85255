import { type DirectoryOwner, directoryOwner } from '@coracle/store'
import type { HostProcess, HostProcesses } from '../host-processes.ts'
import type { ClusterPlace } from './cluster-place.ts'

/** The process that has a data directory, as sure as it can be known. */
export type RunningServer =
  /** A process of this host: its id belongs to it, and to none that had it before. */
  | { readonly type: 'process'; readonly process: HostProcess }
  /** On another host, or in another container. */
  | { readonly type: 'elsewhere'; readonly host: string; readonly pid: number }
  /** Somebody has the directory, and cannot be told from others: as while it is only just taken. */
  | { readonly type: 'unknown' }

/** Who runs on the data directory of a cluster: undefined when nobody does, whatever is left there of who did. */
export function runningServer(
  { directory }: Pick<ClusterPlace, 'directory'>,
  processes: HostProcesses,
): RunningServer | undefined {
  const owner = directoryOwner(directory)
  return owner && identify(owner, processes)
}

function identify({ pid, host, started }: DirectoryOwner, processes: HostProcesses): RunningServer {
  if (pid === undefined) return { type: 'unknown' }
  if (host !== undefined) return { type: 'elsewhere', host, pid }
  const process = processes.read(pid)
  if (process === undefined || (started !== undefined && process.started !== started)) return { type: 'unknown' }
  return { type: 'process', process }
}
