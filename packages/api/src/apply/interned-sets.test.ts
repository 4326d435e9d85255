import { describe, expect, it } from 'vitest'
import type { FieldSet } from './field-set.ts'
import { fieldsText, interned, internedFieldSetsMax, isShared } from './interned-sets.ts'

const containers = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f:${index}`, {}]))
/** What a node owns of a pod. */
const podSet = (ip: string): FieldSet =>
  structuredClone({ 'f:status': { 'f:containers': containers, 'f:podIPs': { [`k:{"ip":"${ip}"}`]: { '.': {} } } } })

describe('interned sets of fields', () => {
  it('are one object where they hold the same', () => {
    expect(interned(podSet('10.0.0.1'))).toBe(interned(podSet('10.0.0.1')))
    expect(fieldsText(interned(podSet('10.0.0.1')))).toBe(JSON.stringify(podSet('10.0.0.1')))
  })

  it('share the parts that are the same', () => {
    const [a, b] = [interned(podSet('10.0.1.1')), interned(podSet('10.0.1.2'))]
    expect(a).not.toBe(b)
    expect(b).toEqual(podSet('10.0.1.2'))
    expect(b['f:status']?.['f:containers']).toBe(a['f:status']?.['f:containers'])
  })

  it('are told from those that hold much of their own', () => {
    const lonely = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f:${prefix}${index}`, { '.': {}, 'f:x': {} }]))
    const nested = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`f:lonely${index}`, { [`f:own${index}`]: {} }]),
    )
    expect(isShared(podSet('10.0.2.1'))).toBe(false)
    expect([isShared(interned(podSet('10.0.2.1'))), isShared(interned(podSet('10.0.2.2')))]).toEqual([true, true])
    expect(isShared(interned(lonely('a')))).toBe(true)
    expect(isShared(interned(nested))).toBe(false)
    expect(isShared(interned(structuredClone(nested)))).toBe(true)
  })

  it('are bounded: those that have not come for long are interned anew', () => {
    const first = interned(podSet('10.0.3.1'))
    for (let index = 0; index < internedFieldSetsMax; index += 1) interned({ [`f:${index}`]: { 'f:bounded': {} } })
    expect(interned(podSet('10.0.3.1'))).not.toBe(first)
    expect(interned(podSet('10.0.3.1'))).toEqual(first)
  })
})
