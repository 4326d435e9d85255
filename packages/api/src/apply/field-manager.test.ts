import { describe, expect, it } from 'vitest'
import { int32, mapOf, object, optional, string } from '../schema/builders.ts'
import type { Schema } from '../schema/schema.ts'
import { applyConflict, pathText } from './conflicts.ts'
import { emptyObjectOf } from './empty-object.ts'
import {
  ancientChangesManager,
  beforeFirstApplyManager,
  keepsLastApplied,
  lastAppliedAnnotation,
  lastAppliedText,
  recordApply,
  recordUpdate,
  sameOwners,
  updateManagersMax,
} from './field-manager.ts'
import { type FieldSet, noFields, pathsOf } from './field-set.ts'
import { fieldSetFrom, managedFieldsOf, ownersOf } from './managed-fields.ts'
import type { FieldOwners, Manager, Owned, Versions } from './ownership.ts'

const schema: Schema = object('', '', {
  apiVersion: optional(string(), ''),
  metadata: optional(object('', '', { name: optional(string(), ''), annotations: optional(mapOf(string()), '') }), ''),
  replicas: optional(int32(), ''),
  paused: optional(string(), ''),
})
/** What v1 calls replicas is `count` here. */
const olderSchema: Schema = object('', '', { count: optional(int32(), ''), paused: optional(string(), '') })
const renamed = (value: unknown, from: string, to: string): unknown =>
  Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name === from ? to : name, each]))
const versions: Versions = {
  schemaOf: (version) => ({ v1: schema, v0: olderSchema })[version],
  convert: (value, _from, to) =>
    to === 'v0' ? renamed(value, 'replicas', 'count') : renamed(value, 'count', 'replicas'),
}
const manager = (name: string, fields: Partial<Manager> = {}): Manager => ({
  name,
  operation: 'Update',
  apiVersion: 'v1',
  subresource: '',
  ...fields,
})
const owner = (name: string, fields: readonly string[], more: Partial<Owned> = {}): Owned => ({
  ...manager(name),
  ...more,
  fields: Object.fromEntries(fields.map((field) => [`f:${field}`, noFields])),
})
const texts = (set: FieldSet): string => [...pathsOf(set)].map(pathText).join(' ')
const shown = (owners: FieldOwners) =>
  owners.map(({ name, apiVersion, time, fields }) => `${name} ${apiVersion} ${time ?? '-'} ${texts(fields)}`)

describe('an update', () => {
  const update = (owners: FieldOwners, by = manager('u'), more: object = {}) =>
    shown(
      recordUpdate({ before: { replicas: 1 }, after: { replicas: 2 }, owners, manager: by, versions, ...more }, 't9'),
    )

  it.each<[string, FieldOwners, readonly string[]]>([
    [
      'takes what it changes from another version, by its name there',
      [owner('o', ['count', 'paused'], { apiVersion: 'v0' })],
      ['o v0 - .paused', 'u v1 t9 .replicas'],
    ],
    [
      'takes it where others are of its version, too',
      [owner('a', ['paused']), owner('o', ['count', 'paused'], { apiVersion: 'v0' })],
      ['o v0 - .paused', 'a v1 - .paused', 'u v1 t9 .replicas'].toSorted(),
    ],
    [
      'ends what is owned in a version that is no longer served',
      [owner('o', ['replicas'], { apiVersion: 'gone' })],
      ['u v1 t9 .replicas'],
    ],
    [
      'is told apart from the same manager of another version',
      [owner('u', ['paused'], { apiVersion: 'v0' })],
      ['u v0 - .paused', 'u v1 t9 .replicas'],
    ],
    [
      'and of a subresource',
      [owner('u', ['paused'], { subresource: 'status' })],
      ['u v1 - .paused', 'u v1 t9 .replicas'],
    ],
  ])('%s', (_, owners, expected) => {
    expect(update(owners).toSorted()).toEqual(expected)
  })

  it('through a version that is not served changes no owner of another', () => {
    expect(update([owner('o', ['paused'])], manager('u', { apiVersion: 'gone' }))).toEqual(['o v1 - .paused'])
  })

  it('does not own what nobody owns through that part of the object', () => {
    const ignored = () => ({ 'f:replicas': noFields })
    expect(update([owner('o', ['paused'])], manager('u'), { ignored })).toEqual(['o v1 - .paused'])
    expect(update([owner('u', ['paused'])], manager('u'), { after: { replicas: 2, paused: 'x' }, ignored })).toEqual([
      'u v1 t9 .paused',
    ])
  })

  it('does not own what the server gives an object', () => {
    const change = { before: {}, owners: [], manager: manager('u'), versions }
    const after = { apiVersion: 'v1', metadata: { name: 'x' } }
    expect(recordUpdate({ ...change, after }, 't9')).toEqual([])
    expect(shown(recordUpdate({ ...change, after: { ...after, replicas: 1 } }, 't9'))).toEqual(['u v1 t9 .replicas'])
  })
})

