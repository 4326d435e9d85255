import { createPki } from '@coracle/apiserver'
import { realEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api, patch, post, put, remove } from './support/api.ts'
import { configMap, controller, paths, pod } from './support/objects.ts'
import { Program } from './support/program.ts'

// What a server answers to input that is wrong: codes, reasons and words are upstream's, since clients act on them.

const { configMaps, controllers, pods } = paths
const json = { 'content-type': 'application/json' }
const yaml = { 'content-type': 'application/yaml' }

let program: Program
let api: Api
beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated'] })
  api = await Api.of(program)
})
afterAll(async () => {
  api.close()
  await program[Symbol.asyncDispose]()
})

describe('a body that cannot be read', () => {
  it.each([
    ['malformed JSON', '{"kind": "ConfigMap",', json, 'unexpected end of JSON input'],
    ['YAML that is announced as JSON', 'kind: ConfigMap', json, "invalid character 'k' looking for beginning of value"],
    ['malformed YAML', 'kind: [', yaml, 'yaml: line'],
    ['nothing', '', json, 'unexpected end of JSON input'],
    ['a list', '[]', json, 'the object provided is unrecognized (must be of type ConfigMap)'],
    ['another kind', pod('x'), {}, 'Pod in version "v1" cannot be handled as a ConfigMap'],
    [
      'a kind nobody knows',
      { ...configMap('x'), kind: 'Widget' },
      {},
      'no kind "Widget" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'a number for a text',
      configMap('x', { a: 1 as never }),
      {},
      'json: cannot unmarshal number into Go struct field',
    ],
    ['a text for an object', { ...configMap('x'), metadata: 'x' }, {}, 'cannot unmarshal string into Go struct field'],
  ])('is a BadRequest: %s', async (_, body, headers, message) => {
    expect(await api.failure(configMaps, post(body, headers))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: expect.stringContaining(message),
    })
  })

  it('is told the limit where it is too long', async () => {
    const body = JSON.stringify(configMap('long', { a: 'x'.repeat(3 * 1024 * 1024) }))
    expect(await api.failure(configMaps, post(body, json))).toMatchObject({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: limit is 3145728',
    })
    expect((await api.call(`${configMaps}/long`)).code).toBe(404)
  })

  it('is told which media types can be read, and which can be made', async () => {
    expect(await api.failure(configMaps, post('{}', { 'content-type': 'text/plain' }))).toMatchObject({
      code: 415,
      reason: 'UnsupportedMediaType',
      message: expect.stringContaining(
        'the body of the request was in an unknown format - accepted media types include',
      ),
    })
    expect(await api.failure(configMaps, { headers: { accept: 'text/html' } })).toMatchObject({
      code: 406,
      reason: 'NotAcceptable',
      message: expect.stringContaining('406: Not Acceptable\n\nAvailable representations: application/json'),
    })
  })
})

describe('a field that does not exist', () => {
  const misspelt = (name: string) => ({ ...controller(name, 0), spec: { ...controller(name, 0).spec, replica: 3 } })

  it('is a warning, and dropped', async () => {
    const { code, headers, json: created } = await api.call(controllers, post(misspelt('warned')))
    expect([code, headers.warning]).toEqual([201, '299 - "unknown field \\"spec.replica\\""'])
    expect(created.spec).not.toHaveProperty('replica')
  })

  it('is an error where the client is strict', async () => {
    expect(await api.failure(`${controllers}?fieldValidation=Strict`, post(misspelt('strict')))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message:
        'ReplicationController in version "v1" cannot be handled as a ReplicationController: ' +
        'strict decoding error: unknown field "spec.replica"',
    })
    expect((await api.call(`${controllers}/strict`)).code).toBe(404)
  })

  it('passes in silence where the client says so', async () => {
    const { code, headers } = await api.call(`${controllers}?fieldValidation=Ignore`, post(misspelt('silent')))
    expect([code, headers.warning]).toEqual([201, undefined])
  })
})

