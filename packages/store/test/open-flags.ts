import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** The flags with which this process has the files of a directory open, by their names; only Linux tells. */
export function openFlags(directory: string): Map<string, number> {
  const flags = new Map<string, number>()
  for (const fd of readdirSync('/proc/self/fd')) {
    const path = readLink(`/proc/self/fd/${fd}`)
    if (path === undefined || dirname(path) !== directory) continue
    const [, octal = '0'] = /flags:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? []
    flags.set(basename(path), Number.parseInt(octal, 8))
  }
  return flags
}

/** Undefined for a descriptor that is closed by now. */
function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
