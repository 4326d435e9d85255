import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deepEqual } from '../equality.ts'
import { deepFreeze } from '../freeze.ts'
import { pods } from '../kinds/index.ts'
import { atomicList, int32, mapList, mapOf, object, optional, setList, string } from '../schema/builders.ts'
import type { Schema } from '../schema/schema.ts'
import { compareFields } from './compare.ts'
import { applyConflict, pathText } from './conflicts.ts'
import { emptyObjectOf } from './empty-object.ts'
import { recordApply, recordUpdate } from './field-manager.ts'
import { type FieldSet, pathsOf } from './field-set.ts'
import { fieldSetOf } from './field-set-of.ts'
import { managedFieldsOf, ownersOf, resetsOwners } from './managed-fields.ts'
import { mergeApplied } from './merge.ts'
import type { FieldOwners, Manager, Versions } from './ownership.ts'
import { removeFields, withNamedFields } from './remove.ts'

const item = object('', '', {
  name: optional(string(), ''),
  protocol: optional(string(), '', { default: 'TCP' }),
  value: optional(int32(), ''),
  tags: optional(setList(string()), ''),
})
const schema: Schema = object('', '', {
  apiVersion: optional(string(), ''),
  metadata: optional(object('', '', { annotations: optional(mapOf(string()), '') }), ''),
  replicas: optional(int32(), ''),
  paused: optional(string(), ''),
  labels: optional(mapOf(string()), ''),
  selector: optional(mapOf(string(), { mapType: 'atomic' }), ''),
  args: optional(atomicList(string()), ''),
  tags: optional(setList(string()), ''),
  items: optional(mapList(item, ['name']), ''),
  ports: optional(mapList(item, ['value', 'protocol']), ''),
  nested: optional(object('', '', { a: optional(string(), ''), b: optional(string(), '') }), ''),
})

const texts = (set: FieldSet): readonly string[] => [...pathsOf(set)].map(pathText)

describe('the fields of a value', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['scalars are fields', { replicas: 1, paused: '' }, ['.paused', '.replicas']],
    ['objects with named fields are not, what is in them is', { nested: { a: 'x' } }, ['.nested.a']],
    ['empty objects are', { nested: {} }, ['.nested']],
    ['keys of maps are, and empty maps', { labels: { x: 'y' } }, ['.labels.x']],
    ['atomic maps and lists are, as a whole', { selector: { x: 'y' }, args: ['a'] }, ['.args', '.selector']],
    ['elements of sets are', { tags: ['b', 'a'] }, ['.tags[="a"]', '.tags[="b"]']],
    [
      'elements of lists are, beside what is in them',
      { items: [{ name: 'x', value: 1 }] },
      ['.items[name="x"]', '.items[name="x"].name', '.items[name="x"].value'],
    ],
    [
      'keys that are left out have their default',
      { ports: [{ value: 1 }] },
      ['.ports[protocol="TCP",value=1]', '.ports[protocol="TCP",value=1].value'],
    ],
    ['empty lists are not', { tags: [] }, []],
    [
      'what no schema describes: objects and their members, lists as a whole',
      { unknown: { a: [1], b: {} } },
      ['.unknown', '.unknown.a', '.unknown.b'],
    ],
    ['elements that are there twice are one', { tags: ['a', 'a'] }, ['.tags[="a"]']],
  ])('%s', (_what, value, expected) => {
    expect(texts(fieldSetOf(schema, value)).toSorted()).toEqual([...expected].sort())
  })

  it('have the zeros of keys that are left out, where a definition always has them', () => {
    const spec = { containers: [{ image: 'x', ports: [{ hostPort: 1 }] }] }
    expect(texts(fieldSetOf(pods.schema, { spec }))).toEqual(
      expect.arrayContaining([
        '.spec.containers[name=""].image',
        '.spec.containers[name=""].ports[containerPort=0,protocol="TCP"].hostPort',
      ]),
    )
  })

  it('cannot be told where an element lacks its key', () => {
    expect(() => fieldSetOf(schema, { items: [{ value: 1 }] })).toThrow(
      'associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    )
  })
})

