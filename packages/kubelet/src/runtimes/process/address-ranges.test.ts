import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { parseCidr, parseIp, rangeContains } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostServiceCidr, nodeRangesMax } from './address-ranges.ts'

/** The first address of the nth node of a data directory. */
function podAddress(directory: string, node: number): string {
  const first = createHash('sha256').update(resolve(directory)).digest().readUInt32BE()
  const index = (first + node) % nodeRangesMax
  return `127.${1 + Math.floor(index / 256)}.${index % 256}.1`
}

describe.skipIf(process.platform !== 'linux')(
  'the range of services on this host',
  { meta: { needs: 'Linux' } },
  () => {
    it('is loopback, the same each time, and none of the pods’ of the same data directory', () => {
      fc.assert(
        fc.property(fc.string(), (directory) => {
          const cidr = hostServiceCidr(directory) ?? ''
          expect(cidr).toMatch(/^127\.\d+\.\d+\.0\/20$/)
          expect(hostServiceCidr(directory)).toBe(cidr)
          const range = parseCidr(cidr)
          const [first, second] = cidr.split('.').map(Number)
          expect([first, (second ?? 0) >= 1 && (second ?? 0) <= 254]).toEqual([127, true])
          for (const node of [0, 1, 63, 1000]) {
            const ip = parseIp(podAddress(directory, node))
            expect(range && ip && rangeContains(range, ip)).toBe(false)
          }
        }),
      )
    })

    it('differs from directory to directory', () => {
      const ranges = new Set(Array.from({ length: 100 }, (_, index) => hostServiceCidr(`/data/${index}`)))
      expect(ranges.size).toBeGreaterThan(90)
    })
  },
)
