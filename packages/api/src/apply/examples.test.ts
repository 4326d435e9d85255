import { describe, expect, it } from 'vitest'
import { int32, mapList, object, optional, setList, string } from '../schema/builders.ts'
import { pathText } from './conflicts.ts'
import { recordApply, recordUpdate } from './field-manager.ts'
import { pathsOf } from './field-set.ts'
import type { FieldOwners, Versions } from './ownership.ts'

const elementSchema = object('', '', {
  name: optional(string(), ''),
  one: optional(int32(), ''),
  two: optional(int32(), ''),
  value: optional(setList(string()), ''),
})
const schema = object('', '', {
  list: optional(mapList(elementSchema, ['name']), ''),
  set: optional(setList(int32()), ''),
  names: optional(setList(string()), ''),
  unrelated: optional(int32(), ''),
})
const oneSchema: Versions = { schemaOf: () => schema, convert: (value) => value }
const manager = (name: string, operation: 'Apply' | 'Update', apiVersion: string) =>
  ({ name, operation, apiVersion, subresource: '' }) as const

/** Who does what with an object, in which version: v1 unless said. */
type Step = readonly [operation: 'update' | 'apply' | 'force', name: string, object: unknown, version?: string]

/** What comes of the steps: the object in v1, what each manager owns, and the fields of conflicts. */
function outcomeOf(steps: readonly Step[], versions: Versions = oneSchema) {
  let value: unknown = {}
  let owners: FieldOwners = []
  const refused: (readonly string[])[] = []
  for (const [operation, name, object, version = 'v1'] of steps) {
    const shared = { owners, versions, ignored: {} }
    const live = versions.convert(value, 'v1', version)
    if (operation === 'update') {
      owners = recordUpdate({ ...shared, before: live, after: object, manager: manager(name, 'Update', version) }, 't')
      value = versions.convert(object, version, 'v1')
      continue
    }
    const own = versions.schemaOf(version) ?? schema
    const input = { ...shared, live, configuration: object, schema: own, manager: manager(name, 'Apply', version) }
    const applied = recordApply(input, operation === 'force', 't')
    if (applied.conflicts.length > 0) {
      refused.push(applied.conflicts.flatMap(({ fields }) => [...pathsOf(fields)].map(pathText)))
      continue
    }
    value = versions.convert(applied.value, version, 'v1')
    owners = applied.owners
  }
  const owned = Object.fromEntries(owners.map(({ name, fields }) => [name, [...pathsOf(fields)].map(pathText).sort()]))
  return { value, owned, refused }
}

interface Expected {
  readonly owned: Readonly<Record<string, readonly string[]>>
  readonly value?: unknown
  readonly refused?: readonly (readonly string[])[]
}

function check(steps: readonly Step[], { owned, value, refused = [] }: Expected): void {
  const outcome = outcomeOf(steps)
  expect(outcome.owned).toEqual(owned)
  expect(outcome.refused).toEqual(refused)
  if (value !== undefined) expect(outcome.value).toEqual(value)
}

const named = (...names: readonly string[]) => names.map((name) => `.names[="${name}"]`)