describe('many updaters', () => {
  /** `u`, the latest, after so many others, who own a field each: the older, the smaller their number. */
  const after = (others: readonly Owned[]) => {
    const change = { before: {}, after: { replicas: 1 }, owners: others, manager: manager('u'), versions }
    return shown(recordUpdate(change, 't99'))
  }
  const others = (count: number, of: (index: number) => Partial<Owned> = () => ({})) =>
    Array.from({ length: count }, (_, index) =>
      owner(`m${index + 10}`, [`x${index + 10}`], { time: `t${index + 10}`, ...of(index) }),
    )
  const kept = (from: number, to = 19) =>
    Array.from({ length: to - from }, (_, index) => `m${from + index} v1 t${from + index} .x${from + index}`)
  const latest = 'u v1 t99 .replicas'

  it('are kept apart up to a limit, whoever applies beside them', () => {
    const appliers = [owner('a', ['paused'], { operation: 'Apply', time: 't00' })]
    expect(after([...appliers, ...others(updateManagersMax - 1)])).toEqual(['a v1 t00 .paused', ...kept(10), latest])
  })

  it.each<[string, readonly Owned[], readonly string[]]>([
    ['of whom the two oldest become one', others(10), ['ancient-changes v1 t11 .x10 .x11', ...kept(12, 20), latest]],
    [
      'in whatever order they come',
      others(10).toReversed(),
      ['ancient-changes v1 t11 .x10 .x11', ...kept(12, 20), latest],
    ],
    ['as many as it takes', others(11), ['ancient-changes v1 t12 .x10 .x11 .x12', ...kept(13, 21), latest]],
    [
      'by name where they are of one time',
      others(10, (index) => (index < 3 ? { time: 't10' } : {})).toReversed(),
      ['ancient-changes v1 t10 .x10 .x11', 'm12 v1 t10 .x12', ...kept(13, 20), latest],
    ],
    [
      'those without a time first',
      others(10, (index) => (index > 7 ? { time: undefined } : {})),
      ['ancient-changes v1 - .x18 .x19', ...kept(10, 18), latest],
    ],
    [
      'each in its version',
      others(10, (index) => (index === 1 ? { apiVersion: 'v0' } : {})),
      ['m11 v0 t11 .x11', 'ancient-changes v1 t12 .x10 .x12', ...kept(13, 20), latest],
    ],
    [
      'with what became one before',
      [owner(ancientChangesManager, ['x00'], { time: 't05' }), ...others(9)],
      ['ancient-changes v1 t10 .x00 .x10', ...kept(11), latest],
    ],
  ])('%s', (_, owners, expected) => {
    expect(after(owners)).toEqual(expected)
  })

  it('become one that updates the object itself', () => {
    const change = { before: {}, after: { replicas: 1 }, manager: manager('u'), versions }
    const owners = others(10, () => ({ subresource: 'status' }))
    const [first] = recordUpdate({ ...change, owners }, 't99')
    expect(first).toMatchObject({ name: ancientChangesManager, operation: 'Update', subresource: '' })
  })
})

