import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { objectOf } from './fields.ts'
import {
  afterApply,
  afterUpdate,
  conflictingContainers,
  conflictsOf,
  type FieldStates,
  ownedBefore,
  statesOf,
} from './model.ts'

const variable = '.spec.template.spec.containers[name="main"].env[name="A"].value'
const item = '.spec.template.spec.containers[name="main"].env[name="A"]'
const names = ['.data.a', '.data.b', variable]
const [anna, bert, controller] = ['Apply anna', 'Apply bert', 'Update controller'] as const

/** An object of which anna applied `a`, bert and anna `b`, and a controller wrote a variable. */
const object: KubernetesObject = objectOf(
  {
    metadata: {
      managedFields: [
        { manager: 'anna', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } },
        { manager: 'bert', operation: 'Apply', fieldsV1: { 'f:data': { 'f:b': {} } } },
        {
          manager: 'controller',
          operation: 'Update',
          fieldsV1: {
            'f:spec': {
              'f:template': {
                'f:spec': {
                  'f:containers': { 'k:{"name":"main"}': { 'f:env': { 'k:{"name":"A"}': { 'f:value': {} } } } },
                },
              },
            },
          },
        },
        { manager: 'anna', operation: 'Update', subresource: 'status', fieldsV1: { 'f:data': { 'f:a': {} } } },
      ],
    },
  },
  { '.data.a': '1', '.data.b': '1', [variable]: '1' },
)
const states = statesOf(object, names)

const with_ = (changes: FieldStates): FieldStates => ({ ...states, ...changes })

it('reads fields, and who owns them, along the names that refusals give them', () => {
  expect(states).toEqual({
    '.data.a': { value: '1', owners: [anna] },
    '.data.b': { value: '1', owners: [anna, bert] },
    [item]: { value: true, owners: [] },
    [variable]: { value: '1', owners: [controller] },
  })
})

describe('who applies', () => {
  it("is refused what is another's and would change", () => {
    const fields = { '.data.a': '2', '.data.b': '2', [variable]: '1' }
    expect(conflictsOf(states, 'anna', fields)).toEqual(['.data.b'])
    expect(conflictsOf(states, 'bert', fields)).toEqual(['.data.a', '.data.b'])
  })

  it('owns what it changes alone, and what it does not change with others', () => {
    expect(afterApply(states, 'bert', { '.data.a': '2', '.data.b': '1', [variable]: '1' })).toEqual({
      '.data.a': { value: '2', owners: [bert] },
      '.data.b': { value: '1', owners: [anna, bert] },
      [item]: { value: true, owners: [bert] },
      [variable]: { value: '1', owners: [bert, controller] },
    })
  })

  it('takes away what it alone has applied, and leaves out now', () => {
    expect(afterApply(states, 'anna', {})).toEqual(
      with_({ '.data.a': { value: undefined, owners: [] }, '.data.b': { value: '1', owners: [bert] } }),
    )
  })

  it('takes an item away with what others have changed in it', () => {
    const owned = with_({ [item]: { value: true, owners: [anna] } })
    expect(afterApply(owned, 'anna', {})).toMatchObject({
      [item]: { value: undefined },
      [variable]: { value: undefined, owners: [] },
    })
    const shared = with_({ [item]: { value: true, owners: [anna, bert] } })
    expect(afterApply(shared, 'anna', {})).toMatchObject({
      [item]: { value: true, owners: [bert] },
      [variable]: { value: '1', owners: [controller] },
    })
  })

  it('finds what nobody owned owned by who was there before', () => {
    const unowned = statesOf({ ...object, metadata: {} }, [...names, '.data.c'])
    expect(ownedBefore(unowned)['.data.a']?.owners).toEqual(['Update before-first-apply'])
    expect(ownedBefore(unowned)['.data.c']?.owners).toEqual([])
  })
})

it('gives a field to who changes it without applying it, and takes it from all where it goes', () => {
  expect(afterUpdate(states, 'controller', { '.data.a': '1', '.data.b': '2', [variable]: null })).toEqual({
    '.data.a': { value: '1', owners: [anna] },
    '.data.b': { value: '2', owners: [controller] },
    [item]: { value: true, owners: [] },
    [variable]: { value: undefined, owners: [] },
  })
})

it('who wrote a map first still owns it when it has gone with the last that was in it', () => {
  const fieldsV1 = { 'f:metadata': { 'f:labels': { '.': {} } } }
  const managedFields = [{ manager: 'controller', operation: 'Update', fieldsV1 }]
  const fields = { '.metadata.labels.tier': '2', '.metadata.annotations.note': '1' }
  const gone = objectOf({ metadata: { managedFields } }, {})
  const there = objectOf({ metadata: { managedFields } }, { '.metadata.labels.app': 'web' })
  expect(conflictingContainers(gone, 'anna', fields)).toEqual(['.metadata.labels'])
  expect(conflictingContainers(there, 'anna', fields)).toEqual([])
  expect(conflictingContainers(undefined, 'anna', fields)).toEqual([])
})