// The examples of structured-merge-diff's merge/set_test.go.
describe('a set that is applied', () => {
  it.each<[string, readonly Step[], Expected]>([
    [
      'has what is applied later',
      [
        ['apply', 'applier', { names: ['a', 'c'] }],
        ['apply', 'applier', { names: ['a', 'b', 'c', 'd'] }],
      ],
      { value: { names: ['a', 'b', 'c', 'd'] }, owned: { applier: named('a', 'b', 'c', 'd') } },
    ],
    [
      'keeps what others added',
      [
        ['apply', 'applier', { names: ['a', 'c'] }],
        ['update', 'controller', { names: ['a', 'b', 'c', 'd'] }],
        ['apply', 'applier', { names: ['a', 'aprime', 'c', 'cprime'] }],
      ],
      { owned: { applier: named('a', 'aprime', 'c', 'cprime'), controller: named('b', 'd') } },
    ],
    [
      'shares what both have',
      [
        ['apply', 'applier', { names: ['a', 'c'] }],
        ['update', 'controller', { names: ['a', 'b', 'c', 'd'] }],
        ['apply', 'applier', { names: ['a', 'b', 'c'] }],
      ],
      {
        value: { names: ['a', 'b', 'c', 'd'] },
        owned: { applier: named('a', 'b', 'c'), controller: named('b', 'd') },
      },
    ],
    [
      'has the order that was applied last',
      [
        ['apply', 'applier', { names: ['a', 'b', 'c', 'd'] }],
        ['apply', 'applier', { names: ['a', 'd', 'c', 'b'] }],
      ],
      { value: { names: ['a', 'd', 'c', 'b'] }, owned: { applier: named('a', 'b', 'c', 'd') } },
    ],
    [
      'has that order also after an update that changed it',
      [
        ['apply', 'applier', { names: ['a', 'b', 'c', 'd'] }],
        ['update', 'controller', { names: ['a', 'd', 'c', 'b'] }],
        ['apply', 'applier', { names: ['a', 'b', 'c', 'd'] }],
      ],
      { value: { names: ['a', 'b', 'c', 'd'] }, owned: { applier: named('a', 'b', 'c', 'd') } },
    ],
    [
      'loses what is not applied any more',
      [
        ['apply', 'applier', { names: ['a', 'b', 'c', 'd'] }],
        ['apply', 'applier', { names: ['a', 'c'] }],
      ],
      { value: { names: ['a', 'c'] }, owned: { applier: named('a', 'c') } },
    ],
  ])('%s', (_, steps, expected) => check(steps, expected))
})

const a = (one: number, more: object = {}) => ({ name: 'a', one, ...more })
const b = (one: number) => ({ name: 'b', one })
const wholeB = ['.list[name="b"]', '.list[name="b"].name', '.list[name="b"].one']
const element = (name: string, ...value: readonly string[]) => (value.length === 0 ? { name } : { name, value })
const pathsOfElement = (name: string, ...more: readonly string[]) => [
  `.list[name="${name}"]`,
  `.list[name="${name}"].name`,
  ...more.map((field) => `.list[name="${name}"].${field}`),
]

// The examples of structured-merge-diff's merge/multiple_appliers_test.go.
describe('several who apply', () => {
  it.each<[string, readonly Step[], Expected]>([
    [
      'lose what they leave out, each their own',
      [
        ['apply', 'one', { list: [element('a'), element('b')] }],
        ['apply', 'two', { list: [element('c')] }],
        ['apply', 'one', { list: [element('a')] }],
      ],
      {
        value: { list: [{ name: 'a' }, { name: 'c' }] },
        owned: { one: pathsOfElement('a'), two: pathsOfElement('c') },
      },
    ],
    [
      'own together what they say alike',
      [
        ['apply', 'one', { list: [a(0)] }],
        ['apply', 'two', { list: [a(0)] }],
      ],
      { value: { list: [a(0)] }, owned: { one: pathsOfElement('a', 'one'), two: pathsOfElement('a', 'one') } },
    ],
    [
      'are refused where they say something else',
      [
        ['apply', 'one', { list: [a(0)] }],
        ['apply', 'two', { list: [a(1)] }],
      ],
      {
        value: { list: [a(0)] },
        owned: { one: pathsOfElement('a', 'one') },
        refused: [['.list[name="a"].one']],
      },
    ],
    [
      'keep what another still applies',
      [
        ['apply', 'one', { list: [element('a'), element('b'), element('c')] }],
        ['apply', 'two', { list: [element('c'), element('d')] }],
        ['apply', 'one', { list: [element('a')] }],
      ],
      {
        value: { list: [{ name: 'a' }, { name: 'c' }, { name: 'd' }] },
        owned: { one: pathsOfElement('a'), two: [...pathsOfElement('c'), ...pathsOfElement('d')] },
      },
    ],
    [
      'take their part out of an element that another keeps',
      [
        ['apply', 'one', { list: [element('a'), element('b', 'c')] }],
        ['apply', 'two', { list: [element('b', 'd')] }],
        ['apply', 'one', { list: [element('a')] }],
      ],
      {
        value: { list: [{ name: 'a' }, { name: 'b', value: ['d'] }] },
        owned: { one: pathsOfElement('a'), two: pathsOfElement('b', 'value[="d"]') },
      },
    ],
    [
      'leave what an update added to an element that another keeps',
      [
        ['apply', 'one', { list: [element('a'), element('b', 'c')] }],
        ['apply', 'two', { list: [element('b', 'd')] }],
        ['update', 'controller', { list: [element('a'), element('b', 'c', 'd', 'e')] }],
        ['apply', 'one', { list: [element('a')] }],
      ],
      {
        value: { list: [{ name: 'a' }, { name: 'b', value: ['d', 'e'] }] },
        owned: {
          one: pathsOfElement('a'),
          two: pathsOfElement('b', 'value[="d"]'),
          controller: ['.list[name="b"].value[="e"]'],
        },
      },
    ],
  ])('%s', (_, steps, expected) => check(steps, expected))
})

