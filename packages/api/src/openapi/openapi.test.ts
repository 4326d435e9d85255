import { describe, expect, it } from 'vitest'
import { builtinResources } from '../kinds/builtin-kinds.ts'
import { object, optional, string } from '../schema/builders.ts'
import { widgets } from '../testing/sample-kind.ts'
import { documentSources } from './document.ts'
import { tokenIssuerPaths, versionPath } from './server-paths.ts'
import { openApiV2 } from './v2.ts'
import { openApiV3, openApiV3OfGroups } from './v3.ts'

type Json = { readonly [key: string]: Json }

const widgetKind = { group: 'example.test', version: 'v1', kind: 'Widget' }
const object_ = '/apis/example.test/v1/namespaces/{namespace}/widgets/{name}'

describe('openApiV3', () => {
  const document = openApiV3([widgets], 'example.test', 'v1', { serverVersion: 'v1.36.0' }) as Json
  const schemas = at(document, 'components', 'schemas')

  it('has the paths of the group and version', () => {
    expect(Object.keys(at(document, 'paths'))).toEqual([
      '/apis/example.test/v1/',
      '/apis/example.test/v1/namespaces/{namespace}/widgets',
      object_,
      `${object_}/status`,
      `${object_}/run`,
      '/apis/example.test/v1/widgets',
      '/apis/example.test/v1/watch/namespaces/{namespace}/widgets',
      '/apis/example.test/v1/watch/namespaces/{namespace}/widgets/{name}',
      '/apis/example.test/v1/watch/widgets',
    ])
    expect(openApiV3([widgets], 'example.test', 'v2')).toMatchObject({ paths: {} })
  })

  it('names operations as upstream does', () => {
    const ids = Object.values(at(document, 'paths')).flatMap((path) =>
      Object.values(path).flatMap((operation) => operation.operationId ?? []),
    )
    expect(ids).toEqual([
      'getExampleTestV1APIResources',
      'listExampleTestV1NamespacedWidget',
      'createExampleTestV1NamespacedWidget',
      'deleteExampleTestV1CollectionNamespacedWidget',
      'readExampleTestV1NamespacedWidget',
      'replaceExampleTestV1NamespacedWidget',
      'patchExampleTestV1NamespacedWidget',
      'deleteExampleTestV1NamespacedWidget',
      'readExampleTestV1NamespacedWidgetStatus',
      'replaceExampleTestV1NamespacedWidgetStatus',
      'patchExampleTestV1NamespacedWidgetStatus',
      'createExampleTestV1NamespacedWidgetRun',
      'listExampleTestV1WidgetForAllNamespaces',
      'watchExampleTestV1NamespacedWidgetList',
      'watchExampleTestV1NamespacedWidget',
      'watchExampleTestV1WidgetListForAllNamespaces',
    ])
  })

  // Clients that make their methods of the document have no others to watch with.
  it('has the paths of watches in their first form, but of custom kinds', () => {
    const watched = at(document, 'paths', '/apis/example.test/v1/watch/namespaces/{namespace}/widgets/{name}')
    const parameters = ['name', 'namespace', 'resourceVersion', 'labelSelector', 'watch', 'pretty']
    expect(watched.parameters).toEqual(
      expect.arrayContaining(parameters.map((name) => expect.objectContaining({ name }))),
    )
    const event = { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent' }
    expect(watched.get).toMatchObject({
      'x-kubernetes-action': 'watch',
      'x-kubernetes-group-version-kind': widgetKind,
      responses: { '200': { content: { 'application/json;stream=watch': { schema: event } } } },
    })
    const core = at(openApiV3(builtinResources, '', 'v1') as Json, 'paths')
    const paths = Object.keys(core).filter((path) => /^\/api\/v1\/watch\/(nodes|pods|componentstatuses)/.test(path))
    expect(paths.map((path) => [path, at(core, path, 'get')['x-kubernetes-action']])).toEqual([
      ['/api/v1/watch/nodes', 'watchlist'],
      ['/api/v1/watch/nodes/{name}', 'watch'],
      ['/api/v1/watch/pods', 'watchlist'],
    ])
    const custom = { ...widgets, schema: { ...widgets.schema, dialect: 'structural' } } as const
    expect(Object.keys(openApiV3([custom], 'example.test', 'v1').paths as Json).join()).not.toContain('/watch/')
  })

  it('tells clients that patches are validated on the server', () => {
    const patch = at(document, 'paths', object_, 'patch')
    expect(patch).toMatchObject({ 'x-kubernetes-group-version-kind': widgetKind, 'x-kubernetes-action': 'patch' })
    expect(JSON.stringify(patch.parameters)).toContain('"name":"fieldValidation"')
    expect(Object.keys(at(patch, 'requestBody', 'content'))).toContain('application/apply-patch+yaml')
  })

  it('has the words that upstream’s own tests look for', () => {
    const list = JSON.stringify(at(document, 'paths', '/apis/example.test/v1/widgets', 'get'))
    expect(list).toContain('Restricts the list of returned objects')
    expect(list).toContain('Watch for changes to the described resources')
    expect(JSON.stringify(schemas['example.test.v1.WidgetList'])).toContain('List of widgets')
  })

  it('describes kinds for kubectl explain', () => {
    expect(schemas['example.test.v1.Widget']).toMatchObject({
      description: 'A widget.',
      type: 'object',
      'x-kubernetes-group-version-kind': [widgetKind],
      properties: {
        spec: { description: 'What is wanted.', allOf: [{ $ref: '#/components/schemas/example.test.v1.WidgetSpec' }] },
      },
    })
    expect(at(document, 'paths', object_, 'get')).toMatchObject({ 'x-kubernetes-group-version-kind': widgetKind })
  })

  it('describes fields with their types, lists and patches', () => {
    const { properties, required } = schemas['example.test.v1.WidgetSpec'] as Json
    expect(required).toEqual(['parts'])
    expect(properties).toMatchObject({
      replicas: { type: 'integer', format: 'int32', minimum: 0, description: 'How many.' },
      parts: {
        type: 'array',
        items: { $ref: '#/components/schemas/example.test.v1.Part' },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        'x-kubernetes-patch-strategy': 'merge',
        'x-kubernetes-patch-merge-key': 'name',
      },
      sources: { 'x-kubernetes-patch-strategy': 'merge,retainKeys' },
      tags: { type: 'array', 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' },
      steps: { 'x-kubernetes-list-type': 'atomic', maxItems: 5 },
      strategy: { 'x-kubernetes-patch-strategy': 'retainKeys' },
      budget: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity' }] },
      startTime: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time' }] },
      data: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
      note: { type: 'string', nullable: true, maxLength: 10 },
      extra: { description: 'Anything at all.' },
    })
    expect(at(schemas, 'example.test.v1.Port', 'properties')).toMatchObject({
      protocol: { enum: ['TCP', 'UDP'] },
    })
  })

  it('follows recursion once', () => {
    expect(schemas['example.test.v1.Tree']).toMatchObject({
      properties: { branches: { items: { $ref: '#/components/schemas/example.test.v1.Tree' } } },
    })
  })

  it('has lists, and what every API exchanges', () => {
    expect(schemas['example.test.v1.WidgetList']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ ...widgetKind, kind: 'WidgetList' }],
    })
    const common = 'io.k8s.apimachinery.pkg.apis.meta.v1'
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining([
        `${common}.Status`,
        `${common}.DeleteOptions`,
        `${common}.WatchEvent`,
        `${common}.Patch`,
      ]),
    )
    const events = at(schemas, `${common}.WatchEvent`)['x-kubernetes-group-version-kind'] as unknown as readonly Json[]
    expect(events[0]).toEqual({ group: '', version: 'v1', kind: 'WatchEvent' })
    expect(events).toContainEqual({ group: 'example.test', version: 'v1', kind: 'WatchEvent' })
    // Upstream's programs know these, though they serve them no more.
    expect(events).toContainEqual({ group: 'extensions', version: 'v1beta1', kind: 'WatchEvent' })
  })

  it('only refers to what it defines', () => {
    expect(danglingReferences(document)).toEqual([])
  })

  // Go's readers drop it: upstream's tests compare what they have read with what they read of what they write.
  it('has no empty list of parameters', () => {
    const everything = [widgets, ...builtinResources]
    for (const { group, version } of everything) {
      expect(JSON.stringify(openApiV3(everything, group, version))).not.toContain('"parameters":[]')
    }
  })

  it('says in which formats kinds are read and answered, by whether they have messages of protobuf', () => {
    const core = openApiV3(builtinResources, '', 'v1') as Json
    const typesOf = (path: string, method: string) => {
      const { requestBody, responses } = at(core, 'paths', path, method)
      return [Object.keys(requestBody?.content ?? {}), Object.keys(at(responses as Json, '200', 'content'))]
    }
    const [json, yaml, protobuf] = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
    const one = '/api/v1/namespaces/{namespace}/pods/{name}'
    expect(typesOf(one, 'put')).toEqual([['*/*'], [json, yaml, protobuf]])
    const watched = [`${json};stream=watch`, `${protobuf};stream=watch`]
    expect(typesOf('/api/v1/pods', 'get')).toEqual([[], [json, yaml, protobuf, ...watched]])
    expect(typesOf(`${one}/log`, 'get')).toEqual([[], ['text/plain', json, yaml, protobuf]])
    expect(at(core, 'paths', `${one}/log`, 'get', 'responses', '200', 'content', 'text/plain')).toEqual({
      schema: { type: 'string' },
    })
    expect(typesOf(`${one}/exec`, 'post')).toEqual([[], ['*/*']])
    const custom = { ...widgets, schema: { ...widgets.schema, dialect: 'structural' } } as const
    const { put } = at(openApiV3([custom], 'example.test', 'v1') as Json, 'paths', object_)
    expect(Object.keys(at(put as Json, 'requestBody', 'content'))).toEqual([json, yaml])
    expect(Object.keys(at(put as Json, 'responses', '200', 'content'))).toEqual([json, yaml])
  })

  it('names the options of connections and logs', () => {
    const core = openApiV3(builtinResources, '', 'v1') as Json
    const namesAt = (path: string) =>
      (at(core, 'paths', path).parameters as unknown as readonly Json[]).map(
        ({ name, in: place }) => `${place} ${name}`,
      )
    const pod = '/api/v1/namespaces/{namespace}/pods/{name}'
    const inner = ['path name', 'path namespace']
    const streams = ['query container', 'query stderr', 'query stdin', 'query stdout', 'query tty']
    expect(namesAt(`${pod}/exec`)).toEqual([...inner, 'query command', ...streams])
    expect(namesAt(`${pod}/proxy/{path}`)).toEqual([...inner, 'path path', 'query path'])
    expect(namesAt(`${pod}/log`)).toEqual(expect.arrayContaining(['query follow', 'query tailLines', 'query pretty']))
  })

  it('takes the schemas of what subresources exchange', () => {
    const run = object('example.test.v1.Run', 'A run.', { speed: optional(string(), 'How fast.') })
    const kinds = [{ schema: run, kinds: [{ group: 'example.test', version: 'v1', kind: 'Run' }] }]
    const extended = openApiV3([widgets], 'example.test', 'v1', { kinds }) as Json
    expect(JSON.stringify(at(extended, 'paths', `${object_}/run`, 'post'))).toContain(
      '#/components/schemas/example.test.v1.Run',
    )
    expect(JSON.stringify(at(document, 'paths', `${object_}/run`, 'post'))).not.toContain('$ref')
  })
})

