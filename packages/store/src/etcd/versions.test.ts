import { expect, it } from 'vitest'
import { tellsProgress } from './versions.ts'

it.each([
  ['3.3.27', false],
  ['3.4.24', false],
  ['3.4.25', true],
  ['3.5.7', false],
  ['3.5.8', true],
  ['3.5.10', true],
  ['3.6.0-rc.1', true],
  ['4.0.0', true],
  ['', false],
])('etcd %s tells how far a watch is after what came before: %s', (version, tells) => {
  expect(tellsProgress(version)).toBe(tells)
})