const versionNames = ['v1', 'v2', 'v3'] as const
const schemaOf = (version: string) =>
  object('', '', {
    struct: optional(
      object('', '', {
        name: optional(string(), ''),
        [`scalar_${version}`]: optional(string(), ''),
        [`complex_${version}`]: optional(object('', '', { name: optional(string(), '') }), ''),
      }),
      '',
    ),
  })
const schemas = new Map(versionNames.map((version) => [version as string, schemaOf(version)]))
/** Versions whose fields have the version in their name. */
const renaming: Versions = {
  schemaOf: (version) => schemas.get(version),
  convert: (value, from, to) => JSON.parse(JSON.stringify(value).replaceAll(`_${from}"`, `_${to}"`)),
}

describe('fields that are not applied any more, in any three versions', () => {
  const all = versionNames.flatMap((x) => versionNames.flatMap((y) => versionNames.map((z) => [x, y, z] as const)))

  it.each(all)('%s, %s, %s', (x, y, z) => {
    const scalar = (version: string, name?: string) => ({
      struct: { ...(name === undefined ? {} : { name }), [`scalar_${version}`]: 'a' },
    })
    const complex = (version: string, name?: string) => ({
      struct: { ...(name === undefined ? {} : { name }), [`complex_${version}`]: { name: 'b' } },
    })
    const nothing = { struct: { name: 'a' } }
    for (const [field, path] of [
      [scalar, (version: string) => `.struct.scalar_${version}`],
      [complex, (version: string) => `.struct.complex_${version}.name`],
    ] as const) {
      const alone = outcomeOf(
        [
          ['apply', 'one', field(x, 'a'), x],
          ['apply', 'one', nothing, y],
        ],
        renaming,
      )
      expect(alone).toEqual({ value: nothing, owned: { one: ['.struct.name'] }, refused: [] })
      const shared = outcomeOf(
        [
          ['apply', 'one', field(x, 'a'), x],
          ['apply', 'two', field(y), y],
          ['apply', 'one', nothing, z],
        ],
        renaming,
      )
      expect(shared).toEqual({ value: field('v1', 'a'), owned: { one: ['.struct.name'], two: [path(y)] }, refused: [] })
    }
    const updated = outcomeOf(
      [
        ['update', 'updater', scalar(x, 'a'), x],
        ['apply', 'applier', scalar(y, 'a'), y],
        ['apply', 'applier', nothing, z],
      ],
      renaming,
    )
    expect(updated.value).toEqual(scalar('v1', 'a'))
    expect(updated.owned).toEqual({
      updater: ['.struct', '.struct.name', `.struct.scalar_${x}`],
      applier: ['.struct.name'],
    })
  })
})

