import { existsSync, readFileSync } from 'node:fs'
import { builtinControllers } from '@coracle/controllers'
import { expect, it } from 'vitest'
import { parityDocument } from './document.ts'
import { controllerEvents } from './events.ts'
import { featureGates } from './feature-gates.ts'
import { controllers } from './upstream.ts'
import { generallyAvailableGates } from './upstream-gates.ts'

it('says in docs/parity.md what is there (npm run parity writes it anew)', () => {
  expect(readFileSync(new URL('../../docs/parity.md', import.meta.url), 'utf8')).toBe(parityDocument())
})

it('lists every controller there is, but those that upstream has elsewhere: halves of its binder and of its claims, a part of its API server, what it leaves to people', () => {
  const listed = new Set(controllers.map(({ ours }) => ours))
  const others = builtinControllers.map(({ name }) => name).filter((name) => !listed.has(name))
  expect(others).toEqual([
    'persistent-volume-phase',
    'resource-claim-templates',
    'custom-resource-definition',
    'kubelet-serving-approving-controller',
  ])
})

it('lists every feature gate that is generally available upstream, and since when', () => {
  const listed = Object.fromEntries(featureGates.map(({ name, since }) => [name, since]))
  expect(listed).toEqual(generallyAvailableGates)
})

it('names files that are there', () => {
  const files = featureGates.flatMap(({ where = [] }) => where)
  expect(files.filter((each) => !existsSync(new URL(`../../${each}`, import.meta.url)))).toEqual([])
})

it('finds the reason and the words of each event where it says', () => {
  const missing = controllerEvents.flatMap(({ where, reason, message }) => {
    if (where === undefined) return []
    const text = readFileSync(new URL(`../../${where}`, import.meta.url), 'utf8')
    const words = text.replaceAll(/['`"\\]|\s*\+\n\s*/g, '')
    // Short stretches between places that are filled in are found anywhere: they prove nothing.
    const stretches = message.split('…').map((each) => each.replaceAll(/['"]/g, '').trim())
    return [reason, ...stretches.filter((each) => each.length > 12)]
      .filter((each) => !words.includes(each))
      .map((each) => `${where}: ${each}`)
  })
  expect(missing).toEqual([])
})