describe('comparison', () => {
  it.each<[string, unknown, unknown, { added?: string[]; modified?: string[]; removed?: string[] }]>([
    ['nothing', { replicas: 1 }, { replicas: 1 }, {}],
    [
      'a scalar',
      { replicas: 1, paused: 'a' },
      { replicas: 2, labels: {} },
      {
        added: ['.labels'],
        modified: ['.replicas'],
        removed: ['.paused'],
      },
    ],
    ['an object that is new counts beside its fields', {}, { nested: { a: 'x' } }, { added: ['.nested', '.nested.a'] }],
    [
      'a map',
      { labels: { a: '1', b: '1' } },
      { labels: { a: '2', c: '1' } },
      {
        added: ['.labels.c'],
        modified: ['.labels.a'],
        removed: ['.labels.b'],
      },
    ],
    ['an atomic map', { selector: { a: '1' } }, { selector: { a: '2' } }, { modified: ['.selector'] }],
    ['the order of a list is no difference', { tags: ['a', 'b'] }, { tags: ['b', 'a'] }, {}],
    ['the order of an atomic list is', { args: ['a', 'b'] }, { args: ['b', 'a'] }, { modified: ['.args'] }],
    [
      'an element',
      { items: [{ name: 'a', value: 1 }] },
      { items: [{ name: 'a', value: 2 }, { name: 'b' }] },
      {
        added: ['.items[name="b"]', '.items[name="b"].name'],
        modified: ['.items[name="a"].value'],
      },
    ],
    [
      'what becomes of another type',
      { unknown: { a: 1 } },
      { unknown: [1] },
      { modified: ['.unknown'], removed: ['.unknown.a'] },
    ],
    ['duplicates as one', { tags: ['a', 'a'] }, { tags: ['a', 'a', 'a'] }, { modified: ['.tags[="a"]'] }],
  ])('%s', (_what, before, after, expected) => {
    const { added, modified, removed } = compareFields(schema, before, after)
    const sorted = (set: FieldSet) => texts(set).toSorted()
    const { added: more = [], modified: other = [], removed: less = [] } = expected
    expect([sorted(added), sorted(modified), sorted(removed)]).toEqual([more.sort(), other.sort(), less.sort()])
  })

  it('is the same object for changes that are alike, whatever the values', () => {
    const compared = (replicas: number, name: string, value: number) =>
      compareFields(schema, { replicas: 0, items: [{ name }] }, { replicas, items: [{ name, value }], paused: 'x' })
    expect(compared(1, 'a', 1)).toBe(compared(2, 'a', 3))
    expect(compared(1, 'b', 1)).not.toBe(compared(1, 'a', 1))
  })

  it('does not take a name with a line break for two names', () => {
    const added = (...names: readonly string[]) =>
      texts(compareFields(schema, { labels: {} }, { labels: Object.fromEntries(names.map((n) => [n, ''])) }).added)
    expect(added('x', 'y')).toEqual(['.labels.x', '.labels.y'])
    expect(added('x\n+f:y')).toEqual(['.labels.x\n+f:y'])
    expect(added('x', 'y')).toEqual(['.labels.x', '.labels.y'])
  })

  it('does not look into what both share', () => {
    const shared = new Proxy({}, { ownKeys: () => expect.fail('was looked into') })
    expect(texts(compareFields(schema, { nested: shared }, { nested: shared, replicas: 1 }).added)).toEqual([
      '.replicas',
    ])
  })
})

