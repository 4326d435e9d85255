import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapList, object, optional, setList, string } from '../schema/builders.ts'
import type { Schema } from '../schema/schema.ts'
import { ownersAfterAlike, ownersAfterRecent, rememberedUpdatesMax, sharesFields } from './alike-updates.ts'
import { differenceSteps } from './difference.ts'
import { recordUpdate, recordUpdateAnew } from './field-manager.ts'
import { noFields } from './field-set.ts'
import { isShared } from './interned-sets.ts'
import { managedFieldsOf, managedFieldsText } from './managed-fields.ts'
import { atTime, type FieldOwners, type Manager, type Versions } from './ownership.ts'

const item = object('', '', { name: optional(string(), ''), value: optional(string(), '') })
const schema: Schema = object('', '', {
  phase: optional(string(), ''),
  tags: optional(setList(string()), ''),
  addresses: optional(mapList(item, ['name']), ''),
})
const versions: Versions = { schemaOf: () => schema, convert: (value) => value }

const manager = (name: string): Manager => ({ name, operation: 'Update', apiVersion: 'v1', subresource: '' })
const [controller, node] = [manager('controller'), manager('node')]

interface Value {
  readonly phase?: string
  readonly tags?: readonly string[]
  readonly addresses?: readonly { readonly name: string; readonly value?: string }[]
}

/** One list: what owners become is known by the list they were. */
const nobody: FieldOwners = []

/** Owners of an object that has gone through these states, and the last state. */
class Lived {
  value: Value = {}
  owners: FieldOwners = nobody

  become(value: Value, by: Manager, time: string, record = recordUpdate): void {
    const change = { before: this.value, after: value, owners: this.owners, manager: by, versions }
    this.owners = record(change, time)
    this.value = value
  }
}