describe('openApiV2', () => {
  const document = openApiV2([widgets]) as Json

  it('is Swagger 2.0', () => {
    expect(document).toMatchObject({ swagger: '2.0', info: { title: 'Kubernetes' } })
    expect(at(document, 'paths', object_, 'put')).toMatchObject({
      operationId: 'replaceExampleTestV1NamespacedWidget',
      consumes: ['*/*'],
      responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/example.test.v1.Widget' } } },
    })
    expect(at(document, 'paths', object_, 'put').parameters).toEqual(
      expect.arrayContaining([
        { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/example.test.v1.Widget' } },
        expect.objectContaining({ name: 'fieldValidation', in: 'query', type: 'string' }),
      ]),
    )
  })

  it('writes references beside descriptions, and leaves out what upstream does', () => {
    const spec = at(document, 'definitions', 'example.test.v1.WidgetSpec', 'properties')
    expect(spec.strategy).toMatchObject({
      $ref: '#/definitions/example.test.v1.Strategy',
      description: 'How it changes.',
    })
    expect(at(document, 'definitions', 'example.test.v1.Port', 'properties', 'protocol')).not.toHaveProperty('enum')
  })

  it('only refers to what it defines', () => {
    expect(danglingReferences(document)).toEqual([])
  })
})

describe('what documents say of discovery', () => {
  const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'
  const whole = openApiV2(builtinResources) as Json
  const ofGroups = openApiV3OfGroups(builtinResources) as ReadonlyMap<string, Json>
  const tells = (kind: string) => ({
    'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind }],
  })

  it.each([
    ['/api/', 'getCoreAPIVersions', 'core', 'APIVersions'],
    ['/api/v1/', 'getCoreV1APIResources', 'core_v1', 'APIResourceList'],
    ['/apis/', 'getAPIVersions', 'apis', 'APIGroupList'],
    ['/apis/rbac.authorization.k8s.io/', 'getRbacAuthorizationAPIGroup', 'rbacAuthorization', 'APIGroup'],
    ['/apis/apps/v1/', 'getAppsV1APIResources', 'apps_v1', 'APIResourceList'],
  ])('is a path %s, %s, that answers with a kind of v1', (path, operationId, tag, kind) => {
    const answer = { schema: { $ref: `#/definitions/${meta}.${kind}` } }
    expect(at(whole, 'paths', path, 'get')).toMatchObject({ operationId, tags: [tag], responses: { 200: answer } })
    expect(at(whole, 'definitions', `${meta}.${kind}`)).toMatchObject(tells(kind))
  })

  it('stands in OpenAPI 3 with the version, or in a document of its own', () => {
    const apps = openApiV3(builtinResources, 'apps', 'v1') as Json
    expect(Object.keys(at(apps, 'paths')).filter((path) => path.endsWith('/'))).toEqual(['/apis/apps/v1/'])
    expect(at(apps, 'components', 'schemas', `${meta}.APIResourceList`)).toMatchObject(tells('APIResourceList'))
    expect([...ofGroups.keys()]).toEqual(expect.arrayContaining(['api', 'apis', 'apis/apps', 'apis/batch']))
    expect([...ofGroups.keys()].filter((path) => path.includes('v1'))).toEqual([])
    const groups = ofGroups.get('apis') as Json
    expect(Object.keys(at(groups, 'paths'))).toEqual(['/apis/'])
    expect(at(groups, 'components', 'schemas', `${meta}.APIGroup`)).toMatchObject(tells('APIGroup'))
    expect(danglingReferences(whole)).toEqual([])
  })

  it('is told with other paths of the server, each in a document of its own in OpenAPI 3', () => {
    const options = { serverPaths: [versionPath, ...tokenIssuerPaths] }
    const whole = openApiV2(builtinResources, options) as Json
    const info = 'io.k8s.apimachinery.pkg.version.Info'
    expect(at(whole, 'paths', '/version/', 'get')).toMatchObject({
      operationId: 'getCodeVersion',
      consumes: ['application/json'],
      produces: ['application/json'],
      tags: ['version'],
      responses: { 200: { schema: { $ref: `#/definitions/${info}` } } },
    })
    expect(at(whole, 'definitions', info)).not.toHaveProperty('x-kubernetes-group-version-kind')
    expect(at(whole, 'definitions', info).required).toContain('gitVersion')
    const keys = at(whole, 'paths', '/openid/v1/jwks/', 'get')
    expect(keys).toMatchObject({
      produces: ['application/jwk-set+json'],
      responses: { 200: { schema: { type: 'string' } } },
    })
    expect(keys).not.toHaveProperty('consumes')
    const documents = openApiV3OfGroups(builtinResources, options) as ReadonlyMap<string, Json>
    expect([...documents.keys()].slice(-3)).toEqual(['version', '.well-known/openid-configuration', 'openid/v1/jwks'])
    const version = documents.get('version') as Json
    expect(Object.keys(at(version, 'components', 'schemas'))).toEqual([info])
    expect(at(documents.get('openid/v1/jwks') as Json, 'paths', '/openid/v1/jwks/', 'get', 'responses', '200')).toEqual(
      {
        description: 'OK',
        content: { 'application/jwk-set+json': { schema: { type: 'string' } } },
      },
    )
    expect(danglingReferences(whole)).toEqual([])
  })

  it('has lists that are taken whole, and what is required in the order of the fields', () => {
    const resource = at(whole, 'definitions', `${meta}.APIResource`)
    expect(resource.required).toEqual(['name', 'singularName', 'namespaced', 'kind', 'verbs'])
    expect(at(resource, 'properties', 'shortNames')).toMatchObject({ 'x-kubernetes-list-type': 'atomic' })
    expect(at(resource, 'properties', 'verbs')).not.toHaveProperty('x-kubernetes-list-type')
  })

  it('is not told of custom kinds', () => {
    const custom = { ...widgets, schema: { ...widgets.schema, dialect: 'structural' } } as const
    expect(Object.keys(at(openApiV2([custom]) as Json, 'paths'))).not.toContain('/apis/example.test/')
    expect(Object.keys(at(openApiV3([custom], 'example.test', 'v1') as Json, 'paths'))).not.toContain(
      '/apis/example.test/v1/',
    )
    expect([...openApiV3OfGroups([custom]).keys()]).toEqual(['apis'])
  })
})

function at(value: Json, ...path: readonly string[]): Json {
  return path.reduce<Json>((each, key) => each[key] as Json, value)
}

function danglingReferences(document: Json): readonly string[] {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? '')
  expect(references.length).toBeGreaterThan(10)
  const isDefined = (reference: string): boolean => {
    const [first = '', ...rest] = reference.split('/')
    return rest.reduce<Json | undefined>((each, key) => each?.[key], document[first]) !== undefined
  }
  return references.filter((reference) => !isDefined(reference))
}

describe('what a document is made of', () => {
  const others = builtinResources.filter(({ group }) => group === 'apps' || group === 'batch')
  const custom = (plural: string) => ({
    ...widgets,
    plural,
    schema: { ...widgets.schema, dialect: 'structural' } as const,
  })

  it('is its own kinds, and the versions that are built in', () => {
    const sources = documentSources([widgets, ...others], 'example.test', 'v1')
    expect(sources).toEqual([widgets, '/v1', 'apps/v1', 'batch/v1', 'example.test/v1'])
  })

  it('does not change with a custom kind of another group', () => {
    const [, ...own] = documentSources([custom('widgets'), ...others], 'apps', 'v1')
    expect(documentSources(others, 'apps', 'v1').slice(1)).toEqual(own)
    expect(own).not.toContain('example.test/v1')
  })

  it('changes with each kind of its own', () => {
    const before = documentSources([custom('widgets'), ...others], 'example.test', 'v1')
    expect(documentSources([custom('widgets'), custom('gears'), ...others], 'example.test', 'v1')).not.toEqual(before)
  })
})
