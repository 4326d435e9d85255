import { beforeAll, describe, expect, it } from 'vitest'
import { describeFieldError } from '../../field-error.ts'
import { compile } from '../../schema/compile.ts'
import { customResourceDefinitions } from './custom-resource-definition.ts'
import { type CustomResourceDefinition, customResourceDefinitionSchema } from './custom-resource-definition-schema.ts'

const { strategy } = customResourceDefinitions

beforeAll(() => strategy.load?.())

const version = (more: object = {}) => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
})

const definition = (spec: object = {}, metadata: object = {}): CustomResourceDefinition => {
  const names = { plural: 'crates', kind: 'Crate' }
  const given = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'crates.example.com', ...metadata },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version()], ...spec },
  }
  const { value } = compile(customResourceDefinitionSchema).decode(given)
  return customResourceDefinitions.applyDefaults?.(value) ?? value
}

const errorsOf = (wanted: CustomResourceDefinition) =>
  (strategy.validate?.(wanted, 'apiextensions.k8s.io/v1') ?? []).map(describeFieldError)

describe('defaults', () => {
  it('name what follows from the kind, and convert nothing', () => {
    const { spec } = definition()
    expect(spec.names).toEqual({ plural: 'crates', kind: 'Crate', singular: 'crate', listKind: 'CrateList' })
    expect(spec.conversion).toEqual({ strategy: 'None' })
  })

  it('have a version served and stored only where somebody says so', () => {
    const silent = definition({ versions: [version(), { name: 'v2', schema: version().schema }] })
    const { applyDefaults, validate } = compile(customResourceDefinitionSchema)
    expect(applyDefaults(silent).spec.versions[1]).toMatchObject({ served: false, storage: false })
    expect(validate(applyDefaults(silent))).toEqual([])
  })

  it('are made once: what has them comes back as it is', () => {
    const once = definition()
    expect(customResourceDefinitions.applyDefaults?.(once)).toBe(once)
  })
})

describe('schemas within schemas', () => {
  const withSchema = (openAPIV3Schema: object) => definition({ versions: [version({ schema: { openAPIV3Schema } })] })

  it('are pruned wherever they stand', () => {
    const unknown = { type: 'string', unknown: 1 }
    const { spec } = withSchema({
      type: 'object',
      properties: { a: { type: 'array', items: unknown }, b: { type: 'object', additionalProperties: unknown } },
    })
    expect(spec.versions[0]?.schema?.openAPIV3Schema?.properties).toEqual({
      a: { type: 'array', items: { type: 'string' } },
      b: { type: 'object', additionalProperties: { type: 'string' } },
    })
  })

  it.each([5, 'string', null])('cannot be %j', (items) => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: [items] } } }
    expect(() => withSchema(schema)).toThrow('a schema in spec.versions is no object')
  })

  it('keep values of any kind', () => {
    const props = { default: { a: [] }, enum: [null, '', 0], example: false }
    expect(withSchema({ type: 'object', properties: { a: props } }).spec.versions[0]?.schema?.openAPIV3Schema).toEqual({
      type: 'object',
      properties: { a: props },
    })
  })
})