describe('owners are the same', () => {
  const [a, b] = [owner('a', ['x'], { time: 't1' }), owner('b', ['y'])]
  it.each<[string, FieldOwners, FieldOwners, boolean]>([
    ['where there are none', [], [], true],
    ['in another order, at another time', [a, b], [b, { ...a, time: 't2' }], true],
    ['not where one more is there', [a], [a, b], false],
    ['not where one less is there', [a, b], [a], false],
    ['not where one is another', [a, b], [a, { ...b, name: 'c' }], false],
    ['not where one owns more', [a, b], [a, owner('b', ['y', 'z'])], false],
    ['not where one owns something else', [a, b], [owner('a', ['z']), b], false],
    [
      'not where one applied in another version',
      [owner('a', ['x'], { operation: 'Apply' })],
      [owner('a', ['x'], { operation: 'Apply', apiVersion: 'v0' })],
      false,
    ],
  ])('%s', (_, some, others, expected) => {
    expect(sameOwners(some, others)).toBe(expected)
  })
})

describe('what client-side apply keeps', () => {
  it.each<[string, unknown, string | undefined]>([
    ['is the text of its annotation', { metadata: { annotations: { [lastAppliedAnnotation]: '{}' } } }, '{}'],
    ['is nothing where that is empty', { metadata: { annotations: { [lastAppliedAnnotation]: '' } } }, undefined],
    ['is nothing where that is no text', { metadata: { annotations: { [lastAppliedAnnotation]: 1 } } }, undefined],
    ['is nothing without that annotation', { metadata: { annotations: { a: 'b' } } }, undefined],
    ['is nothing without annotations', { metadata: {} }, undefined],
    ['is nothing without metadata', {}, undefined],
    ['is nothing in what is no object', 'text', undefined],
  ])('%s', (_, value, expected) => {
    expect(lastAppliedText(value)).toBe(expected)
  })

  it('is kept by kubectl alone', () => {
    expect(['kubectl', 'kubectl-edit', 'helm'].map((name) => keepsLastApplied(manager(name)))).toEqual([
      true,
      false,
      false,
    ])
  })

  const conflictsOf = (last: string, name = 'kubectl') => {
    const live = { replicas: 1, paused: 'no', metadata: { annotations: { [lastAppliedAnnotation]: last } } }
    const input = {
      live,
      configuration: { replicas: 2, paused: 'yes' },
      schema,
      owners: [owner('kubectl-client-side-apply', ['replicas']), owner('other', ['paused'])],
      manager: manager(name, { operation: 'Apply' }),
      versions,
    }
    const { conflicts } = recordApply(input, false, 't9')
    return conflicts.map(({ manager: { name }, fields }) => `${name} ${texts(fields)}`)
  }
  const all = ['kubectl-client-side-apply .replicas', 'other .paused']
  it.each<[string, string, readonly string[]]>([
    ['is given to server-side apply', '{"apiVersion":"v1","replicas":1}', ['other .paused']],
    ['is given as a whole', '{"apiVersion":"v1","replicas":1,"paused":"no"}', []],
    ['is not where it was changed since', '{"apiVersion":"v1","replicas":5}', all],
    ['is not in another version', '{"apiVersion":"v0","replicas":1}', all],
    ['is not with a field that the kind does not have', '{"apiVersion":"v1","replicas":1,"replica":1}', all],
    ['is not with a value of another type', '{"apiVersion":"v1","replicas":1,"paused":5}', all],
    ['is not without a version', '{"replicas":1}', all],
    ['is not where it is no JSON', '{"apiVersion":"v1"', all],
    ['is not where it is no object', 'null', all],
    ['is not where it is empty', '', all],
  ])('%s', (_, last, conflicts) => {
    expect(conflictsOf(last)).toEqual(conflicts)
    expect(conflictsOf(last, 'helm')).toEqual(all)
  })
})