describe('merging', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['scalars are the applied', { replicas: 1, paused: 'a' }, { replicas: 2 }, { replicas: 2, paused: 'a' }],
    ['maps by key', { labels: { a: '1', b: '1' } }, { labels: { b: '2' } }, { labels: { a: '1', b: '2' } }],
    ['atomic maps as a whole', { selector: { a: '1' } }, { selector: { b: '1' } }, { selector: { b: '1' } }],
    ['atomic lists as a whole', { args: ['a'] }, { args: ['b'] }, { args: ['b'] }],
    ['sets, the applied in their order', { tags: ['c', 'a'] }, { tags: ['a', 'b'] }, { tags: ['c', 'a', 'b'] }],
    ['sets, reordered', { tags: ['a', 'b', 'c'] }, { tags: ['c', 'b', 'a'] }, { tags: ['c', 'b', 'a'] }],
    ['sets, put before', { tags: ['a', 'b'] }, { tags: ['x', 'b'] }, { tags: ['a', 'x', 'b'] }],
    [
      'elements by key',
      { items: [{ name: 'a', value: 1 }, { name: 'b' }] },
      { items: [{ name: 'a', protocol: 'UDP' }] },
      { items: [{ name: 'a', value: 1, protocol: 'UDP' }, { name: 'b' }] },
    ],
  ])('%s', (_what, live, applied, expected) => {
    expect(mergeApplied(schema, live, applied)).toEqual(expected)
  })

  it('shares what does not change', () => {
    const live = deepFreeze({ nested: { a: 'x' }, items: [{ name: 'a', value: 1 }, { name: 'b' }] })
    expect(mergeApplied(schema, live, { nested: { a: 'x' }, items: [{ name: 'b' }] })).toBe(live)
    const merged = mergeApplied(schema, live, { items: [{ name: 'b', value: 2 }] }) as typeof live
    expect([merged.nested, merged.items[0]]).toEqual([live.nested, live.items[0]])
    expect(merged.items[0]).toBe(live.items[0])
  })
})

describe('removal', () => {
  it('leaves null of an object or a list of which nothing is left', () => {
    const value = { nested: { a: 'x' }, tags: ['a'], items: [{ name: 'a' }, { name: 'b' }], replicas: 1 }
    const fields = fieldSetOf(schema, { nested: { a: '' }, tags: ['a'], items: [{ name: 'a' }] })
    expect(removeFields(schema, value, fields)).toEqual({
      nested: null,
      tags: null,
      items: [{ name: 'b' }],
      replicas: 1,
    })
  })

  it('takes an object away along with the last of its named fields', () => {
    const value = { nested: { a: 'x' }, replicas: 1 }
    const fields = withNamedFields(schema, fieldSetOf(schema, { nested: { a: '' } }))
    expect(removeFields(schema, value, fields)).toEqual({ replicas: 1 })
  })
})

const oneVersion: Versions = {
  schemaOf: (version) => (version === 'v1' ? schema : undefined),
  convert: (value) => value,
}
const applier = (name: string): Manager => ({ name, operation: 'Apply', apiVersion: 'v1', subresource: '' })
const updater = (name: string): Manager => ({ name, operation: 'Update', apiVersion: 'v1', subresource: '' })

/** An object that is applied to and updated by many. */
class Subject {
  value: unknown = {}
  owners: FieldOwners = []
  #clock = 0
  readonly versions: Versions

  constructor(versions: Versions = oneVersion) {
    this.versions = versions
  }

