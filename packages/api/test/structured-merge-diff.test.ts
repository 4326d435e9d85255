/**
 * Server-side apply held against the examples of structured-merge-diff, which upstream's servers use for it.
 * `data/README.md` says where they come from.
 */
import { describe, expect, it } from 'vitest'
import { compareFields } from '../src/apply/compare.ts'
import { fieldSetOf } from '../src/apply/field-set-of.ts'
import { mergeApplied } from '../src/apply/merge.ts'
import type { Versions } from '../src/apply/ownership.ts'
import { removeFields } from '../src/apply/remove.ts'
import { fieldsUnderSchema } from '../src/apply/schema-changes.ts'
import { isJsonObject, member } from '../src/json.ts'
import { any, object, optional, setList, string } from '../src/schema/builders.ts'
import { OwnedObject, setOf, textsOf } from './owned-object.ts'
import { type ExampleStep, examples, schemaOfType, type UpdaterExample } from './structured-merge-diff.ts'

/** How an object of one version becomes one of another, by the name that the converter has in the examples. */
const conversions: Readonly<Record<string, Versions['convert']>> = {
  none: (value) => value,
  repeating: (value, _, to) =>
    renamed(value, (key) => key.replace(/^(.)\1*$/, (_, letter: string) => letter.repeat(Number(to.slice(1))))),
  reliantFields: (value, _, to) => {
    if (to === 'v2') return renamed(value, (key) => key.replace('field_foo_rely_on_bar', 'required_field_bar'))
    if (!JSON.stringify(value).includes('required_field_bar')) throw new Error('a required field is missing')
    return renamed(value, (key) => key.replace('required_field_bar', 'field_foo_rely_on_bar'))
  },
}

/** Of members that get the same name the last stays, in the order of the names before. */
function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, rename))
  if (!isJsonObject(value)) return value
  const members = Object.keys(value)
    .sort()
    .map((key) => [rename(key), renamed(member(value, key), rename)])
  return Object.fromEntries(members)
}

function versionsOf(schemaName: string, example: UpdaterExample): Versions {
  const conversion = example.conversion ?? 'none'
  const { types, root } = examples.schemas[schemaName] ?? {}
  const convert = conversions[conversion]
  if (convert === undefined) throw new Error(`no conversion ${conversion}`)
  return { schemaOf: (version) => schemaOfType(types, root ?? version), convert }
}

function played(example: UpdaterExample): OwnedObject {
  const { schema, ignored, steps } = example
  const subject = new OwnedObject(versionsOf(schema, example), (version) => setOf(ignored?.[version] ?? []))
  for (const step of steps) {
    if (step.schema !== undefined) subject.versions = versionsOf(step.schema, example)
    else subject.step(step)
  }
  return subject
}

describe('updates and applies', () => {
  it.each(examples.updater.map((example) => [example.test, example.name, example] as const))(
    '%s: %s',
    (_, __, example) => {
      if (example.refused) {
        expect(() => played(example)).toThrow()
        return
      }
      const subject = played(example)
      // The root itself is an object here, also where nothing is left of it.
      if (example.object !== undefined) expect(subject.in(example.version ?? 'v1')).toEqual(example.object ?? {})
      if (example.managed !== undefined) expect(subject.owned).toEqual(example.managed)
    },
  )
})

const step = (operation: ExampleStep['operation'], manager: string, version: string, value: unknown): ExampleStep => ({
  operation,
  manager,
  version,
  object: value,
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
  convert: (value, from, to) => renamed(value, (key) => key.replace(`_${from}`, `_${to}`)),
}

// TestMultipleAppliersFieldUnsetting of merge/multiple_appliers_test.go, whose examples are written for any three versions.
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
    const play = (...steps: readonly ExampleStep[]) => {
      const subject = new OwnedObject(renaming)
      for (const each of steps) subject.step(each)
      return { owned: subject.owned, value: subject.in('v1') }
    }
    for (const [field, path] of [
      [scalar, (version: string) => `.struct.scalar_${version}`],
      [complex, (version: string) => `.struct.complex_${version}.name`],
    ] as const) {
      expect(play(step('apply', 'one', x, field(x, 'a')), step('apply', 'one', y, nothing))).toEqual({
        value: nothing,
        owned: { one: { version: y, fields: ['.struct.name'] } },
      })
      const shared = [step('apply', 'one', x, field(x, 'a')), step('apply', 'two', y, field(y))]
      expect(play(...shared, step('apply', 'one', z, nothing))).toEqual({
        value: field('v1', 'a'),
        owned: { one: { version: z, fields: ['.struct.name'] }, two: { version: y, fields: [path(y)] } },
      })
    }
    const updated = [step('update', 'updater', x, scalar(x, 'a')), step('apply', 'applier', y, scalar(y, 'a'))]
    expect(play(...updated, step('apply', 'applier', z, nothing))).toEqual({
      value: scalar('v1', 'a'),
      owned: {
        updater: { version: x, fields: ['.struct', '.struct.name', `.struct.scalar_${x}`] },
        applier: { version: z, fields: ['.struct.name'] },
      },
    })
  })
})