describe('an object that makes no sense', () => {
  const unnamed = (metadata: object) => ({ ...configMap(''), metadata })
  const bare = controller('bare', 1)

  it.each([
    [
      'a name in capitals',
      configMaps,
      configMap('Bad_Name'),
      'metadata.name',
      'ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of',
    ],
    [
      'no name',
      configMaps,
      unnamed({}),
      'metadata.name',
      'metadata.name: Required value: name or generateName is required',
    ],
    [
      'a bad label',
      configMaps,
      unnamed({ name: 'x', labels: { 'a b': 'c' } }),
      'metadata.labels',
      'metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters',
    ],
    [
      'no template',
      controllers,
      { ...bare, spec: { ...bare.spec, template: undefined } },
      'spec.template',
      'ReplicationController "bare" is invalid: spec.template: Required value',
    ],
    [
      'a selector that misses its own template',
      controllers,
      { ...bare, spec: { ...bare.spec, selector: { app: 'other' } } },
      'spec.template.metadata.labels',
      'spec.template.metadata.labels: Invalid value: {"app":"bare"}: `selector` does not match template `labels`',
    ],
    [
      'a negative count',
      controllers,
      { ...bare, spec: { ...bare.spec, replicas: -1 } },
      'spec.replicas',
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ],
    [
      'no containers',
      pods,
      pod('x', undefined, { spec: { containers: [] } }),
      'spec.containers',
      'spec.containers: Required value',
    ],
    [
      'no image',
      pods,
      pod('x', undefined, { container: { image: '' } }),
      'spec.containers[0].image',
      'spec.containers[0].image: Required value',
    ],
    [
      'a restart policy nobody knows',
      pods,
      pod('x', undefined, { spec: { restartPolicy: 'Sometimes' } }),
      'spec.restartPolicy',
      'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    ],
  ])('is Invalid and names the field: %s', async (_, path, body, field, message) => {
    const failed = await api.failure(path, post(body))
    expect(failed).toMatchObject({ code: 422, reason: 'Invalid', message: expect.stringContaining(message) })
    expect(failed.details.causes).toContainEqual(expect.objectContaining({ field }))
  })

  it('names every field that is wrong, not only the first', async () => {
    const body = pod('Bad', undefined, { container: { name: 'Bad', image: '' } })
    const { details } = await api.failure(pods, post(body))
    const fields = details.causes.map(({ field }: { field: string }) => field)
    expect(fields).toEqual(
      expect.arrayContaining(['metadata.name', 'spec.containers[0].name', 'spec.containers[0].image']),
    )
  })

  it('keeps what may not change as it was', async () => {
    await api.object(pods, post(pod('fixed')))
    expect(await api.failure(`${pods}/fixed`, patch('merge', { spec: { hostNetwork: true } }))).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: expect.stringContaining('spec: Forbidden: pod updates may not change fields other than'),
    })
  })
})

describe('an object for another place', () => {
  it('is refused where its name is not the path’s', async () => {
    await api.object(configMaps, post(configMap('placed')))
    expect(await api.failure(`${configMaps}/placed`, put(configMap('elsewhere')))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'the name of the object (elsewhere) does not match the name on the URL (placed)',
    })
  })

  it('is refused where its namespace is not the path’s', async () => {
    const body = { ...configMap('x'), metadata: { name: 'x', namespace: 'kube-system' } }
    expect(await api.failure(configMaps, post(body))).toMatchObject({
      code: 400,
      reason: 'BadRequest',
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    })
  })

  it('is refused where the namespace does not exist', async () => {
    expect(await api.failure('/api/v1/namespaces/nowhere/configmaps', post(configMap('x')))).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'namespaces "nowhere" not found',
      details: { name: 'nowhere', kind: 'namespaces' },
    })
  })

  it('is not found under a name nobody has', async () => {
    for (const call of [{}, remove(), put(configMap('nobody')), patch('merge', {})]) {
      expect(await api.failure(`${configMaps}/nobody`, call)).toMatchObject({
        code: 404,
        reason: 'NotFound',
        message: 'configmaps "nobody" not found',
        details: { name: 'nobody', kind: 'configmaps' },
      })
    }
  })
})