  apply(name: string, configuration: unknown, { force = false, version = 'v1' } = {}): readonly string[] {
    const manager = { ...applier(name), apiVersion: version }
    const own = this.versions.schemaOf(version) ?? schema
    const live = version === 'v1' ? this.value : this.versions.convert(this.value, 'v1', version)
    const input = {
      live,
      configuration,
      schema: own,
      owners: this.owners,
      manager,
      versions: this.versions,
    }
    const { value, owners, conflicts } = recordApply(input, force, this.#time)
    if (conflicts.length > 0) return applyConflict(conflicts).message.split('\n')
    this.value = version === 'v1' ? value : this.versions.convert(value, version, 'v1')
    this.owners = owners
    return []
  }

  update(name: string, after: unknown): void {
    const change = {
      before: this.value,
      after,
      owners: this.owners,
      manager: updater(name),
      versions: this.versions,
    }
    this.owners = recordUpdate(change, this.#time)
    this.value = after
  }

  /** `manager: fields` of each owner. */
  get owned(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries(this.owners.map(({ name, fields }) => [name, texts(fields)]))
  }

  get #time(): string {
    this.#clock += 1
    return `2026-01-01T00:00:${String(this.#clock).padStart(2, '0')}Z`
  }
}

describe('an update', () => {
  const owners: FieldOwners = [{ ...applier('a'), fields: { 'f:replicas': {}, 'f:paused': {} } }]
  const update = (name: string, replicas: number, time: string) => {
    const sides = { before: { replicas: 0 }, after: { replicas } }
    return recordUpdate({ ...sides, owners, manager: updater(name), versions: oneVersion }, time)
  }

  it('gives all objects with one list of owners the same new list, for one manager at one time', () => {
    const [first, second] = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z']
    const recorded = update('u', 1, first)
    expect(recorded.map(({ name, time, fields }) => [name, time, texts(fields)])).toEqual([
      ['a', undefined, ['.paused']],
      ['u', first, ['.replicas']],
    ])
    expect(update('u', 2, first)).toBe(recorded)
    expect(update('v', 2, first).map(({ name }) => name)).toEqual(['a', 'v'])
    expect(update('u', 2, second).map(({ time }) => time)).toEqual([undefined, second])
  })
})

describe('apply', () => {
  it('owns what it applies', () => {
    const subject = new Subject()
    subject.apply('a', { replicas: 1, labels: { x: 'y' } })
    expect(subject.value).toEqual({ replicas: 1, labels: { x: 'y' } })
    expect(subject.owned).toEqual({ a: ['.replicas', '.labels.x'] })
  })

  it('removes what it applied before and leaves out now', () => {
    const subject = new Subject()
    subject.apply('a', { replicas: 1, labels: { x: '1', y: '1' }, items: [{ name: 'a' }, { name: 'b' }] })
    subject.apply('a', { labels: { x: '1' }, items: [{ name: 'b' }] })
    expect(subject.value).toEqual({ labels: { x: '1' }, items: [{ name: 'b' }] })
  })

  it('leaves an object empty that is applied so, wherever it is', () => {
    const subject = new Subject()
    subject.apply('one', { nested: { a: 'x' }, replicas: 1 })
    subject.apply('one', { nested: {}, replicas: 1 })
    expect(subject.value).toEqual({ nested: {}, replicas: 1 })
    subject.apply('one', { replicas: 1 })
    expect(subject.value).toEqual({ replicas: 1 })
  })

  it('takes a list away whose elements it has applied, and that it applies empty now', () => {
    const subject = new Subject()
    subject.apply('one', { items: [{ name: 'a' }], replicas: 1 })
    subject.apply('one', { items: [], replicas: 1 })
    expect(subject.value).toEqual({ replicas: 1 })
    expect(subject.owned).toEqual({ one: ['.replicas'] })
    subject.apply('one', { items: [{ name: 'a' }] })
    subject.apply('other', { items: [{ name: 'b' }] })
    subject.apply('one', { items: [] })
    expect(subject.value).toEqual({ items: [{ name: 'b' }] })
  })

  it('leaves null where that is applied, and what others own of an object that is applied empty', () => {
    const subject = new Subject()
    subject.apply('one', { nested: { a: 'x' } })
    subject.apply('one', { nested: null })
    expect(subject.value).toEqual({ nested: null })
    subject.apply('one', { labels: { a: '1' } })
    subject.apply('other', { labels: { b: '2' } })
    subject.apply('one', { labels: {} })
    expect(subject.value).toEqual({ labels: { b: '2' } })
  })

  it('takes the whole object away with the last field of it', () => {
    const subject = new Subject()
    subject.apply('a', { nested: { a: 'x' }, replicas: 1 })
    subject.apply('a', { replicas: 1 })
    expect(subject.value).toEqual({ replicas: 1 })
  })

  it('leaves what somebody else owns, too', () => {
    const subject = new Subject()
    subject.apply('a', { replicas: 1, nested: { a: 'x' } })
    subject.apply('b', { replicas: 1, nested: { b: 'y' } })
    subject.apply('a', { paused: 'yes' })
    expect(subject.value).toEqual({ replicas: 1, nested: { b: 'y' }, paused: 'yes' })
    expect(subject.owned).toEqual({ a: ['.paused'], b: ['.replicas', '.nested.b'] })
  })

  it('keeps an element of which somebody else owns a field', () => {
    const subject = new Subject()
    subject.apply('a', { items: [{ name: 'x', value: 1 }] })
    subject.apply('b', { items: [{ name: 'x', protocol: 'UDP' }] })
    subject.apply('a', { replicas: 1 })
    expect(subject.value).toEqual({ replicas: 1, items: [{ name: 'x', protocol: 'UDP' }] })
  })

  it('leaves what nobody owns', () => {
    const subject = new Subject()
    subject.apply('a', { replicas: 1 })
    subject.value = { replicas: 1, items: [{ name: 'x' }], labels: { by: 'nobody' } }
    subject.apply('a', { paused: 'yes' })
    expect(subject.value).toEqual({ paused: 'yes', items: [{ name: 'x' }], labels: { by: 'nobody' } })
  })

  it('is refused where it would change what others own, and names them', () => {
    const subject = new Subject()
    subject.apply('a', { replicas: 1, nested: { a: 'x' } })
    expect(subject.apply('b', { replicas: 2 })).toEqual(['Apply failed with 1 conflict: conflict with "a": .replicas'])
    subject.update('u', { replicas: 1, nested: { a: 'x' }, paused: 'no' })
    expect(subject.apply('b', { replicas: 2, nested: { a: 'y' }, paused: 'yes' })).toEqual([
      'Apply failed with 3 conflicts: conflicts with "a":',
      '- .replicas',
      '- .nested.a',
      'conflicts with "u" using v1:',
      '- .paused',
    ])
    expect(subject.owned).toEqual({ a: ['.replicas', '.nested.a'], u: ['.paused'] })
  })

  it('is not refused where it says what is there: both own it then', () => {
    const subject = new Subject()
    subject.apply('a', { replicas: 1 })
    expect(subject.apply('b', { replicas: 1 })).toEqual([])
    expect(subject.owned).toEqual({ a: ['.replicas'], b: ['.replicas'] })
  })

  it('takes fields over by force', () => {
    const subject = new Subject()
    subject.apply('a', { replicas: 1, paused: 'no' })
    expect(subject.apply('b', { replicas: 2 }, { force: true })).toEqual([])
    expect(subject.owned).toEqual({ a: ['.paused'], b: ['.replicas'] })
    expect(subject.value).toEqual({ replicas: 2, paused: 'no' })
  })

  it('keeps its own time where nothing changes, and renews it where something does', () => {
    const subject = new Subject()
    subject.apply('a', { replicas: 1 })
    const { owners } = subject
    subject.apply('a', { replicas: 1 })
    expect(subject.owners).toBe(owners)
    subject.apply('a', { replicas: 2 })
    expect(subject.owners[0]?.time).not.toBe(owners[0]?.time)
  })

  it('gives what an object had before its first apply to a manager of that name', () => {
    const subject = new Subject()
    subject.value = { replicas: 1, paused: 'no' }
    expect(subject.apply('a', { replicas: 2 })).toEqual([
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .replicas',
    ])
    subject.apply('a', { replicas: 1 })
    expect(subject.owned).toEqual({ a: ['.replicas'], 'before-first-apply': ['.paused', '.replicas'] })
  })

  it('takes over from client-side apply what that has set and nobody changed since, as kubectl', () => {
    const last = { apiVersion: 'v1', replicas: 1, paused: 'no' }
    const metadata = { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(last) } }
    const make = () => {
      const subject = new Subject()
      subject.update('kubectl-client-side-apply', { ...last, metadata })
      return subject
    }
    expect(make().apply('kubectl', { replicas: 2 })).toEqual([])
    expect(make().apply('somebody', { replicas: 2 })).toHaveLength(1)
    const changed = make()
    changed.update('hpa', { ...last, replicas: 5, metadata })
    expect(changed.apply('kubectl', { replicas: 2, paused: 'yes' })).toEqual([
      'Apply failed with 1 conflict: conflict with "hpa" using v1: .replicas',
    ])
  })

  it('keeps what was applied in a version in that version', () => {
    const older: Schema = object('', '', { count: optional(int32(), ''), paused: optional(string(), '') })
    const convert: Versions['convert'] = (value, from, to) => {
      if (from === to) return value
      const { replicas, count, ...rest } = value as Record<string, unknown>
      if (to === 'v1') return count === undefined ? rest : { ...rest, replicas: count }
      return replicas === undefined ? rest : { ...rest, count: replicas }
    }
    const schemaOf = (version: string) => ({ v1: schema, v0: older })[version]
    const subject = new Subject({ schemaOf, convert })
    subject.apply('a', { count: 1, paused: 'no' }, { version: 'v0' })
    expect(subject.value).toEqual({ replicas: 1, paused: 'no' })
    expect(subject.apply('b', { replicas: 2 })).toEqual(['Apply failed with 1 conflict: conflict with "a": .count'])
    subject.apply('a', { replicas: 3 })
    expect([subject.value, subject.owned]).toEqual([{ replicas: 3 }, { a: ['.replicas'] }])
    subject.owners = subject.owners.map((owner) => ({ ...owner, apiVersion: 'gone' }))
    expect(subject.apply('b', { replicas: 4 })).toEqual([])
    expect(subject.owned).toEqual({ b: ['.replicas'] })
  })
})

