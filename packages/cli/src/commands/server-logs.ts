import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { type ClusterPlace, type PlaceFlags, placeToFind } from '../local/cluster-place.ts'
import { runningServer } from '../local/running-server.ts'
import { pause } from '../pause.ts'
import { serverLogAsidePath, serverLogPath } from '../up/server-log.ts'

export interface ServerLogFlags extends PlaceFlags {
  readonly follow?: boolean
  /** Only so many last lines; below zero: all. */
  readonly tail?: number
}

/** How soon what is added is shown. */
const checkEveryMs = 200
const chunkBytes = 64 * 1024

/** `coracle server-logs`: what a detached server tells. Following ends with the server. */
export async function serverLogs(host: Host, flags: ServerLogFlags): Promise<void> {
  const place = placeToFind(host, flags)
  const path = serverLogPath(place.directory)
  const log = readLog(path)
  if (log === undefined) {
    throw new CliError(`no detached server has run in ${place.shown}: those alone write a log (coracle up --detach)`)
  }
  const aside = readLog(serverLogAsidePath(place.directory)) ?? Buffer.alloc(0)
  host.stdout.write(lastLines(Buffer.concat([aside, log]), flags.tail ?? -1))
  if (flags.follow === true) await follow(host, place, log.length)
}

async function follow(host: Host, place: ClusterPlace, start: number): Promise<void> {
  const path = serverLogPath(place.directory)
  let isEnded = false
  const stopListening = host.onInterrupt(() => {
    isEnded = true
  })
  try {
    for (let position = start; !isEnded; ) {
      // Asked first: what a server says at its very end is shown too.
      const isServed = runningServer(place, host.processes) !== undefined
      position = copyFrom(host, path, position)
      if (!isServed) return
      await host.stdout.drained()
      await pause(host, checkEveryMs)
    }
  } finally {
    stopListening()
  }
}

/** Prints what stands in a file from a position on, and returns where it ends. */
function copyFrom({ stdout }: Host, path: string, from: number): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  // It was put aside, and is begun anew.
  let position = size < from ? 0 : from
  if (position === size) return position
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.alloc(chunkBytes)
    for (let read = 1; read > 0; ) {
      read = readSync(file, chunk, 0, chunk.length, position)
      if (read > 0) stdout.write(Buffer.from(chunk.subarray(0, read)))
      position += read
    }
    return position
  } finally {
    closeSync(file)
  }
}

/** Whole: a log is bounded. */
function readLog(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

function lastLines(log: Buffer, count: number): string {
  const text = log.toString('utf8')
  if (count < 0) return text
  const lines = text.split('\n')
  // What follows the last line feed is no line.
  return lines.slice(Math.max(0, lines.length - 1 - count)).join('\n')
}