describe('a write that comes too late', () => {
  it('is a Conflict where the object has changed since it was read', async () => {
    const read = await api.object(configMaps, post(configMap('raced')))
    await api.object(`${configMaps}/raced`, put({ ...read, data: { a: '2' } }))
    expect(await api.failure(`${configMaps}/raced`, put({ ...read, data: { a: '3' } }))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "raced": the object has been modified; ' +
        'please apply your changes to the latest version and try again',
    })
    expect((await api.object(`${configMaps}/raced`)).data).toEqual({ a: '2' })
  })

  it('lets one of many that read the same version through', async () => {
    const read = await api.object(configMaps, post(configMap('contested')))
    const calls = Array.from({ length: 16 }, (_, index) =>
      api.call(`${configMaps}/contested`, put({ ...read, data: { winner: String(index) } })),
    )
    const codes = (await Promise.all(calls)).map(({ code }) => code)
    expect(codes.filter((code) => code === 200)).toHaveLength(1)
    expect(codes.filter((code) => code === 409)).toHaveLength(15)
  })

  it('is AlreadyExists where somebody has the name', async () => {
    await api.object(configMaps, post(configMap('taken')))
    expect(await api.failure(configMaps, post(configMap('taken')))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "taken" already exists',
    })
  })

  it('is a Conflict where it is a delete of another object or of another version', async () => {
    const { metadata } = await api.object(configMaps, post(configMap('kept')))
    for (const [preconditions, message] of [
      [{ uid: 'another' }, `the UID in the precondition (another) does not match the UID in record (${metadata.uid})`],
      [
        { resourceVersion: '1' },
        'the ResourceVersion in the precondition (1) does not match the ResourceVersion in record',
      ],
    ] as const) {
      expect(await api.failure(`${configMaps}/kept`, remove({ kind: 'DeleteOptions', preconditions }))).toMatchObject({
        code: 409,
        reason: 'Conflict',
        message: expect.stringContaining(message),
      })
    }
    const { uid, resourceVersion } = metadata
    const exact = remove({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid, resourceVersion } })
    expect((await api.call(`${configMaps}/kept`, exact)).code).toBe(200)
  })
})

describe('a patch that cannot be carried out', () => {
  beforeAll(async () => {
    await api.object(configMaps, post(configMap('patched')))
  })
  const call = (type: Parameters<typeof patch>[0], body: unknown) =>
    api.failure(`${configMaps}/patched`, patch(type, body))

  it('is a BadRequest where it is no patch', async () => {
    expect(await call('json', '[{"op":')).toMatchObject({ code: 400, reason: 'BadRequest' })
    expect(await call('json', '{"data":{}}')).toMatchObject({ code: 400, reason: 'BadRequest' })
    expect(await call('merge', 'data')).toMatchObject({ code: 400, reason: 'BadRequest' })
  })

  it('is Invalid where it does not fit the object', async () => {
    expect(await call('json', [{ op: 'test', path: '/data/a', value: 'other' }])).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    })
    expect(await call('json', [{ op: 'remove', path: '/data/none' }])).toMatchObject({ code: 422, reason: 'Invalid' })
  })

  it('is refused where its outcome is no such object', async () => {
    expect(await call('merge', { data: { a: 1 } })).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: expect.stringMatching(/patch: Invalid value: .*cannot unmarshal number/s),
    })
    expect(await call('merge', { metadata: { labels: { a: 'b c' } } })).toMatchObject({ code: 422, reason: 'Invalid' })
  })

  it('is a Conflict where it names a version that is gone', async () => {
    expect(await call('merge', { metadata: { resourceVersion: '1' }, data: { b: '2' } })).toMatchObject({
      code: 409,
      reason: 'Conflict',
    })
  })

  it('is an UnsupportedMediaType where it does not say of which type it is', async () => {
    const untyped = { method: 'PATCH', body: '{}', headers: json }
    expect(await api.failure(`${configMaps}/patched`, untyped)).toMatchObject({
      code: 415,
      reason: 'UnsupportedMediaType',
    })
  })

  it('leaves the object as it was', async () => {
    expect(await api.object(`${configMaps}/patched`)).toMatchObject({ data: { a: '1' } })
  })
})

describe('an address that leads nowhere', () => {
  it.each([
    ['GET', '/api/v1/widgets', 404, 'NotFound', 'the server could not find the requested resource'],
    ['GET', '/apis/apps/v1/widgets', 404, 'NotFound', 'the server could not find the requested resource'],
    ['GET', '/api/nothing', 404, 'NotFound', 'the server could not find the requested resource'],
    [
      'POST',
      '/api/v1/configmaps',
      405,
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
    ],
    ['POST', `${pods}/x/log`, 405, 'MethodNotAllowed', ''],
    ['GET', `${configMaps}?labelSelector=a%3D%3D%3Db`, 400, 'BadRequest', 'unable to parse requirement'],
    ['GET', `${configMaps}?fieldSelector=spec.x%3Dy`, 400, 'BadRequest', '"spec.x" is not a known field selector'],
    ['GET', `${pods}?fieldSelector=spec.x%3Dy`, 400, 'BadRequest', 'field label not supported: spec.x'],
    ['GET', `${configMaps}?limit=few`, 400, 'BadRequest', 'strconv.ParseInt'],
    ['GET', `${configMaps}?continue=nonsense`, 400, 'BadRequest', 'continue key is not valid'],
    ['GET', `${configMaps}?watch=1&resourceVersion=abc`, 500, '', 'resourceVersion: Invalid value: "abc"'],
  ])('%s %s is %i %s', async (method, path, code, reason, message) => {
    const failed = await api.failure(path, { method })
    expect(failed).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(failed.reason ?? '').toBe(reason)
  })

  it.each(['/nothing', '/apis/example.com/v1/widgets'])(
    '%s, which nobody serves, is 404 in plain text',
    async (path) => {
      const { code, headers, text } = await api.call(path)
      expect([code, headers['content-type'], text]).toEqual([404, 'text/plain; charset=utf-8', '404 page not found\n'])
    },
  )

  it('survives anything that is not HTTP, and headers without end', async () => {
    const headers = { 'x-long': 'x'.repeat(2_000_000) }
    // The connection may be gone before all of it is sent.
    const answer = await api.call('/version', { headers }).catch(() => undefined)
    if (answer !== undefined) expect(answer.code).toBe(431)
    expect((await api.call('/readyz')).text).toBe('ok')
  })
})

