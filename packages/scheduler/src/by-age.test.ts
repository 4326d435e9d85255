import type { Pod } from '@coracle/api'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ByAge } from './by-age.ts'
import { makePod } from './testing/objects.ts'

const aged = (name: string, second: number): Pod => {
  const { metadata, ...pod } = makePod({}, name)
  return { ...pod, metadata: { ...metadata, creationTimestamp: `2026-01-01T00:00:0${second}Z` } }
}

it('has pods from the oldest to the youngest, and those of one second by name, however they come and go', () => {
  const pods = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name, index) => ({ pod: aged(name, (index * 3) % 4) }))
  const inOrder = pods.toSorted((a, b) => {
    const [one, two] = [a, b].map(({ pod: { metadata } }) => `${metadata.creationTimestamp} ${metadata.name}`)
    return (one ?? '') < (two ?? '') ? -1 : 1
  })
  const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(pods.length - 1)))
  fc.assert(
    fc.property(steps, (tried) => {
      const list = new ByAge<{ readonly pod: Pod }>()
      const inside = new Set<{ readonly pod: Pod }>()
      for (const [comes, index] of tried) {
        const item = pods[index] as { readonly pod: Pod }
        if (comes && !inside.has(item)) {
          list.add(item)
          inside.add(item)
        } else if (!comes) {
          list.delete(item)
          inside.delete(item)
        }
        const expected = inOrder.filter((each) => inside.has(each))
        expect([...list]).toEqual(expected)
        expect(list.oldest).toBe(expected[0])
        expect(list.first(2)).toEqual(expected.slice(0, 2))
      }
    }),
  )
})