// merge/obsolete_versions_test.go
describe('a version that is not served any more', () => {
  const served = (...names: readonly string[]): Versions => ({
    schemaOf: (version) =>
      names.includes(version)
        ? object('', '', { list: optional(setList(string()), ''), rest: optional(any, '') })
        : undefined,
    convert: (value) => value,
  })

  it('has no owners', () => {
    const subject = new OwnedObject(served('v1', 'v2'))
    subject.step(step('update', 'one', 'v1', { rest: { v1: 0 } }))
    subject.step(step('update', 'two', 'v2', { rest: { v1: 0, v2: 0 } }))
    subject.versions = served('v2', 'v3')
    subject.step(step('update', 'three', 'v3', { rest: { v1: 0, v2: 0, v3: 0 } }))
    expect(subject.owned).toEqual({
      two: { version: 'v2', fields: ['.rest.v2'] },
      three: { version: 'v3', fields: ['.rest.v3'] },
    })
  })

  it('takes nothing away that was applied in it', () => {
    const subject = new OwnedObject(served('v1'))
    subject.step(step('apply', 'one', 'v1', { list: ['a', 'b', 'c', 'd'] }))
    subject.versions = served('v2')
    subject.step(step('apply', 'one', 'v2', { list: ['a'] }))
    expect(subject.in('v2')).toEqual({ list: ['a', 'b', 'c', 'd'] })
  })
})

describe('merging', () => {
  for (const { name, types, root, cases } of examples.merge) {
    it.each(cases.map((each) => [JSON.stringify(each.lhs), JSON.stringify(each.rhs), each] as const))(
      `${name}: %s and %s`,
      (_, __, { lhs, rhs, out }) => expect(mergeApplied(schemaOfType(types, root ?? ''), lhs, rhs)).toEqual(out),
    )
  }
})

describe('comparing', () => {
  for (const { name, types, root, cases } of examples.compare) {
    it.each(cases.map((each) => [JSON.stringify(each.lhs), JSON.stringify(each.rhs), each] as const))(
      `${name}: %s and %s`,
      (_, __, { lhs, rhs, added, modified, removed }) => {
        const schema = schemaOfType(types, root ?? '')
        const there = compareFields(schema, lhs, rhs)
        expect([there.added, there.modified, there.removed].map(textsOf)).toEqual([added, modified, removed])
        const back = compareFields(schema, rhs, lhs)
        expect([back.added, back.modified, back.removed].map(textsOf)).toEqual([removed, modified, added])
      },
    )
  }
})

describe('the fields of a value', () => {
  for (const { name, types, root, cases } of examples.fields) {
    it.each(cases.map((each) => [JSON.stringify(each.object), each] as const))(`${name}: %s`, (_, { object, fields }) =>
      expect(textsOf(fieldSetOf(schemaOfType(types, root ?? ''), object))).toEqual(fields),
    )
  }
})

describe('removing fields', () => {
  for (const { name, types, root, cases } of examples.remove) {
    it.each(cases.map((each) => [each.fields.join(' '), JSON.stringify(each.object), each] as const))(
      `${name}: %s of %s`,
      (_, __, { object, fields, removed }) =>
        expect(removeFields(schemaOfType(types, root ?? ''), object, setOf(fields))).toEqual(removed),
    )
  }
})

describe('what somebody owns when the schema has changed', () => {
  it.each(examples.reconcile.map((each) => [each.name, each] as const))('%s', (_, { root, types, fields, fixed }) => {
    const owned = setOf(fields)
    const reconciled = fieldsUnderSchema(schemaOfType(types, root), owned)
    if (fixed === null) expect(reconciled).toBe(owned)
    else expect(textsOf(reconciled)).toEqual(fixed)
  })
})
