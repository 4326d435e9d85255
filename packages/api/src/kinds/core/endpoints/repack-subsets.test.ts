import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EndpointSubset } from './endpoints.ts'
import { repackSubsets } from './repack-subsets.ts'

const http = { name: 'http', port: 80, protocol: 'TCP' as const }
const admin = { name: 'admin', port: 81, protocol: 'TCP' as const }
const [a, b] = [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }]

describe('subsets', () => {
  it.each<readonly [string, readonly EndpointSubset[], readonly EndpointSubset[]]>([
    [
      'with the same ports become one',
      [
        { addresses: [b], ports: [http] },
        { addresses: [a], ports: [http] },
      ],
      [{ addresses: [a, b], ports: [http] }],
    ],
    [
      'with the same addresses become one',
      [
        { addresses: [a], ports: [http] },
        { addresses: [a], ports: [admin] },
      ],
      [{ addresses: [a], ports: [http, admin] }],
    ],
    [
      'that share some addresses are as many as there are sets of addresses',
      [
        { addresses: [a, b], ports: [http] },
        { addresses: [a], ports: [admin] },
      ],
      [
        { addresses: [a], ports: [admin] },
        { addresses: [a, b], ports: [http] },
      ],
    ],
    [
      'that say of an address that it is ready and that it is not say that it is not',
      [
        { addresses: [a], ports: [http] },
        { notReadyAddresses: [a], ports: [http] },
      ],
      [{ notReadyAddresses: [a], ports: [http] }],
    ],
    [
      'without ports are one too',
      [{ addresses: [a] }, { notReadyAddresses: [b] }],
      [{ addresses: [a], notReadyAddresses: [b] }],
    ],
    [
      'without ports stay apart from those with',
      [{ addresses: [a] }, { addresses: [a], ports: [http] }],
      [{ addresses: [a] }, { addresses: [a], ports: [http] }],
    ],
    ['without addresses are left to be refused', [{ ports: [http] }], [{ ports: [http] }]],
  ])('%s', (_, given, expected) => {
    expect(repackSubsets(given)).toEqual(expected)
  })

  const address = fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3').map((ip) => ({ ip }))
  const port = fc.constantFrom(80, 81, 82).map((number) => ({ port: number, protocol: 'TCP' as const }))
  const subset = fc.record({
    addresses: fc.array(address, { minLength: 1, maxLength: 3 }),
    notReadyAddresses: fc.array(address, { maxLength: 2 }),
    ports: fc.array(port, { maxLength: 3 }),
  })
  /** Who is reached where. */
  const reached = (subsets: readonly EndpointSubset[], of: 'addresses' | 'notReadyAddresses') =>
    new Set(
      subsets.flatMap((each) =>
        (each[of] ?? []).flatMap(({ ip }) =>
          (each.ports?.length ? each.ports : [{ port: 0 }]).map((at) => `${ip} ${at.port}`),
        ),
      ),
    )

  it('lead to the same places afterwards, and stay as they are the second time', () => {
    fc.assert(
      fc.property(fc.array(subset, { maxLength: 4 }), (given) => {
        const repacked = repackSubsets(given)
        const notReady = reached(given, 'notReadyAddresses')
        const ready = [...reached(given, 'addresses')].filter((each) => !notReady.has(each))
        expect(reached(repacked, 'notReadyAddresses')).toEqual(notReady)
        expect(reached(repacked, 'addresses')).toEqual(new Set(ready))
        expect(repackSubsets(repacked)).toBe(repacked)
      }),
    )
  })
})