describe('who cannot say who they are', () => {
  const as = async (credentials: Parameters<typeof Api.of>[1]) => {
    const other = await Api.of(program, credentials)
    const failed = await other.failure(pods)
    other.close()
    return failed
  }

  it('are anonymous, and may not', async () => {
    expect(await as({})).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
    })
  })

  it('are Unauthorized with a token that is not ours', async () => {
    expect(await as({ token: 'guessed' })).toMatchObject({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
  })

  it('are Unauthorized with a certificate of another authority', async () => {
    const { admin } = createPki(realEnvironment())
    expect(await as({ cert: admin.certificatePem, key: admin.keyPem })).toMatchObject({
      code: 401,
      reason: 'Unauthorized',
    })
  })
})

describe('options of a write', () => {
  it('make a name where only its beginning is given', async () => {
    const body = { ...configMap(''), metadata: { generateName: 'made-' } }
    const names = await Promise.all(
      Array.from({ length: 20 }, async () => (await api.object(configMaps, post(body))).metadata.name),
    )
    for (const name of names) expect(name).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    expect(new Set(names).size).toBe(20)
  })

  it('try a change without making it', async () => {
    expect((await api.call(`${configMaps}?dryRun=All`, post(configMap('tried')))).code).toBe(201)
    expect((await api.call(`${configMaps}/tried`)).code).toBe(404)
    expect(await api.failure(`${configMaps}?dryRun=All`, post(configMap('Tried')))).toMatchObject({ code: 422 })

    const real = await api.object(configMaps, post(configMap('real')))
    expect((await api.call(`${configMaps}/real?dryRun=All`, remove())).code).toBe(200)
    expect((await api.object(`${configMaps}/real?dryRun=All`, patch('merge', { data: { b: '2' } }))).data.b).toBe('2')
    expect(await api.object(`${configMaps}/real`)).toEqual(real)
  })

  it.each([
    [`${configMaps}?dryRun=Some`, 'dryRun: Unsupported value'],
    [`${configMaps}?fieldValidation=Loose`, 'fieldValidation: Unsupported value: "Loose"'],
  ])('are Invalid where they are none: %s', async (path, message) => {
    expect(await api.failure(path, post(configMap('optional')))).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: expect.stringContaining(message),
    })
  })
})

describe('kubectl, which checks before it sends,', () => {
  it('says which kind is unknown', async () => {
    const input = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\n'
    const { code, stderr } = await program.kubectl(['apply', '-f', '-'], { input })
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('no matches for kind "Widget" in version "example.com/v1"'),
    ])
  })

  it('takes a List for its items', async () => {
    const items = [configMap('listed'), controller('listed', 0)]
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    expect(await program.kubectlOk(['apply', '-f', '-'], { input })).toBe(
      'configmap/listed created\nreplicationcontroller/listed created\n',
    )
    const wrong = { ...controller('wrong', 0), spec: { replicas: 'many' } }
    const refused = await program.kubectl(['apply', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [wrong] }),
    })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('spec.replicas')])
  })
})

describe('a watch', () => {
  it('from a version of the future waits for it rather than guess', async () => {
    const { metadata } = await api.object(configMaps)
    const later = Number(metadata.resourceVersion) + 1_000_000
    expect(await api.failure(`${configMaps}?resourceVersion=${later}`)).toMatchObject({
      code: 504,
      reason: 'Timeout',
      message: expect.stringContaining('Too large resource version'),
    })
  })
})
