import { existsSync, readFileSync } from 'node:fs'
import { builtinControllers } from '@coracle/controllers'
import { expect, it } from 'vitest'
import { parityDocument } from './document.ts'
import { featureGates } from './feature-gates.ts'
import { controllers } from './upstream.ts'

it('says in docs/parity.md what is there (npm run parity writes it anew)', () => {
  expect(readFileSync(new URL('../../docs/parity.md', import.meta.url), 'utf8')).toBe(parityDocument())
})

it('lists every controller there is, but those that upstream has elsewhere: half of its binder, a part of its API server', () => {
  const listed = new Set(controllers.map(({ ours }) => ours))
  const others = builtinControllers.map(({ name }) => name).filter((name) => !listed.has(name))
  expect(others).toEqual(['persistent-volume-phase', 'custom-resource-definition'])
})

it('names files that are there', () => {
  const files = featureGates.flatMap(({ where = [] }) => where)
  expect(files.filter((each) => !existsSync(new URL(`../../${each}`, import.meta.url)))).toEqual([])
})