describe('update', () => {
  it('owns what it changes, takes it from others, and keeps what it had', () => {
    const subject = new Subject()
    subject.update('a', { replicas: 1, paused: 'no' })
    subject.update('b', { replicas: 2, paused: 'no' })
    subject.update('a', { replicas: 2, paused: 'no', tags: ['x'] })
    expect(subject.owned).toEqual({ a: ['.paused', '.tags', '.tags[="x"]'], b: ['.replicas'] })
  })

  it('takes from everybody what is gone', () => {
    const subject = new Subject()
    subject.update('a', { replicas: 1 })
    subject.update('b', { paused: 'no' })
    expect(subject.owned).toEqual({ b: ['.paused'] })
  })

  it('changes nothing where it changes nothing', () => {
    const subject = new Subject()
    subject.update('a', { replicas: 1 })
    const { owners } = subject
    subject.update('b', { replicas: 1 })
    expect(subject.owners).toBe(owners)
  })

  it('under ever new names is kept as ancient changes', () => {
    const subject = new Subject()
    for (let index = 0; index < 15; index += 1) {
      subject.update(`m${index}`, { ...(subject.value as object), labels: { ...labels(index) } })
    }
    expect(subject.owners).toHaveLength(10)
    expect(Object.keys(subject.owned)).toContain('ancient-changes')
    expect(Object.values(subject.owned).flat()).toHaveLength(16)
  })
})