describe('updates that are alike', () => {
  it('leave owners as each update for itself does, whatever was met before', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'line\nbreak', '#0', '{"x":1}')
    const value: fc.Arbitrary<Value> = fc.record(
      {
        phase: fc.constantFrom('x', 'y'),
        tags: fc.uniqueArray(name, { maxLength: 3 }),
        addresses: fc.uniqueArray(fc.record({ name, value: fc.constantFrom('1', '2') }), {
          maxLength: 3,
          selector: (each) => each.name,
        }),
      },
      { requiredKeys: [] },
    )
    const step = fc.record({
      which: fc.integer({ min: 0, max: 2 }),
      value,
      by: fc.constantFrom(controller, node),
      time: fc.constantFrom('t1', 't2', 't3', 't4'),
      suffix: fc.integer({ min: 0, max: 50 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const [remembering, anew] = [new Map<number, Lived>(), new Map<number, Lived>()]
        for (const { which, value, by, time, suffix } of steps) {
          // Some names are an object's own, others come in all of them.
          const own = { ...value, ...(value.tags && { tags: [...value.tags, `own-${suffix}`] }) }
          for (const [lives, record] of [
            [remembering, recordUpdate],
            [anew, recordUpdateAnew],
          ] as const) {
            const lived = lives.get(which) ?? new Lived()
            lives.set(which, lived)
            lived.become(own, by, time, record)
          }
          const [{ owners = [] } = {}, { owners: expected = [] } = {}] = [remembering.get(which), anew.get(which)]
          // Before anybody has asked for the fields.
          const [text, areShared] = [managedFieldsText(owners), owners.map(sharesFields)]
          expect(text).toBe(JSON.stringify(managedFieldsOf(expected)))
          expect(JSON.stringify(managedFieldsOf(owners))).toBe(text)
          expect(owners.map(({ fields }) => isShared(fields))).toEqual(areShared)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('are judged once, whatever the names of elements that are each object’s own', () => {
    let judged = 0
    const record = (owners: FieldOwners) => {
      judged += 1
      return [...owners, { ...node, time: 't', fields: { 'f:addresses': { 'k:#0': noFields } } }]
    }
    const owned = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((address) => {
      const steps = differenceSteps(schema, {}, { addresses: [{ name: address }] })
      return ownersAfterAlike(nobody, { schema, steps, manager: node, time: 't' }, record)
    })
    expect(judged).toBe(1)
    expect(owned.map(([owner]) => Object.keys(owner?.fields['f:addresses'] ?? {}))).toEqual([
      ['k:{"name":"10.0.0.1"}'],
      ['k:{"name":"10.0.0.2"}'],
      ['k:{"name":"10.0.0.3"}'],
    ])
  })

  it('are not looked into where one of the last had the same steps and hit the same owners at the same time', () => {
    let looked = 0
    const after = (value: Value, by: Manager, time: string, owners = nobody): FieldOwners => {
      const change = { before: {}, after: value, owners, manager: by }
      return ownersAfterRecent(schema, change, time, () => {
        looked += 1
        return recordUpdate({ ...change, versions }, time)
      })
    }
    const first = after({ phase: 'x' }, controller, 't1')
    expect([after({ phase: 'y' }, controller, 't1'), looked]).toEqual([first, 1])
    after({ phase: 'y', tags: [] }, controller, 't1')
    after({ phase: 'y' }, node, 't1')
    expect(after({ phase: 'y' }, controller, 't1')).toBe(first)
    expect(looked).toBe(3)
    expect(after({ phase: 'y' }, controller, 't2')[0]?.time).toBe('t2')
    after({ phase: 'y' }, controller, 't2', first)
    expect(looked).toBe(5)
  })

  it('are judged once, whenever they happen', () => {
    let judged = 0
    const scheduler = manager('scheduler')
    const becoming = (value: Value, before: Value, owners: FieldOwners, time: string) => {
      const change = { before, after: value, owners, manager: scheduler, versions }
      const steps = differenceSteps(schema, before, value)
      return ownersAfterAlike(owners, { schema, steps, manager: scheduler, time }, (alike) => {
        judged += 1
        return recordUpdateAnew({ ...change, owners: alike }, time)
      })
    }
    const lives = ['01', '02', '03'].map((day) => {
      const made = becoming({ phase: 'begun' }, {}, nobody, `${day}T00`)
      const ended = becoming({ phase: 'over' }, { phase: 'begun' }, made, `${day}T01`)
      return becoming({ phase: 'gone' }, { phase: 'over' }, ended, `${day}T02`)
    })
    expect(lives.map(([owner]) => owner?.time)).toEqual(['01T02', '02T02', '03T02'])
    // What a manager owns and changes again stays its own: all changes after the first are one.
    expect(judged).toBe(2)
  })

  it('are told apart by who makes them', () => {
    const first = manager('first')
    const others: readonly Manager[] = [
      { ...first, name: 'other' },
      { ...first, operation: 'Apply' },
      { ...first, apiVersion: 'v2' },
      { ...first, subresource: 'status' },
    ]
    for (const by of [first, ...others, first]) {
      const lived = new Lived()
      lived.become({ phase: 'x' }, by, '2026-01-01T00:00:00Z')
      expect(lived.owners.map(({ fields: _fields, time: _time, ...who }) => who)).toEqual([by])
    }
  })

  it('are told apart by their schema', () => {
    const asked = (under: Schema): number => {
      let count = 0
      const update = { schema: under, steps: ['+f:only-here'], manager: controller, time: '2026-01-01T00:00:00Z' }
      ownersAfterAlike(nobody, update, (_owners, { added }) => {
        count += 1
        return [{ ...controller, fields: added, time: update.time }]
      })
      return count
    }
    expect([asked(schema), asked(schema), asked(object('', '', {}))]).toEqual([1, 0, 1])
  })

  it('are told apart by whose time is earlier', () => {
    const shown = [
      ['t1', 't2'],
      ['t2', 't1'],
      ['t1', 't1'],
    ].map(([ofController = '', ofNode = '']) => {
      const lived = new Lived()
      lived.become({ phase: 'told' }, node, ofNode)
      lived.become({ phase: 'told', tags: ['apart'] }, controller, ofController)
      return lived.owners.map(({ name, time }) => `${name} ${time}`)
    })
    expect(shown).toEqual([
      ['controller t1', 'node t2'],
      ['node t1', 'controller t2'],
      ['controller t1', 'node t1'],
    ])
  })

  it('give objects owners that share all but what names their own elements', () => {
    const live = (address: string): FieldOwners => {
      const lived = new Lived()
      lived.become({ phase: 'x', tags: ['common'] }, controller, 't1')
      lived.become({ phase: 'x', tags: ['common'], addresses: [{ name: address }] }, node, 't2')
      lived.become({ phase: 'y', tags: ['common'], addresses: [{ name: address, value: '1' }] }, node, 't3')
      return lived.owners
    }
    live('10.1.0.0')
    const [one, other] = [live('10.1.0.1'), live('10.1.0.2')]
    expect(one[0]).toBe(other[0])
    expect(one.every(sharesFields)).toBe(true)
    expect(one[1]?.fields).not.toEqual(other[1]?.fields)
    expect(one.every(({ fields }) => isShared(fields))).toBe(true)
  })

  it('give no object a getter of its own for what names its elements', () => {
    const lived = new Lived()
    lived.become({ phase: 'x', addresses: [{ name: '10.4.0.1' }] }, node, 't1')
    const [owner] = lived.owners
    expect(Object.keys(owner?.fields['f:addresses'] ?? {})).toContain('k:{"name":"10.4.0.1"}')
    expect(Object.getOwnPropertyDescriptor(owner, 'fields')?.get).toBeUndefined()
  })

  it('leave owners what they own when only the time is another', () => {
    const lived = new Lived()
    lived.become({ phase: 'x', addresses: [{ name: '10.5.0.1' }] }, node, 't1')
    const later = lived.owners.map((owner) => atTime(owner, 't2'))
    expect(managedFieldsOf(later)).toEqual(managedFieldsOf(lived.owners).map((entry) => ({ ...entry, time: 't2' })))
  })

  it('give up their places with the elements that are gone', () => {
    const lived = new Lived()
    for (let round = 0; round < 2 * rememberedUpdatesMax; round += 1) {
      lived.become({ phase: 'x', addresses: [{ name: `10.2.${round >> 8}.${round & 255}` }] }, node, 't')
    }
    lived.become({ phase: 'x' }, node, 't')
    expect(managedFieldsOf(lived.owners)[0]?.fieldsV1).toEqual({ 'f:phase': {} })
  })

  it('take elements from owners that were read, and name them themselves', () => {
    const lived = new Lived()
    lived.value = { phase: 'x', addresses: [{ name: '10.3.0.1' }] }
    const element = { 'k:{"name":"10.3.0.1"}': { '.': noFields, 'f:name': noFields } }
    lived.owners = [{ ...node, time: 't1', fields: { 'f:addresses': element, 'f:phase': noFields } }]
    lived.become({ phase: 'x' }, controller, 't2')
    expect(managedFieldsOf(lived.owners).map(({ fieldsV1 }) => fieldsV1)).toEqual([{ 'f:phase': {} }])
  })
})
