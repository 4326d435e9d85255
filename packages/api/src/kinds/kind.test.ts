import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../field-error.ts'
import { kindSchema } from '../meta.ts'
import { int32, object, optional, string } from '../schema/builders.ts'
import type { Infer } from '../schema/schema.ts'
import { column, wideColumn } from './columns.ts'
import { kind, resourceDefinition } from './kind.ts'

const crateSchema = kindSchema('io.k8s.api.storage.v1beta1.Crate', 'A crate.', {
  spec: optional(
    object('io.k8s.api.storage.v1beta1.CrateSpec', 'What is in it.', {
      bottles: optional(int32(), 'How many bottles there are to be.'),
      label: optional(string(), 'What is written on it.'),
    }),
    'What is in it.',
  ),
})

interface Crate extends Infer<typeof crateSchema> {}

const bottles = ({ spec }: Crate): number => spec?.bottles ?? 0

describe('a kind', () => {
  it('follows from its schema and its plural', () => {
    const crates = kind<Crate>(crateSchema, { plural: 'crates' })
    expect(crates).toMatchObject({
      group: 'storage.k8s.io',
      version: 'v1beta1',
      kind: 'Crate',
      listKind: 'CrateList',
      plural: 'crates',
      singular: 'crate',
      namespaced: true,
      hasStatus: false,
      storageKey: 'storage.k8s.io/crates',
      nameFormat: 'dns1123-subdomain',
      served: true,
      versions: [],
      rules: { createsOnUpdate: false, returnsDeletedObject: false, dependents: 'collected' },
    })
    expect(crates.verbs).toHaveLength(8)
    expect(crates.columns.map(({ name }) => name)).toEqual(['Name', 'Age'])
  })

  it('has a status of its own where its schema has one and the status can be read', () => {
    const schema = kindSchema('io.k8s.api.apps.v1.Crate', 'A crate.', { status: optional(object('', '', {}), 'How.') })
    expect(kind(schema, { plural: 'crates' })).toMatchObject({ group: 'apps', hasStatus: true })
    expect(resourceDefinition(schema, { plural: 'crates', verbs: ['create'] })).toMatchObject({ hasStatus: false })
  })

  it('gives its subresources its own group and version', () => {
    const subresources = {
      open: { kind: 'Opening', verbs: ['create'] },
      scale: { group: 'a', kind: 'B', verbs: ['get'] },
    }
    expect(kind<Crate>(crateSchema, { plural: 'crates', subresources } as never).subresources).toEqual({
      open: { group: 'storage.k8s.io', version: 'v1beta1', kind: 'Opening', verbs: ['create'] },
      scale: { group: 'a', version: 'v1beta1', kind: 'B', verbs: ['get'] },
    })
  })

  it('describes a column that shows a field as the field is described', () => {
    const columns = [
      column('Bottles', bottles, { field: 'spec.bottles' }),
      wideColumn('Size', () => 'XL', 'How large.'),
    ]
    expect(kind<Crate>(crateSchema, { plural: 'crates', columns }).columns).toMatchObject([
      { name: 'Bottles', type: 'integer', description: 'How many bottles there are to be.', priority: 0 },
      { name: 'Size', type: 'string', description: 'How large.', priority: 1 },
    ])
  })

  it('is no kind where a column shows a field that there is not', () => {
    const columns = [column('Corks', bottles, { field: 'spec.corks' })]
    expect(() => kind<Crate>(crateSchema, { plural: 'crates', columns })).toThrow('spec.corks')
  })
})

describe('the finalizers of a kind', () => {
  const crate: Crate = { apiVersion: '', kind: '', metadata: { finalizers: ['mine'] } }
  const refusal =
    'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified'
  const problems = (finalizers?: 'any') => {
    const { strategy } = kind<Crate>(crateSchema, {
      plural: 'crates',
      validate: () => [{ type: 'FieldValueInvalid', field: 'spec', message: 'wrong' }],
      ...(finalizers === undefined ? {} : { finalizers }),
    })
    return strategy.validate?.(crate, 'v1').map(describeFieldError)
  }

  it('must have a prefix, which is said before anything else', () => {
    expect(problems()).toEqual([refusal, 'spec: wrong'])
  })

  it('may be any where the kind says so', () => {
    expect(problems('any')).toEqual(['spec: wrong'])
  })
})