const labels = (count: number) =>
  Object.fromEntries(Array.from({ length: count + 1 }, (_, index) => [`l${index}`, 'x']))

describe('creation', () => {
  it('owns no struct that Go holds by value, and every element, pointer and map', () => {
    const pod = {
      metadata: { name: 'p', uid: 'u', labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'i', resources: {} }], securityContext: { runAsUser: 1 } },
    }
    const manager = updater('m')
    const versions: Versions = { schemaOf: () => pods.schema, convert: (value) => value }
    const before = emptyObjectOf(pods.schema)
    const owners = recordUpdate({ before, after: pod, owners: [], manager, versions }, 't')
    expect(managedFieldsOf(owners)).toEqual([
      {
        manager: 'm',
        operation: 'Update',
        apiVersion: 'v1',
        time: 't',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } },
          'f:spec': {
            'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} } },
            'f:securityContext': { '.': {}, 'f:runAsUser': {} },
          },
        },
      },
    ])
  })
})

describe('managedFields', () => {
  const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } }

  it('are read and shown', () => {
    const entries = [
      { ...entry, operation: 'Apply', subresource: 'status' },
      { ...entry, time: '2026-01-01T00:00:00Z' },
    ]
    expect(managedFieldsOf(ownersOf(entries) ?? [])).toEqual(entries)
  })

  it.each([{ operation: 'Replace' }, { apiVersion: '' }, { fieldsType: 'V2' }, { fieldsV1: { x: {} } }])(
    'that make no sense are ignored: %j',
    (wrong) => expect(ownersOf([{ ...entry, ...wrong }])).toBeUndefined(),
  )

  it('are reset by an empty list, or one empty entry', () => {
    expect([[], [{}], [entry], undefined].map(resetsOwners)).toEqual([true, true, false, false])
  })
})

