import type { EndpointSubset } from '@coracle/api'
import { expect, it } from 'vitest'
import { truncated } from './truncation.ts'

/** A subset of so many ready addresses, and so many others, behind a port. */
const subset = ([ready, notReady, port]: readonly [number, number, number]): EndpointSubset => {
  const addresses = (count: number, from: string) =>
    Array.from({ length: count }, (_, index) => ({ ip: `10.${port}.${from}.${index}` }))
  return {
    ...(ready === 0 ? {} : { addresses: addresses(ready, '0') }),
    ...(notReady === 0 ? {} : { notReadyAddresses: addresses(notReady, '1') }),
    ports: [{ port, protocol: 'TCP' }],
  }
}

const counts = (subsets: readonly EndpointSubset[]) =>
  subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => [
    addresses.length,
    notReadyAddresses.length,
    ports[0]?.port,
  ])

type Counts = readonly (readonly [ready: number, notReady: number, port: number])[]

it.each<[string, Counts, Counts]>([
  ['one that is full', [[10, 0, 1]], [[10, 0, 1]]],
  ['one with too many', [[11, 0, 1]], [[10, 0, 1]]],
  ['ready ones before others', [[9, 5, 1]], [[9, 1, 1]]],
  [
    'no others where ready ones are too many',
    [
      [12, 5, 1],
      [0, 5, 2],
    ],
    [[10, 0, 1]],
  ],
  ['no others where ready ones fill it', [[10, 5, 1]], [[10, 0, 1]]],
  [
    'each subset its share',
    [
      [15, 0, 1],
      [5, 0, 2],
    ],
    [
      [8, 0, 1],
      [2, 0, 2],
    ],
  ],
  [
    'each subset its share of those that are not ready',
    [
      [4, 6, 1],
      [0, 6, 2],
    ],
    [
      [4, 3, 1],
      [0, 3, 2],
    ],
  ],
  [
    'the last subset what is left',
    [
      [5, 0, 1],
      [5, 0, 2],
      [5, 0, 3],
    ],
    [
      [4, 0, 1],
      [4, 0, 2],
      [2, 0, 3],
    ],
  ],
])('keeps %s', (_, of, kept) => {
  expect(counts(truncated(of.map(subset), 10))).toEqual(kept)
})

it('leaves what is few enough as it is', () => {
  const few = [subset([5, 5, 1])]
  expect(truncated(few, 10)).toBe(few)
})