// Lists whose elements should be unique and are not, as an update may leave them: the examples of structured-merge-diff's
// merge/duplicates_test.go. Of elements with the same key nobody owns a field, only the key as such.
describe('elements of a list that stand there twice', () => {
  it.each<[string, readonly Step[], Expected]>([
    [
      'of a set are owned once',
      [['update', 'one', { set: [1, 1, 3, 4] }]],
      { owned: { one: ['.set', '.set[=1]', '.set[=3]', '.set[=4]'] } },
    ],
    [
      'of a set belong to whoever adds another',
      [
        ['update', 'one', { set: [1, 3, 4] }],
        ['update', 'two', { set: [1, 1, 3, 4] }],
      ],
      { owned: { one: ['.set', '.set[=3]', '.set[=4]'], two: ['.set[=1]'] } },
    ],
    [
      'of a set belong to whoever takes one away',
      [
        ['update', 'one', { set: [1, 1, 3, 4] }],
        ['update', 'two', { set: [1, 3, 4] }],
      ],
      { owned: { one: ['.set', '.set[=3]', '.set[=4]'], two: ['.set[=1]'] } },
    ],
    [
      'of a set become one where they are applied',
      [
        ['update', 'updater', { set: [1, 1, 3, 4] }],
        ['apply', 'applier', { set: [1] }],
        ['force', 'applier', { set: [1] }],
      ],
      {
        value: { set: [1, 3, 4] },
        owned: { updater: ['.set', '.set[=3]', '.set[=4]'], applier: ['.set[=1]'] },
        refused: [['.set[=1]']],
      },
    ],
    [
      'of a set stay where something else is applied',
      [
        ['update', 'updater', { set: [1, 1, 3, 4] }],
        ['apply', 'applier', { set: [5] }],
      ],
      {
        value: { set: [1, 1, 3, 4, 5] },
        owned: { updater: ['.set', '.set[=1]', '.set[=3]', '.set[=4]'], applier: ['.set[=5]'] },
      },
    ],
    [
      'are owned once, without their fields',
      [['update', 'one', { list: [a(1), a(2), b(3)] }]],
      { owned: { one: ['.list', '.list[name="a"]', ...wholeB] } },
    ],
    [
      'belong to whoever changes one',
      [
        ['update', 'one', { list: [a(1), a(2), b(3)] }],
        ['update', 'two', { list: [a(1), a(3), b(3)] }],
      ],
      { owned: { one: ['.list', ...wholeB], two: ['.list[name="a"]'] } },
    ],
    [
      'belong to whoever adds a field to one',
      [
        ['update', 'one', { list: [a(1), a(2), b(3)] }],
        ['update', 'two', { list: [a(1), a(2, { two: 3 }), b(3)] }],
      ],
      { owned: { one: ['.list', ...wholeB], two: ['.list[name="a"]'] } },
    ],
    [
      'belong to whoever adds the second',
      [
        ['update', 'one', { list: [a(1), b(3)] }],
        ['update', 'two', { list: [a(1), { name: 'a', two: 3 }, b(3)] }],
      ],
      { owned: { one: ['.list', ...wholeB], two: ['.list[name="a"]'] } },
    ],
    [
      'stay whose they are where another is added',
      [
        ['update', 'one', { list: [a(1), a(2)] }],
        ['update', 'two', { list: [a(1), a(2), b(3)] }],
      ],
      { owned: { one: ['.list', '.list[name="a"]'], two: wholeB } },
    ],
    [
      'stay where something else is applied',
      [
        ['update', 'updater', { list: [a(1), a(2), b(3)] }],
        ['force', 'applier', { unrelated: 5 }],
      ],
      {
        value: { list: [a(1), a(2), b(3)], unrelated: 5 },
        owned: { updater: ['.list', '.list[name="a"]', ...wholeB], applier: ['.unrelated'] },
      },
    ],
    [
      'become one where it is applied',
      [
        ['update', 'updater', { list: [a(1), a(2), b(3)] }],
        ['apply', 'applier', { list: [a(3)] }],
        ['force', 'applier', { list: [a(3)] }],
      ],
      {
        value: { list: [a(3), b(3)] },
        owned: {
          updater: ['.list', ...wholeB],
          applier: ['.list[name="a"]', '.list[name="a"].name', '.list[name="a"].one'],
        },
        refused: [['.list[name="a"]']],
      },
    ],
    [
      'stay where another is applied',
      [
        ['update', 'updater', { list: [a(1), a(2), b(3)] }],
        ['force', 'applier', { list: [b(4)] }],
      ],
      {
        value: { list: [a(1), a(2), b(4)] },
        owned: {
          updater: ['.list', '.list[name="a"]', '.list[name="b"]', '.list[name="b"].name'],
          applier: wholeB,
        },
      },
    ],
    [
      'stay where the one that was applied is not applied any more',
      [
        ['apply', 'applier', { list: [a(1), b(3)] }],
        ['update', 'updater', { list: [a(1), a(2), b(3)] }],
        ['apply', 'applier', { list: [b(3)] }],
      ],
      {
        value: { list: [a(1), a(2), b(3)] },
        owned: { applier: wholeB, updater: ['.list[name="a"]'] },
      },
    ],
  ])('%s', (_, steps, expected) => check(steps, expected))
})