const names = fc.constantFrom('a', 'b', 'c')
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const present = (value: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
const configuration = fc
  .record({
    replicas: some(fc.integer({ min: 0, max: 2 })),
    labels: some(fc.dictionary(names, fc.constantFrom('x', 'y'), { minKeys: 1 })),
    selector: some(fc.dictionary(names, fc.constantFrom('x', 'y'), { minKeys: 1 })),
    tags: some(fc.uniqueArray(names, { minLength: 1 })),
    items: some(
      fc
        .uniqueArray(names, { minLength: 1 })
        .chain((all) =>
          fc.tuple(...all.map((name) => fc.record({ name: fc.constant(name), value: fc.integer({ min: 0, max: 1 }) }))),
        ),
    ),
    nested: some(fc.record({ a: fc.constantFrom('x', 'y') })),
  })
  .map(present)

describe('properties', () => {
  it('applying twice changes nothing the second time', () => {
    fc.assert(
      fc.property(configuration, configuration, (a, b) => {
        const subject = new Subject()
        subject.apply('a', a, { force: true })
        subject.apply('b', b, { force: true })
        const { value, owners } = subject
        subject.apply('b', b)
        expect(subject.value).toBe(value)
        expect(subject.owners).toBe(owners)
      }),
    )
  })

  it('a manager owns exactly what it applied last, whatever it applied before', () => {
    fc.assert(
      fc.property(configuration, configuration, configuration, (first, other, last) => {
        const subject = new Subject()
        subject.apply('a', first, { force: true })
        subject.apply('b', other, { force: true })
        subject.apply('a', last, { force: true })
        expect(subject.owned.a ?? []).toEqual(texts(fieldSetOf(schema, last)))
      }),
    )
  })

  it('what was applied is there, and nothing else when only one applies', () => {
    fc.assert(
      fc.property(configuration, configuration, (first, last) => {
        const subject = new Subject()
        subject.apply('a', first)
        subject.apply('a', last)
        expect(deepEqual(subject.value, last)).toBe(true)
      }),
    )
  })

  it('managers that apply different fields may come in any order', () => {
    const [one, two] = [
      configuration.map(({ labels: l, nested, replicas }) => present({ labels: l, nested, replicas })),
      configuration.map(({ items, tags, selector }) => present({ items, tags, selector })),
    ]
    fc.assert(
      fc.property(one, two, (a, b) => {
        const [ab, ba] = [new Subject(), new Subject()]
        expect([ab.apply('a', a), ab.apply('b', b), ba.apply('b', b), ba.apply('a', a)].flat()).toEqual([])
        expect(deepEqual(ab.value, ba.value)).toBe(true)
        expect(ab.owned).toEqual(ba.owned)
      }),
    )
  })

  it('a comparison finds nothing exactly where two values have the same fields and leaves', () => {
    fc.assert(
      fc.property(configuration, configuration, (a, b) => {
        const { added, modified, removed } = compareFields(schema, a, b)
        expect(Object.keys({ ...added, ...modified, ...removed }).length === 0).toBe(
          deepEqual(unordered(a), unordered(b)),
        )
      }),
    )
  })
})

/** Lists that are owned by element are told apart by what is in them only. */
function unordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => JSON.stringify(each)).sort()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unordered(each)]))
}
