import { readFile } from 'node:fs/promises'
import type { Pressure, StallTimes } from '../runtimes/runtime.ts'

const resources = ['cpu', 'memory', 'io'] as const
const nanosPerMicro = 1_000

/**
 * How much tasks have waited, as the kernel tells it (docs.kernel.org/accounting/psi.html). `fileOf` names the file of each resource; undefined where
 * none can be read.
 */
export async function readPressure(fileOf: (resource: string) => string): Promise<Pressure | undefined> {
  const found = await Promise.all(
    resources.map(async (resource) => {
      // A kernel without has no such files, or refuses to read them.
      const stalls = stallsIn(await readFile(fileOf(resource), 'utf8').catch(() => ''))
      return stalls === undefined ? [] : [[resource, stalls] as const]
    }),
  )
  const pressure = Object.fromEntries(found.flat())
  return Object.keys(pressure).length === 0 ? undefined : pressure
}

/** Of such a file. Older kernels say nothing of times in which no task got any CPU. */
export function stallsIn(text: string) {
  const some = stallTimes(text, 'some')
  return some && { some, full: stallTimes(text, 'full') ?? noStall }
}

function stallTimes(text: string, name: 'some' | 'full'): StallTimes | undefined {
  const pattern = new RegExp(`^${name} avg10=(\\S+) avg60=(\\S+) avg300=(\\S+) total=(\\d+)$`, 'm')
  const [, avg10, avg60, avg300, total] = (pattern.exec(text) ?? []).map(Number)
  if (avg10 === undefined || avg60 === undefined || avg300 === undefined || total === undefined) return undefined
  return { totalNs: total * nanosPerMicro, avg10, avg60, avg300 }
}

const noStall: StallTimes = { totalNs: 0, avg10: 0, avg60: 0, avg300: 0 }