describe('validation', () => {
  it('has nothing to say of a good definition', () => {
    expect(errorsOf(definition())).toEqual([])
  })

  const column = (more: object) => ({
    additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a', ...more }],
  })
  const scale = (more: object) => ({
    subresources: { scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r', ...more } },
  })
  const webhook = (clientConfig: object, conversionReviewVersions: readonly string[] = ['v1']) => ({
    conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions } },
  })
  const clientPath = 'spec.conversion.webhookClientConfig'
  it.each<[object, string]>([
    [{ group: 'example' }, 'spec.group: Invalid value: "example": should be a domain with at least one dot'],
    [webhook({ url: 'https://a.example.com' }, []), 'spec.conversion.conversionReviewVersions: Required value'],
    [
      { conversion: { strategy: 'None', webhook: { clientConfig: {}, conversionReviewVersions: ['v1'] } } },
      'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
    ],
    [
      { versions: [version(column({ type: '' }))] },
      'additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
    ],
    [{ versions: [version(column({ jsonPath: '' }))] }, 'additionalPrinterColumns[0].JSONPath: Required value'],
    [{ scope: 'World' }, 'spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'],
    [
      { names: { plural: 'crates', kind: 'A b' } },
      'spec.names.kind: Invalid value: "A b": may have mixed case, but should otherwise match: ',
    ],
    [{ names: { plural: 'crates', kind: '' } }, 'spec.names.kind: Required value'],
    [{ names: { plural: '', kind: 'Crate' } }, 'spec.names.plural: Required value'],
    [
      { names: { plural: 'crates', kind: 'A', listKind: 'A' } },
      'spec.names.listKind: Invalid value: "A": kind and listKind may not be the same',
    ],
    [
      { names: { plural: 'crates', kind: 'A', shortNames: ['B'] } },
      'spec.names.shortNames[0]: Invalid value: "B": a DNS-1035 label',
    ],
    [{ versions: [version(), version({ storage: false })] }, 'must contain unique version names'],
    [{ versions: [version({ storage: false })] }, 'must have exactly one version marked as storage version'],
    [
      { versions: [version({ schema: undefined })] },
      'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
    ],
    [
      { versions: [version({ schema: { openAPIV3Schema: {} } })] },
      'openAPIV3Schema.type: Required value: must not be empty at the root',
    ],
    [
      { versions: [version({ deprecationWarning: 'a' })] },
      'deprecationWarning: Invalid value: "a": can only be set for deprecated versions',
    ],
    [
      { versions: [version(column({ type: 'text' }))] },
      'additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
    ],
    [{ versions: [version(column({ jsonPath: 'a' }))] }, 'must be a simple json path starting with .'],
    [
      { versions: [version(scale({ specReplicasPath: '.status.r' }))] },
      'subresources.scale.specReplicasPath: Invalid value: ".status.r": should be a json path under .spec',
    ],
    [
      { versions: [version(scale({ labelSelectorPath: '.x' }))] },
      'should be a json path under either .status or .spec',
    ],
    [
      { versions: [version({ selectableFields: [{ jsonPath: '.a[0]' }] })] },
      'selectableFields[0].jsonPath: Invalid value: ".a[0]"',
    ],
    [{ conversion: { strategy: 'Magic' } }, 'spec.conversion.strategy: Unsupported value: "Magic"'],
    [webhook({}), `${clientPath}: Required value: exactly one of url or service is required`],
    [
      webhook({ url: 'http://a.b' }),
      `${clientPath}.url: Invalid value: "http": 'https' is the only allowed URL scheme`,
    ],
    [webhook({ url: 'https://a.b' }, ['v9']), 'must include at least one of v1, v1beta1'],
    [
      webhook({ url: 'https://a.b' }, ['v1', 'v1']),
      'conversionReviewVersions[1]: Invalid value: "v1": duplicate version',
    ],
    [{ preserveUnknownFields: true }, 'spec.preserveUnknownFields: Invalid value: true: cannot set to true'],
  ])('refuses %j', (spec, error) => {
    expect(errorsOf(definition(spec)).join('\n')).toContain(error)
  })

  it('wants the name to be that of the resource, and community groups approved', () => {
    expect(errorsOf(definition({}, { name: 'a' }))[0]).toContain('must be spec.names.plural+"."+spec.group')
    const community = { group: 'x.k8s.io' }
    const name = 'crates.x.k8s.io'
    expect(errorsOf(definition(community, { name })).join()).toContain('protected groups must have approval annotation')
    const annotations = { 'api-approved.kubernetes.io': 'unapproved' }
    expect(errorsOf(definition(community, { name, annotations }))).toEqual([])
  })

  it('keeps scope and kind of what is established, and group and plural always', () => {
    const update = (old: CustomResourceDefinition, spec: object) =>
      (strategy.validateUpdate?.(definition(spec), old, '') ?? [])
        .map(({ field }) => field)
        .filter((field) => field.startsWith('spec'))
    const changed = { scope: 'Cluster', group: 'other.com', names: { plural: 'boxes', kind: 'Box' } }
    expect(update(definition(), changed)).toEqual(['spec.group', 'spec.names.plural'])
    const established = { ...definition(), status: { conditions: [{ type: 'Established', status: 'True' }] } }
    expect(update(established, changed)).toEqual(['spec.scope', 'spec.names.kind', 'spec.group', 'spec.names.plural'])
  })
})

it('is held by its finalizer when it is deleted, once', () => {
  const marked = strategy.prepareForDelete?.(definition(), 0)
  expect(marked?.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io'])
  expect(marked?.status?.conditions).toMatchObject([{ type: 'Terminating', reason: 'InstanceDeletionPending' }])
  expect(strategy.prepareForDelete?.(marked ?? definition(), 0).metadata.finalizers).toHaveLength(1)
})
