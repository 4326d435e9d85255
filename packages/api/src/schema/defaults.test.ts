import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { deepFreeze } from '../freeze.ts'
import { arbitraryOf } from '../testing/arbitrary.ts'
import { widget } from '../testing/sample-kind.ts'
import { compile } from './compile.ts'

const { applyDefaults } = compile(widget)
const object = { apiVersion: 'example.test/v1', kind: 'Widget', metadata: {} }

it('fills in what is absent, also in lists and objects that are there', () => {
  const given = { ...object, spec: { parts: [{ name: 'a', ports: [{ number: 80 }] }], strategy: { rolling: {} } } }
  expect(applyDefaults(given).spec).toEqual({
    replicas: 1,
    parts: [{ name: 'a', ports: [{ number: 80, protocol: 'TCP' }] }],
    strategy: { type: 'Rolling', rolling: { surge: '25%' } },
  })
})

it('keeps what is there, zero included, but takes an empty string for absence', () => {
  const strategy = { type: '', rolling: { surge: 0 } }
  expect(applyDefaults({ ...object, spec: { replicas: 0, parts: [], strategy } }).spec).toEqual({
    replicas: 0,
    parts: [],
    strategy: { type: 'Rolling', rolling: { surge: 0 } },
  })
})

it('does not make objects only to fill them', () => {
  expect(applyDefaults(object)).toBe(object)
})

it('keeps the order of the schema', () => {
  const made = applyDefaults({ ...object, spec: { parts: [], paused: true } })
  expect(Object.keys(made.spec ?? {})).toEqual(['replicas', 'parts', 'paused'])
})

it('changes nothing the second time', () => {
  fc.assert(
    fc.property(arbitraryOf(widget), (value) => {
      const once = deepFreeze(applyDefaults(deepFreeze(value)))
      expect(applyDefaults(once)).toBe(once)
    }),
    { numRuns: 50 },
  )
})