describe('a first apply', () => {
  const apply = (live: unknown, more: object = {}) => {
    const configuration = { replicas: 1 }
    const input = {
      live,
      configuration,
      schema,
      owners: [],
      manager: manager('a', { operation: 'Apply' }),
      versions,
      ...more,
    }
    return recordApply(input, false, 't9')
  }

  it('finds nobody before it where it makes the object', () => {
    expect(shown(apply(emptyObjectOf(schema)).owners)).toEqual(['a v1 t9 .replicas'])
  })

  it('finds what was there before with the manager of that name', () => {
    expect(shown(apply({ replicas: 1, paused: 'no' }).owners)).toEqual([
      'a v1 - .replicas',
      `${beforeFirstApplyManager} v1 t9 .paused .replicas`,
    ])
    const { conflicts } = apply({ replicas: 5 })
    expect(applyConflict(conflicts).message).toContain(`conflict with "${beforeFirstApplyManager}"`)
  })

  it('finds nothing of what is ignored', () => {
    const ignored = () => ({ 'f:paused': noFields })
    expect(shown(apply({ replicas: 1, paused: 'no' }, { ignored }).owners)).toEqual([
      'a v1 - .replicas',
      `${beforeFirstApplyManager} v1 t9 .replicas`,
    ])
  })
})

describe('managedFields', () => {
  const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } }

  it('come in the order of operation, time, name, version and subresource', () => {
    const at = (time: string) => `2026-01-01T00:00:0${time}Z`
    const entries = [
      { ...entry, operation: 'Apply', manager: 'z', time: at('9') },
      { ...entry, manager: 'y' },
      { ...entry, manager: 'z', time: at('1') },
      { ...entry, manager: 'a', time: at('2') },
      { ...entry, manager: 'b', apiVersion: 'v1', time: at('2') },
      { ...entry, manager: 'b', apiVersion: 'v2', time: at('2') },
      { ...entry, manager: 'b', apiVersion: 'v2', subresource: 'scale', time: at('2') },
      { ...entry, manager: 'b', apiVersion: 'v2', subresource: 'status', time: at('2') },
    ]
    for (const sent of [entries, entries.toReversed()]) expect(managedFieldsOf(ownersOf(sent) ?? [])).toEqual(entries)
  })

  it('of one manager count as they stand last; one without a name is unknown', () => {
    const { manager: _manager, ...nameless } = entry
    const again = { ...entry, fieldsV1: { 'f:b': {} } }
    expect(managedFieldsOf(ownersOf([entry, nameless, again]) ?? [])).toEqual([again, { ...entry, manager: 'unknown' }])
    expect(managedFieldsOf(ownersOf([{ ...entry, manager: '' }]) ?? [])).toEqual([{ ...entry, manager: 'unknown' }])
  })

  it('of one applier are of one manager, whatever the version', () => {
    const applied = { ...entry, operation: 'Apply' }
    const newer = { ...applied, apiVersion: 'v2' }
    expect(managedFieldsOf(ownersOf([applied, newer]) ?? [])).toEqual([newer])
  })

  it('may own nothing', () => {
    const { fieldsV1: _fields, ...nothing } = entry
    expect(managedFieldsOf(ownersOf([nothing]) ?? [])).toEqual([{ ...entry, fieldsV1: {} }])
  })

  it.each([
    ['f:', true],
    ['v:1', true],
    ['v:x', false],
    ['k:{}', true],
    ['k:[]', false],
    ['k:1', false],
    ['i:3', true],
    ['i:-13', true],
    ['i:', false],
    ['i:x3', false],
    ['i:3x', false],
    ['..', false],
    ['fx:a', false],
    ['v:1e999', false],
    ['', false],
  ])('may name %j: %s', (element, isElement) => {
    expect(fieldSetFrom({ [element]: {} })).toEqual(isElement ? { [element]: {} } : undefined)
  })
})
