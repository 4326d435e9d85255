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
  const { decode, applyDefaults } = compile(customResourceDefinitionSchema)
  const value = applyDefaults(decode(given).value)
  return customResourceDefinitions.applyDefaults?.(value) ?? value
}

/** As it is when it is validated. */
const stored = (wanted: CustomResourceDefinition) => strategy.prepareForCreate?.(wanted, 0) ?? wanted

const errorsOf = (wanted: CustomResourceDefinition) =>
  (strategy.validateCreate?.(stored(wanted), 'apiextensions.k8s.io/v1') ?? []).map(describeFieldError)

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

  it.each([5, 'string', []])('of the items of a list cannot be %j: there is none then', (items) => {
    const schema = { type: 'object', properties: { a: { type: 'array', items } } }
    expect(withSchema(schema).spec.versions[0]?.schema?.openAPIV3Schema?.properties?.a?.items).toEqual([])
  })

  it('keep values of any kind', () => {
    const props = { default: { a: [] }, enum: [null, '', 0], example: false }
    expect(withSchema({ type: 'object', properties: { a: props } }).spec.versions[0]?.schema?.openAPIV3Schema).toEqual({
      type: 'object',
      properties: { a: props },
    })
  })
})

describe('answers of the apiextensions server 1.36.4', () => {
  const text = { type: 'string' }
  const objectOf = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
  const withSchema = (openAPIV3Schema: object, more: object = {}) => version({ schema: { openAPIV3Schema }, ...more })
  const noMore =
    ',"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null'
  const versionLabel =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end " +
    "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
  it.each<[string, object, readonly string[]]>([
    [
      'a schema that all versions have stands once, beside them',
      { versions: [withSchema({ type: 'array' }), withSchema({ type: 'array' }, { name: 'v2', storage: false })] },
      [
        'spec.validation.openAPIV3Schema.items: Required value: must be specified',
        'spec.validation.openAPIV3Schema.type: Invalid value: "array": must be object at the root',
      ],
    ],
    [
      'of schemas that differ each stands in its version',
      { versions: [withSchema({ type: 'object' }), withSchema(text, { name: 'v2', storage: false })] },
      ['spec.versions[1].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
    ],
    [
      'columns and subresources that all versions have do, too',
      {
        versions: [
          version({ additionalPrinterColumns: [{ jsonPath: 'a', format: 'binary' }], subresources: { scale: {} } }),
        ],
      },
      [
        'spec.subresources.scale.specReplicasPath: Required value',
        'spec.subresources.scale.statusReplicasPath: Required value',
        'spec.additionalPrinterColumns[0].name: Required value',
        'spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].format: Invalid value: "binary": must be one of byte,date,date-time,double,float,int32,int64,password',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .',
      ],
    ],
    [
      'versions are shown as upstream has them',
      { versions: [version({ storage: false })] },
      [
        `spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false${noMore}}]: must have exactly one version marked as storage version`,
        'status.storedVersions: Invalid value: null: must have at least one stored version',
      ],
    ],
    [
      'the name of the first version is told twice',
      { versions: [version({ name: 'V1' })] },
      [
        `spec.versions[0].name: Invalid value: "V1": ${versionLabel}`,
        `spec.version: Invalid value: "V1": ${versionLabel}`,
      ],
    ],
    [
      'beside a status subresource not all may be said of the whole',
      { versions: [withSchema({ type: 'object', minProperties: 1 }, { subresources: { status: {} } })] },
      [
        expect.stringMatching(
          /^spec\.validation\.openAPIV3Schema: Invalid value: \{"ID":"","Schema":"",.*: only \[Description Type .* XValidations\] fields are allowed at the root of the schema if the status subresource is enabled$/,
        ),
      ],
    ],
    [
      'fields that selectors may name are there, of a kind that can be compared, and no more than eight',
      {
        versions: [
          withSchema(objectOf({ a: text, b: objectOf({ 'c-d': text }), l: { type: 'array', items: text } }), {
            selectableFields: [
              { jsonPath: '.a' },
              { jsonPath: '.a' },
              { jsonPath: '.b' },
              { jsonPath: ".b['c-d']" },
              { jsonPath: '.x' },
              { jsonPath: 'a' },
              { jsonPath: '' },
            ],
          }),
        ],
      },
      [
        'spec.selectableFields[1].jsonPath: Duplicate value: ".a"',
        'spec.selectableFields[2].jsonPath: Invalid value: ".b": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        'spec.selectableFields[3].jsonPath: Invalid value: ".b[\'c-d\']": is an invalid path: array notation is not allowed',
        'spec.selectableFields[4].jsonPath: Invalid value: ".x": is an invalid path: does not refer to a valid field',
        'spec.selectableFields[5].jsonPath: Invalid value: "a": is an invalid path: expected [ or . but got: a',
        'spec.selectableFields[6].jsonPath: Required value',
      ],
    ],
    [
      'fields for selectors of one version are none beside a schema of all',
      { versions: [version({ selectableFields: [{ jsonPath: '.a' }] }), version({ name: 'v2', storage: false })] },
      [
        'spec.versions[0].selectableFields: Invalid value: "": may only be set when `version.schema.openAPIV3Schema` is not included',
      ],
    ],
    [
      'warnings of deprecation can be read',
      {
        versions: [
          version({ deprecated: true, deprecationWarning: '' }),
          version({ name: 'v2', storage: false, deprecated: true, deprecationWarning: 'ä\t' }),
        ],
      },
      [
        'spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string',
        'spec.versions[1].deprecationWarning: Invalid value: "ä\\t": must only contain printable UTF-8 characters; non-printable character found at index 2',
      ],
    ],
    [
      'defaults and conversion ask for pruning',
      {
        preserveUnknownFields: true,
        versions: [withSchema(objectOf({ a: { ...text, default: 'a' } }))],
        conversion: { strategy: '' },
      },
      [
        'spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema',
        'spec.conversion.strategy: Invalid value: "": must be None if spec.preserveUnknownFields is true',
        'spec.conversion.strategy: Required value',
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'a webhook is somewhere',
      { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: '' }, conversionReviewVersions: ['v1'] } } },
      [
        'spec.conversion.webhookClientConfig.url: Invalid value: "": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'spec.conversion.webhookClientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
      ],
    ],
    [
      'everything may be missing',
      { group: undefined, names: undefined, scope: undefined },
      [
        'metadata.name: Invalid value: "crates.example.com": must be spec.names.plural+"."+spec.group',
        'spec.group: Required value',
        'spec.scope: Required value',
        'spec.names.plural: Required value',
        'spec.names.singular: Required value',
        'spec.names.kind: Required value',
        'spec.names.listKind: Required value',
      ],
    ],
  ])('%s', (_, spec, expected) => {
    expect(errorsOf(definition(spec))).toEqual(expected)
  })

  it('certificates of a webhook are read once the definition is established, unless those before could not be', () => {
    const converted = (caBundle: string) => {
      const webhook = { clientConfig: { url: 'https://a.example.com', caBundle }, conversionReviewVersions: ['v1'] }
      return stored(definition({ conversion: { strategy: 'Webhook', webhook } }))
    }
    const established = (each: CustomResourceDefinition): CustomResourceDefinition => ({
      ...each,
      status: {
        ...each.status,
        conditions: [{ type: 'Established', status: 'True' }],
      } as CustomResourceDefinition['status'],
    })
    const update = (next: CustomResourceDefinition, old: CustomResourceDefinition) =>
      (strategy.validateUpdate?.(next, old, '') ?? []).map(describeFieldError)
    expect(update(converted('YQ=='), converted(''))).toEqual([])
    expect(update(converted('YQ=='), established(converted('')))).toEqual([
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: "YQ==": unable to load root certificates: unable to parse bytes as PEM block',
    ])
    expect(update(converted('Yg=='), established(converted('YQ==')))).toEqual([])
  })

  it('formats that nothing is checked by are warned of, once', () => {
    const formats = withSchema(
      objectOf({
        a: { ...text, format: 'date-time' },
        b: { ...text, format: 'odd' },
        c: { type: 'integer', format: 'odd' },
      }),
    )
    const made = definition({ versions: [formats] })
    expect(strategy.warnings?.(made, undefined)).toEqual(['unrecognized format "odd"'])
    expect(strategy.warnings?.(made, made)).toEqual([])
  })

  it('a status without stored versions has the storage version', () => {
    expect(customResourceDefinitions.applyDefaults?.(definition()).status?.storedVersions).toEqual(['v1'])
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
    [{ versions: [version({ schema: undefined })] }, 'spec.versions[0].schema.openAPIV3Schema: Required value'],
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
      'should be a json path under either .spec or .status',
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
