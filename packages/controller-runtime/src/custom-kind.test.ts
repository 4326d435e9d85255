import { defaulted, int32, object, optional, required, string } from '@coracle/api'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { customKind, newObject, type ObjectOf } from './custom-kind.ts'

const spec = object('', 'What is wanted.', {
  image: required(string(), 'The image.'),
  replicas: defaulted(int32({ minimum: 0 }), 'How many.', 1),
})
const status = object('', 'How it stands.', { ready: optional(int32(), 'How many are ready.') })

const website = customKind({
  group: 'example.com',
  kind: 'Website',
  doc: 'A website.',
  shortNames: ['site'],
  categories: ['all'],
  versions: {
    v1: {
      fields: { spec: required(spec, 'What is wanted.'), status: optional(status, 'How it stands.') },
      columns: [{ name: 'Ready', type: 'integer', jsonPath: '.status.ready' }],
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.ready' },
      selectableFields: ['.spec.image'],
      cel: [{ rule: 'self.metadata.name.size() < 20' }],
    },
    v1beta1: {
      fields: { spec: required(object('', '', { image: required(string(), 'The image.') }), 'What is wanted.') },
      deprecated: 'use example.com/v1',
    },
  },
})

describe('a kind of one’s own', () => {
  it('is a CustomResourceDefinition', () => {
    const { metadata, spec } = website.definition
    expect(metadata.name).toBe('websites.example.com')
    expect(spec).toMatchObject({
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        kind: 'Website',
        listKind: 'WebsiteList',
        plural: 'websites',
        singular: 'website',
        shortNames: ['site'],
        categories: ['all'],
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas' } },
          additionalPrinterColumns: [{ name: 'Ready', type: 'integer', jsonPath: '.status.ready' }],
          selectableFields: [{ jsonPath: '.spec.image' }],
          schema: {
            openAPIV3Schema: {
              description: 'A website.',
              required: ['spec'],
              'x-kubernetes-validations': [{ rule: 'self.metadata.name.size() < 20' }],
              properties: { spec: { properties: { replicas: { default: 1, minimum: 0 } } } },
            },
          },
        },
        { name: 'v1beta1', served: true, storage: false, deprecated: true, deprecationWarning: 'use example.com/v1' },
      ],
    })
    expect(spec.versions[1]).not.toHaveProperty('subresources')
  })

  it('has a resource for each version, typed by its schema', () => {
    expect(website.versions.v1).toEqual({
      group: 'example.com',
      version: 'v1',
      kind: 'Website',
      plural: 'websites',
      namespaced: true,
    })
    type Website = ObjectOf<typeof website.versions.v1>
    expectTypeOf<Website['spec']>().toEqualTypeOf<{ readonly image: string; readonly replicas: number }>()
    expectTypeOf<Website['status']>().toEqualTypeOf<{ readonly ready?: number | undefined } | undefined>()
    const site = newObject(website.versions.v1, { metadata: { name: 'shop' }, spec: { image: 'web', replicas: 2 } })
    expect(site).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Website', spec: { image: 'web' } })
  })

  it.each([
    ['Website', 'websites'],
    ['Policy', 'policies'],
    ['Gateway', 'gateways'],
    ['Class', 'classes'],
    ['Box', 'boxes'],
    ['Patch', 'patches'],
  ])('%s has the plural %s', (kind, plural) => {
    const { definition } = customKind({ group: 'g.io', kind, doc: '', versions: { v1: { fields: {} } } })
    expect(definition.spec.names.plural).toBe(plural)
  })

  it('is stored in the version that says so', () => {
    const { definition } = customKind({
      group: 'g.io',
      kind: 'Thing',
      doc: '',
      scope: 'Cluster',
      versions: { v1alpha1: { fields: {}, served: false }, v1: { fields: {}, storage: true } },
    })
    expect(definition.spec.versions).toMatchObject([
      { name: 'v1alpha1', served: false, storage: false },
      { name: 'v1', served: true, storage: true },
    ])
    expect(definition.spec.scope).toBe('Cluster')
  })
})
