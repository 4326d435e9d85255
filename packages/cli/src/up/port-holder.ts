import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { HostProcess, HostProcesses } from '../host-processes.ts'

/** The state of a socket that waits for connections, in /proc/net/tcp. */
const listenState = '0A'

/**
 * The process that listens on a port of this machine. Undefined where it cannot be told: it is somebody else's, or the
 * system is not Linux.
 */
export function portHolder(port: number, processes: HostProcesses, proc = '/proc'): HostProcess | undefined {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((name) => listeningSockets(`${proc}/net/${name}`, port)))
  if (sockets.size === 0) return undefined
  const pid = namesIn(proc).find((name) => /^\d+$/.test(name) && holds(`${proc}/${name}/fd`, sockets))
  return pid === undefined ? undefined : processes.read(Number(pid))
}

/** Who holds a port, as the rest of a sentence: ` by process 42 (nginx)`. */
export function holderText(holder: HostProcess | undefined): string {
  if (holder === undefined) return ''
  const command = holder.command.replaceAll('\0', ' ').trim()
  return ` by process ${holder.pid} (${command.length > commandMax ? `${command.slice(0, commandMax)}…` : command})`
}

const commandMax = 60

/** Inodes of the sockets that listen on a port, as links name them. */
function listeningSockets(path: string, port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return readText(path)
    .split('\n')
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
      return state === listenState && local.endsWith(suffix) ? [`socket:[${inode}]`] : []
    })
}

/** Whether a process has one of the sockets open. Others' files cannot be seen, and processes end meanwhile. */
function holds(directory: string, sockets: ReadonlySet<string>): boolean {
  return namesIn(directory).some((name) => {
    try {
      return sockets.has(readlinkSync(`${directory}/${name}`))
    } catch {
      return false
    }
  })
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
