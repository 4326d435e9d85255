import {
  configMaps,
  horizontalPodAutoscalers,
  type KubernetesObject,
  type MutatingWebhookConfiguration,
  mutatingWebhookConfigurations,
  namespaces,
  type Pod,
  pods,
  replicationControllers,
  type Service,
  services,
  type ValidatingWebhookConfiguration,
  validatingWebhookConfigurations,
} from '@coracle/api'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import type { RequestContext } from '../../request.ts'
import { crateDefinition, crateVersion, establish } from '../../testing/custom-resources.ts'
import { admin, configMap, pod, refusal, startTestCore, type TestCore } from '../../testing/test-core.ts'
import {
  startTestWebhook,
  type TestAnswer,
  type TestReviewRequest,
  webhookConfiguration,
  webhookOf,
} from '../../testing/test-webhook.ts'
import type { AdmissionPlugin } from '../admission.ts'

const mutating = (test: TestCore, name: string, ...webhooks: readonly object[]) =>
  test.client.create(
    mutatingWebhookConfigurations,
    webhookConfiguration<MutatingWebhookConfiguration>('MutatingWebhookConfiguration', name, ...webhooks),
  )

const validating = (test: TestCore, name: string, ...webhooks: readonly object[]) =>
  test.client.create(
    validatingWebhookConfigurations,
    webhookConfiguration<ValidatingWebhookConfiguration>('ValidatingWebhookConfiguration', name, ...webhooks),
  )

const ruleFor = (resource: string, more: object = {}) => ({
  rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: [resource], ...more }],
})

const addData = (key: string, value = 'added') => ({ patch: [{ op: 'add', path: `/data/${key}`, value }] })

/** A context that notes what the client is told, and what is written into the audit log. */
function listeningContext() {
  const warnings: string[] = []
  const annotations: Record<string, string> = {}
  const context: RequestContext = {
    ...admin,
    warn: (text) => warnings.push(text),
    annotate: (key, value) => {
      annotations[key] = value
    },
  }
  return { context, warnings, annotations }
}

/** A condition that costs as much as one may. */
const dear = Array.from({ length: 6 }).reduce<string>(
  (inner) => `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(n, ${inner})`,
  'true',
)

const writeOptions = { dryRun: false, fieldManager: '', fieldValidation: 'Warn' } as const

describe('a mutating webhook', () => {
  const sidecar = { name: 'proxy', image: 'envoy' }

  it('changes what is created, which is given defaults as if it had come so', async () => {
    const webhook = await startTestWebhook(() => ({
      patch: [{ op: 'add', path: '/spec/containers/-', value: sidecar }],
    }))
    const test = await startTestCore()
    await mutating(test, 'sidecars', webhookOf(webhook, ruleFor('pods', { operations: ['CREATE'] })))
    const created = (await test.client.create(pods, pod('web'))) as Pod
    expect(created.spec.containers.map(({ name }) => name)).toEqual(['main', 'proxy'])
    expect(created.spec.containers[1]?.terminationMessagePolicy).toBe('File')
    const [request] = webhook.requests
    expect(request).toMatchObject({
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestKind: { kind: 'Pod' },
      name: 'web',
      namespace: 'default',
      operation: 'CREATE',
      object: { metadata: { name: 'web', namespace: 'default' }, spec: { schedulerName: 'default-scheduler' } },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      userInfo: { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] },
    })
  })

  it('sees what those before it made, in the order of configurations and webhooks', async () => {
    const webhook = await startTestWebhook(({ object }) => addData(`n${Object.keys(object.data).length}`))
    const test = await startTestCore()
    await mutating(test, 'b', webhookOf(webhook, { name: 'third.example.com' }))
    await mutating(test, 'a', webhookOf(webhook), webhookOf(webhook, { name: 'second.example.com' }))
    const created = await test.client.create(configMaps, configMap('a', { given: 'x' }))
    expect(Object.keys(created.data ?? {})).toEqual(['given', 'n1', 'n2', 'n3'])
    expect(webhook.connections).toBe(1)
  })

  it('may name what is created, in place of a name that would be generated', async () => {
    const webhook = await startTestWebhook(() => ({ patch: [{ op: 'add', path: '/metadata/name', value: 'chosen' }] }))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook))
    const created = await test.client.create(configMaps, configMap('', {}, { generateName: 'a-' }))
    expect(created.metadata).toMatchObject({ name: 'chosen', generateName: 'a-' })
    expect(await refusal(test.client.create(configMaps, configMap('', {}, { generateName: 'a-' })))).toMatchObject({
      code: 409,
      message: 'configmaps "chosen" already exists',
    })
  })

  it('may not put what is created into another namespace', async () => {
    const webhook = await startTestWebhook(() => ({
      patch: [{ op: 'replace', path: '/metadata/namespace', value: 'other' }],
    }))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook))
    expect(await refusal(test.client.create(configMaps, configMap('a')))).toMatchObject({
      code: 400,
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    })
  })

  it('makes what is not valid be refused', async () => {
    const webhook = await startTestWebhook(() => ({ patch: [{ op: 'replace', path: '/spec/containers', value: [] }] }))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook, ruleFor('pods')))
    expect(await refusal(test.client.create(pods, pod('a')))).toMatchObject({
      code: 422,
      message: 'Pod "a" is invalid: spec.containers: Required value',
    })
  })

  it('may change nothing in a delete', async () => {
    const webhook = await startTestWebhook(() => ({ patch: [{ op: 'remove', path: '/data' }] }))
    const test = await startTestCore()
    await test.client.create(configMaps, configMap('a', { k: 'v' }))
    await mutating(test, 'a', webhookOf(webhook, ruleFor('configmaps', { operations: ['DELETE'] })))
    expect(await refusal(test.client.delete(configMaps, { namespace: 'default', name: 'a' }))).toMatchObject({
      code: 500,
      message:
        'Internal error occurred: admission webhook "check.example.com" attempted to modify the object, which is not supported for this operation',
    })
    expect(webhook.requests[0]).toMatchObject({ operation: 'DELETE', object: null, oldObject: { data: { k: 'v' } } })
  })

  it('is asked again where something changed after it, if it says so, and only then', async () => {
    const asked: string[] = []
    const webhook = await startTestWebhook(({ object }) => {
      asked.push(Object.keys(object.data ?? {}).join(','))
      return object.data?.late === undefined ? {} : addData('seen')
    })
    const later = await startTestWebhook(({ object }) => (object.data?.late === undefined ? addData('late') : {}))
    const test = await startTestCore()
    const again = { reinvocationPolicy: 'IfNeeded' }
    await mutating(test, 'a', webhookOf(webhook, again))
    await mutating(test, 'b', webhookOf(later))
    const created = await test.client.create(configMaps, configMap('a', { k: 'v' }))
    expect(created.data).toEqual({ k: 'v', late: 'added', seen: 'added' })
    expect(asked).toEqual(['k', 'k,late'])
    expect(later.requests).toHaveLength(1)
    // Nothing changed after it: nobody is asked twice.
    await test.client.delete(mutatingWebhookConfigurations, { name: 'b' })
    await test.client.create(configMaps, configMap('b', { k: 'v' }))
    expect(asked).toEqual(['k', 'k,late', 'k'])
  })

  it('is asked again where a plugin changed something after it', async () => {
    const plugin: AdmissionPlugin = {
      name: 'stamp',
      mutate(attributes, object) {
        if (attributes.definition !== configMaps) return object
        const { data = {} } = object as KubernetesObject & { readonly data?: object }
        return { ...object, data: { ...data, stamp: 'x' } } as KubernetesObject
      },
    }
    const webhook = await startTestWebhook(({ object }) => (object.data.first === undefined ? addData('first') : {}))
    const test = await startTestCore({ admission: [plugin] })
    await mutating(test, 'a', webhookOf(webhook, { reinvocationPolicy: 'IfNeeded' }))
    await test.client.create(configMaps, configMap('a', { k: 'v' }))
    expect(webhook.requests.map(({ object }) => Object.keys(object.data))).toEqual([['k'], ['k', 'first', 'stamp']])
  })

  it('changes nothing by a patch that says what is there', async () => {
    const webhook = await startTestWebhook(() => ({ patch: [{ op: 'replace', path: '/data/k', value: 'v' }] }))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook, { reinvocationPolicy: 'IfNeeded' }))
    const { context, annotations } = listeningContext()
    await test.registry(configMaps).create(context, 'default', configMap('a', { k: 'v' }), writeOptions)
    expect(annotations['mutation.webhook.admission.k8s.io/round_0_index_0']).toContain('"mutated":false')
    expect(webhook.requests).toHaveLength(1)
  })

  it('has built-in plugins look again at what it changed', async () => {
    const seen: boolean[] = []
    const plugin: AdmissionPlugin = {
      name: 'observer',
      mutate(attributes, object) {
        if (attributes.definition === configMaps) seen.push((object as { data?: object }).data !== undefined)
        return object
      },
    }
    const webhook = await startTestWebhook(({ object }) =>
      object.data === undefined ? { patch: [{ op: 'add', path: '/data', value: { k: 'v' } }] } : {},
    )
    const test = await startTestCore({ admission: [plugin] })
    await mutating(test, 'a', webhookOf(webhook))
    await test.client.create(configMaps, configMap('a', undefined))
    expect(seen).toEqual([true, true])
  })

  it('owns nothing of what it adds, as upstream, and may write who owns what', async () => {
    const webhook = await startTestWebhook(({ object, operation }) =>
      operation === 'CREATE'
        ? addData('injected')
        : {
            patch: [
              {
                op: 'replace',
                path: '/metadata/managedFields/0/manager',
                value: `not ${object.metadata.managedFields[0].manager}`,
              },
            ],
          },
    )
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook))
    const owned = async () => {
      const { withManagedFields } = await test.registry(configMaps).get('default', 'a')
      return withManagedFields.metadata.managedFields?.map(({ manager, fieldsV1 }) => [manager, fieldsV1])
    }
    await test.client.create(configMaps, configMap('a', { own: 'x' }), { fieldManager: 'me' })
    expect(await owned()).toEqual([['me', { 'f:data': { '.': {}, 'f:own': {} } }]])
    await test.client.update(configMaps, configMap('a', { own: 'y' }), { fieldManager: 'me' })
    expect(await owned()).toMatchObject([['not me', { 'f:data': { 'f:own': {} } }]])
  })

  it('leaves the owners that one before it wrote, whatever it changes itself', async () => {
    const webhook = await startTestWebhook(({ object }) => {
      const renamed = { op: 'replace', path: '/metadata/managedFields/0/manager', value: 'renamed' }
      return object.data.k === 'v' ? { patch: [renamed, { op: 'replace', path: '/data/k', value: 'w' }] } : addData('n')
    })
    const judge = await startTestWebhook(() => ({}))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook), webhookOf(webhook, { name: 'second.example.com' }))
    await validating(test, 'b', webhookOf(judge))
    const { stored } = await test
      .registry(configMaps)
      .create(admin, 'default', configMap('a', { k: 'v' }), { ...writeOptions, fieldManager: 'me' })
    for (const { object } of [webhook.requests[1], judge.requests[0]].flatMap((each) => each ?? []))
      expect(object.metadata.managedFields[0].manager).toBe('renamed')
    expect(judge.requests).toHaveLength(1)
    expect(stored.object).toMatchObject({ data: { k: 'w', n: 'added' } })
    expect(stored.owners.map(({ name }) => name)).toEqual(['renamed'])
  })

  it('may take all owners away', async () => {
    const webhook = await startTestWebhook(({ object }) =>
      object.metadata.managedFields === undefined
        ? addData('n')
        : { patch: [{ op: 'remove', path: '/metadata/managedFields' }] },
    )
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook), webhookOf(webhook, { name: 'second.example.com' }))
    const { stored } = await test
      .registry(configMaps)
      .create(admin, 'default', configMap('a', { k: 'v' }), writeOptions)
    expect(stored.object).toMatchObject({ data: { k: 'v', n: 'added' } })
    expect(stored.owners).toEqual([])
  })

  it('is told of owners, and its nonsense about them is passed over with a warning', async () => {
    const webhook = await startTestWebhook(() => ({
      patch: [{ op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Steal' }],
    }))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook))
    const { context, warnings } = listeningContext()
    const { stored } = await test
      .registry(configMaps)
      .create(context, 'default', configMap('a', { k: 'v' }), writeOptions)
    expect(stored.owners.map(({ operation }) => operation)).toEqual(['Update'])
    expect(warnings).toEqual([
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: operation must be `Apply` or `Update`',
    ])
    expect(webhook.requests[0]?.object.metadata.managedFields).toHaveLength(1)
  })

  it('has no longer than whoever asks waits, and is told so', async () => {
    const webhook = await startTestWebhook(() => ({}))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook, { timeoutSeconds: 20 }), webhookOf(webhook, { name: 'b.example.com' }))
    const context = { ...admin, leftMs: () => 12_400 }
    await test.registry(configMaps).create(context, 'default', configMap('a'), writeOptions)
    expect(webhook.addresses.map((address) => address.replace(/.*[?]/, ''))).toEqual(['timeout=13s', 'timeout=10s'])
  })

  it.each(['Fail', 'Ignore'])(
    'is not asked when nobody waits any more, whatever its policy (%s)',
    async (failurePolicy) => {
      const webhook = await startTestWebhook(() => ({}))
      const test = await startTestCore()
      await mutating(test, 'a', webhookOf(webhook, { failurePolicy }))
      const context = { ...admin, leftMs: () => 0 }
      const created = test.registry(configMaps).create(context, 'default', configMap('a'), writeOptions)
      expect(await refusal(created)).toEqual({
        code: 504,
        reason: 'Timeout',
        message: 'Timeout: request did not complete within requested timeout',
      })
      expect(webhook.requests).toEqual([])
    },
  )

  it('that takes all the time there was ends the request, though its failures are passed over', async () => {
    let leftMs = 60_000
    const webhook = await startTestWebhook(() => {
      leftMs = 0
      return (response) => response.destroy()
    })
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook, { failurePolicy: 'Ignore' }))
    const context = { ...admin, leftMs: () => leftMs }
    const created = test.registry(configMaps).create(context, 'default', configMap('a'), writeOptions)
    expect(await refusal(created)).toMatchObject({ code: 504, reason: 'Timeout' })
  })

  it('notes what it did for the audit log', async () => {
    const webhook = await startTestWebhook(() => ({ ...addData('k'), auditAnnotations: { reason: 'because' } }))
    const test = await startTestCore()
    await mutating(test, 'conf', webhookOf(webhook))
    const { context, annotations } = listeningContext()
    await test.registry(configMaps).create(context, 'default', configMap('a', { own: 'x' }), writeOptions)
    const about = { configuration: 'conf', webhook: 'check.example.com' }
    expect(
      Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [key, value.startsWith('{') ? JSON.parse(value) : value]),
      ),
    ).toEqual({
      'check.example.com/reason': 'because',
      'mutation.webhook.admission.k8s.io/round_0_index_0': { ...about, mutated: true },
      'patch.webhook.admission.k8s.io/round_0_index_0': { ...about, patch: addData('k').patch, patchType: 'JSONPatch' },
    })
  })
})

describe('a validating webhook', () => {
  it('refuses with its own words, code and reason', async () => {
    const webhook = await startTestWebhook(() => ({
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: 'no mark' },
    }))
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(webhook))
    expect(await refusal(test.client.create(configMaps, configMap('a')))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: 'admission webhook "check.example.com" denied the request: no mark',
    })
  })

  it.each<[string, object | undefined, number, string]>([
    ['nothing', undefined, 400, 'denied the request without explanation'],
    ['a reason', { reason: 'TooOld' }, 400, 'denied the request: TooOld'],
    ['a code of success', { code: 200, message: 'fine' }, 400, 'denied the request: fine'],
  ])('that says %s refuses all the same', async (_, status, code, text) => {
    const webhook = await startTestWebhook(() => ({ allowed: false, ...(status === undefined ? {} : { status }) }))
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(webhook))
    const refused = await refusal(test.client.create(configMaps, configMap('a')))
    expect(refused).toMatchObject({ code, message: `admission webhook "check.example.com" ${text}` })
  })

  it('may say null for what it does not say', async () => {
    const identity = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }
    const nothing = { patch: null, patchType: null, warnings: null, status: null, auditAnnotations: null }
    const webhook = await startTestWebhook(({ uid }) => (response) => {
      response.end(JSON.stringify({ ...identity, response: { uid, allowed: true, ...nothing } }))
    })
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(webhook))
    await mutating(test, 'b', webhookOf(webhook))
    expect((await test.client.create(configMaps, configMap('a'))).metadata.name).toBe('a')
  })

  it('sees the object complete, and with what mutating webhooks made of it', async () => {
    const adding = await startTestWebhook(() => addData('late'))
    const judging = await startTestWebhook()
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(judging))
    await mutating(test, 'b', webhookOf(adding))
    const { metadata } = await test.client.create(configMaps, configMap('a', { k: 'v' }))
    const object = judging.requests[0]?.object
    expect(object.data).toEqual({ k: 'v', late: 'added' })
    expect([object.metadata.uid, object.metadata.creationTimestamp]).toEqual([metadata.uid, metadata.creationTimestamp])
  })

  it('sees the name that was generated, and owners of fields where upstream shows them', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(webhook, ruleFor('configmaps')))
    const generated = configMap('', { k: 'v' }, { generateName: 'a-' })
    const { metadata } = await test.client.create(configMaps, generated)
    const key = { namespace: 'default', name: metadata.name ?? '' }
    await test.client.patch(configMaps, key, { type: 'merge', body: { data: { k: 'w' } } })
    await test.client.delete(configMaps, key)
    const isOwned = (object: KubernetesObject | null) => object !== null && object.metadata.managedFields !== undefined
    const seen = webhook.requests.map(({ name, object, oldObject }) => [name, isOwned(object), isOwned(oldObject)])
    expect(seen).toEqual([
      [metadata.name, true, false],
      [metadata.name, true, false],
      [metadata.name, false, true],
    ])
  })

  it('is asked at the same time as others, and of several refusals the first counts', async () => {
    const waiting: (() => void)[] = []
    const both = (request: TestReviewRequest, name: string) =>
      new Promise<TestAnswer>((resolve) => {
        waiting.push(() => resolve({ allowed: false, status: { message: `${name} ${request.operation}` } }))
        if (waiting.length === 2) for (const answer of waiting.reverse()) answer()
      })
    const one = await startTestWebhook((request) => both(request, 'one'))
    const two = await startTestWebhook((request) => both(request, 'two'))
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(one), webhookOf(two, { name: 'other.example.com' }))
    const refused = await refusal(test.client.create(configMaps, configMap('a')))
    expect(refused.message).toBe('admission webhook "check.example.com" denied the request: one CREATE')
  })

  it('warns whoever asks, whether it allows or not', async () => {
    const webhook = await startTestWebhook(({ name }) => ({ allowed: name === 'good', warnings: ['old'] }))
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(webhook))
    const { context, warnings } = listeningContext()
    const create = (name: string) => test.registry(configMaps).create(context, 'default', configMap(name), writeOptions)
    await create('good')
    await refusal(create('bad'))
    expect(warnings).toEqual(['old', 'old'])
  })

  it('judges updates that change nothing, and each object of a collection that is deleted, by no name', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    await test.client.create(configMaps, configMap('a'))
    await test.client.create(configMaps, configMap('b'))
    await validating(test, 'a', webhookOf(webhook, ruleFor('configmaps')))
    await test.client.update(configMaps, configMap('a'))
    await test.client.deleteCollection(configMaps, { namespace: 'default' })
    const requests = webhook.requests.map(
      ({ operation, name, oldObject }) => `${operation} ${name} ${oldObject?.metadata.name}`,
    )
    expect(requests.sort()).toEqual(['DELETE undefined a', 'DELETE undefined b', 'UPDATE a a'])
  })

  it('cannot keep anybody from mending configurations', async () => {
    const webhook = await startTestWebhook(() => ({ allowed: false }))
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(webhook, ruleFor('*/*')))
    await mutating(test, 'a', webhookOf(webhook, ruleFor('*/*')))
    await test.client.delete(mutatingWebhookConfigurations, { name: 'a' })
    await test.client.delete(validatingWebhookConfigurations, { name: 'a' })
    expect(webhook.requests).toEqual([])
  })
})

describe('a webhook that does not answer as it should', () => {
  const failures: [string, () => TestAnswer, string][] = [
    [
      'breaks off',
      () => (response) => response.destroy(),
      'failed to call webhook: Post "https://127.0.0.1:PORT/admit?timeout=10s": EOF',
    ],
    [
      'fails itself',
      () => (response) => response.writeHead(500).end('oops'),
      'failed to call webhook: an error on the server ("oops") has prevented the request from succeeding',
    ],
    [
      'answers with another code',
      () => (response) => response.writeHead(503).end('not today'),
      'failed to call webhook: the server is currently unable to handle the request',
    ],
    [
      'is not there',
      () => (response) => response.writeHead(404).end(),
      'failed to call webhook: the server could not find the requested resource',
    ],
    [
      'answers with no JSON',
      () => (response) => response.end('<html>'),
      'failed to call webhook: the answer is not JSON',
    ],
    [
      'answers with nothing',
      () => (response) => response.end('{}'),
      'received invalid webhook response: webhook response was absent',
    ],
    [
      'answers another question',
      () => ({ uid: 'x' }),
      'received invalid webhook response: expected response.uid="UID", got "x"',
    ],
    [
      'allows by a text',
      () => ({ allowed: 'true' as never }),
      'failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    [
      'warns with a number',
      () => ({ warnings: [1] as never }),
      'failed to call webhook: json: cannot unmarshal number into Go struct field AdmissionResponse.response.warnings of type string',
    ],
    [
      'patches without a type',
      () => ({ patch: [{ op: 'remove', path: '/data' }], patchType: undefined }),
      'received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
    [
      'patches in another way',
      () => ({ patch: [{ op: 'test' }], patchType: 'Merge' }),
      'unsupported patch type "Merge"',
    ],
    [
      'patches with no list',
      () => ({ patch: Buffer.from('{}').toString('base64') as never, patchType: 'JSONPatch' }),
      'received undecodable patch in webhook response',
    ],
  ]

  it.each(failures)('%s', async (_, answer, why) => {
    const webhook = await startTestWebhook(answer)
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook))
    const { code, message } = await refusal(test.client.create(configMaps, configMap('a', { k: 'v' })))
    const shown = message
      .replace(/127.0.0.1:\d+/, '127.0.0.1:PORT')
      .replace(/response.uid="[0-9a-f-]+"/, 'response.uid="UID"')
    expect(shown).toContain(`Internal error occurred: failed calling webhook "check.example.com": ${why}`)
    expect(code).toBe(500)
  })

  it.each<[string, readonly object[], string]>([
    ['not apply', [{ op: 'remove', path: '/nope/x' }], 'remove operation does not apply'],
    [
      'make no object of its kind',
      [{ op: 'replace', path: '/kind', value: 'Secret' }],
      'Secret in version "v1" cannot be handled as a ConfigMap',
    ],
  ])('has the request refused whose patch would %s', async (_, patch, why) => {
    const webhook = await startTestWebhook(() => ({ patch }))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook, { failurePolicy: 'Ignore' }))
    const { code, message } = await refusal(test.client.create(configMaps, configMap('a')))
    expect([code, message.slice(0, 25 + why.length)]).toEqual([500, `Internal error occurred: ${why}`])
  })

  it('is passed over where its policy is to ignore that, with a note for the audit log', async () => {
    const webhook = await startTestWebhook(() => (response) => response.destroy())
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook, { failurePolicy: 'Ignore' }))
    await validating(test, 'a', webhookOf(webhook, { failurePolicy: 'Ignore' }))
    const { context, annotations } = listeningContext()
    await test.registry(configMaps).create(context, 'default', configMap('a'), writeOptions)
    expect(webhook.requests).toHaveLength(2)
    expect(annotations).toMatchObject({
      'failed-open.mutation.webhook.admission.k8s.io/round_0_index_0': 'check.example.com',
    })
  })

  it('says that nobody listens', async () => {
    const test = await startTestCore()
    await validating(test, 'a', webhookOf({ clientConfig: { url: 'https://127.0.0.1:1/' } as never }))
    const { message } = await refusal(test.client.create(configMaps, configMap('a')))
    expect(message).toContain(
      'Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
    )
  })

  it('is refused by what its address and certificate must be', async () => {
    const webhook = await startTestWebhook()
    const { url } = webhook.clientConfig
    const test = await startTestCore()
    await validating(test, 'a', webhookOf({ clientConfig: { url } as never }))
    const { message } = await refusal(test.client.create(configMaps, configMap('a')))
    expect(message).toMatch(/Post "https:.*": x509: certificate signed by unknown authority$/)
    expect(webhook.requests).toEqual([])
  })

  const service = { name: 'hook', namespace: 'default' }

  it('is asked behind its service', async () => {
    const webhook = await startTestWebhook()
    const { caBundle } = webhook.clientConfig
    const test = await startTestCore()
    await test.client.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: service,
      spec: { type: 'ExternalName', externalName: 'localhost' },
    } as Service)
    await validating(
      test,
      'a',
      webhookOf({ clientConfig: { service: { ...service, port: webhook.port }, caBundle } as never }),
    )
    await test.client.create(configMaps, configMap('a'))
    expect(webhook.addresses).toEqual([`hook.default.svc:${webhook.port}/?timeout=10s`])
  })

  it('counts as one that fails while its service has nothing behind it', async () => {
    const test = await startTestCore()
    const spec = { selector: { app: 'hook' }, ports: [{ port: 443 }] }
    await validating(test, 'a', webhookOf({ clientConfig: { service } as never }))
    expect((await refusal(test.client.create(configMaps, configMap('a')))).message).toContain(
      'service "hook" not found',
    )
    await test.client.create(services, { apiVersion: 'v1', kind: 'Service', metadata: service, spec } as Service)
    expect((await refusal(test.client.create(configMaps, configMap('a')))).message).toContain(
      'failed calling webhook "check.example.com": failed to call webhook: Post "https://hook.default.svc:443/?timeout=10s": no endpoints available for service "hook"',
    )
    await test.client.delete(validatingWebhookConfigurations, { name: 'a' })
    await validating(test, 'b', webhookOf({ clientConfig: { service } as never }, { failurePolicy: 'Ignore' }))
    expect((await test.client.create(configMaps, configMap('a'))).metadata.name).toBe('a')
  })
})

describe('webhooks are asked about', () => {
  const seen = (requests: readonly TestReviewRequest[]) =>
    requests.map(({ operation, resource, subResource, kind, name }) =>
      [operation, [resource.resource, subResource].filter(Boolean).join('/'), kind.kind, name].join(' '),
    )

  it('subresources as what they are', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(webhook, ruleFor('*/*')))
    const key = { namespace: 'default', name: 'a' }
    await test.client.create(pods, pod('a'))
    await test.client.createSubresource(pods, key, 'binding', {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'a' },
      target: { kind: 'Node', name: 'n1' },
    })
    await test.client.patch(
      pods,
      key,
      { type: 'merge', body: { status: { phase: 'Running' } } },
      { subresource: 'status' },
    )
    await test.client.createSubresource(pods, key, 'eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'a' },
    })
    await test.client.create(replicationControllers, {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { name: 'rc', namespace: 'default' },
      spec: {
        replicas: 1,
        template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
      },
    } as never)
    await test.client.patch(
      replicationControllers,
      { namespace: 'default', name: 'rc' },
      { type: 'merge', body: { spec: { replicas: 3 } } },
      { subresource: 'scale' },
    )
    expect(seen(webhook.requests)).toEqual([
      'CREATE pods Pod a',
      'CREATE pods/binding Binding a',
      'UPDATE pods/status Pod a',
      'CREATE pods/eviction Eviction a',
      'CREATE replicationcontrollers ReplicationController rc',
      'UPDATE replicationcontrollers/scale Scale rc',
    ])
    expect(webhook.requests[5]).toMatchObject({
      object: { spec: { replicas: 3 } },
      oldObject: { spec: { replicas: 1 } },
    })
  })

  it('and may change what subresources say', async () => {
    const webhook = await startTestWebhook(() => ({ patch: [{ op: 'replace', path: '/spec/replicas', value: 2 }] }))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook, ruleFor('replicationcontrollers/scale')))
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
    const key = { namespace: 'default', name: 'rc' }
    await test.client.create(replicationControllers, {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: key,
      spec: { replicas: 1, template },
    } as never)
    await test.client.patch(
      replicationControllers,
      key,
      { type: 'merge', body: { spec: { replicas: 9 } } },
      { subresource: 'scale' },
    )
    expect((await test.client.get(replicationControllers, key)).spec?.replicas).toBe(2)
  })

  it('objects by the labels of their namespaces and their own, before or after', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    const namespace = (name: string, labels: Readonly<Record<string, string>>) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
    })
    await validating(
      test,
      'a',
      webhookOf(webhook, {
        ...ruleFor('*'),
        namespaceSelector: { matchLabels: { guarded: 'yes' } },
        objectSelector: { matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] },
      }),
    )
    await test.client.create(namespaces, namespace('open', {}))
    await test.client.create(namespaces, namespace('closed', { guarded: 'yes' }))
    await test.client.create(configMaps, configMap('a', {}, { namespace: 'open' }))
    await test.client.create(configMaps, configMap('b', {}, { namespace: 'closed' }))
    await test.client.create(configMaps, configMap('c', {}, { namespace: 'closed', labels: { skip: '' } }))
    await test.client.update(configMaps, configMap('b', {}, { namespace: 'closed', labels: { skip: '' } }))
    expect(seen(webhook.requests)).toEqual([
      'CREATE namespaces Namespace closed',
      'CREATE configmaps ConfigMap b',
      'UPDATE configmaps ConfigMap b',
    ])
    expect(webhook.requests[0]?.namespace).toBe('closed')
  })

  it('what their conditions hold of, with failure policy for those that cannot be judged', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    const conditions = (...expressions: readonly string[]) => ({
      matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
    })
    await validating(
      test,
      'a',
      webhookOf(webhook, conditions("object.data.mode == 'strict'", "request.userInfo.username == 'system:apiserver'")),
      webhookOf(webhook, {
        name: 'lenient.example.com',
        failurePolicy: 'Ignore',
        ...conditions('object.data.missing == 1'),
      }),
    )
    await test.client.create(configMaps, configMap('a', { mode: 'strict' }))
    await test.client.create(configMaps, configMap('b', { mode: 'lax' }))
    expect(seen(webhook.requests)).toEqual(['CREATE configmaps ConfigMap a'])
    expect(await refusal(test.client.create(configMaps, configMap('c', { other: 'x' })))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: `configmaps "c" is forbidden: expression 'object.data.mode == 'strict'' resulted in error: no such key: mode`,
    })
  })

  it.each([
    [
      'a condition that does not hold decides, whatever is wrong with others',
      ['object.data.none == 1', 'false', 'object.data.none == 1'],
      201,
    ],
    ['conditions that cost too much together are an error, though one does not hold', ['false', dear, dear, dear], 403],
  ])('what their conditions hold of: %s', async (_, expressions, code) => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }))
    await validating(test, 'a', webhookOf(webhook, { matchConditions }))
    const created = test.client.create(configMaps, configMap('a', { k: 'v' }))
    expect(
      await created.then(
        () => 201,
        ({ code: refused }) => refused,
      ),
    ).toBe(code)
    expect(webhook.requests).toEqual([])
  })

  it('what their conditions say of the rights of whoever asks', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore({
      authorizer: {
        refuse: (_user, attributes) =>
          attributes.kind === 'resource' && attributes.verb === 'breakglass' && attributes.name === 'free'
            ? 'no'
            : undefined,
      },
    })
    const expression = "!authorizer.requestResource.check('breakglass').allowed()"
    await validating(test, 'a', webhookOf(webhook, { matchConditions: [{ name: 'c', expression }] }))
    await test.client.create(configMaps, configMap('free'))
    await test.client.create(configMaps, configMap('other'))
    expect(seen(webhook.requests)).toEqual(['CREATE configmaps ConfigMap free'])
  })

  it('requests for another version of their resource, converted there and back', async () => {
    const webhook = await startTestWebhook(({ object }) => ({
      patch: [
        {
          op: 'replace',
          path: '/spec/targetCPUUtilizationPercentage',
          value: object.spec.targetCPUUtilizationPercentage + 1,
        },
      ],
    }))
    const test = await startTestCore()
    const rule = (apiVersions: readonly string[]) =>
      ruleFor('horizontalpodautoscalers', { apiGroups: ['autoscaling'], apiVersions })
    await mutating(test, 'a', webhookOf(webhook, rule(['v1'])))
    const exact = await startTestWebhook()
    await mutating(test, 'b', webhookOf(exact, { ...rule(['v1']), matchPolicy: 'Exact' }))
    const scaler = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a', namespace: 'default' },
      spec: {
        scaleTargetRef: { kind: 'ReplicationController', name: 'rc', apiVersion: 'v1' },
        maxReplicas: 5,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
        ],
      },
    } as never
    const created = (await test.client.create(horizontalPodAutoscalers, scaler)) as KubernetesObject & {
      readonly spec: { readonly metrics: readonly object[] }
    }
    expect(created.apiVersion).toBe('autoscaling/v2')
    expect(created.spec.metrics).toMatchObject([{ resource: { target: { averageUtilization: 71 } } }])
    expect(webhook.requests).toMatchObject([
      {
        kind: { version: 'v1' },
        resource: { version: 'v1' },
        requestKind: { version: 'v2' },
        object: { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 70 } },
      },
    ])
    expect(exact.requests).toEqual([])
  })

  it('custom resources like any other', async () => {
    const webhook = await startTestWebhook(({ object }) => ({
      patch: [{ op: 'add', path: '/spec/label', value: `${object.spec.label}!` }],
    }))
    const test = await startTestCore({ environment: realEnvironment() })
    const served = new Promise<void>((resolve) => {
      test.core.registries.onChange(() => resolve())
    })
    await establish(test.client, crateDefinition([crateVersion('v1', { storage: true }), crateVersion('v2')]))
    await served
    await mutating(
      test,
      'a',
      webhookOf(webhook, ruleFor('crates', { apiGroups: ['example.com'], apiVersions: ['v1'] })),
    )
    const crates = test.core.registries.byResource('example.com', 'v2', 'crates')
    const body = { apiVersion: 'example.com/v2', kind: 'Crate', metadata: { name: 'a' }, spec: { label: 'wine' } }
    const result = await crates?.create(admin, 'default', body, writeOptions)
    expect(result?.stored.object).toMatchObject({ apiVersion: 'example.com/v2', spec: { label: 'wine!' } })
    expect(webhook.requests).toMatchObject([{ kind: { version: 'v1' }, object: { apiVersion: 'example.com/v1' } }])
  })

  it('connections, of which they see the options', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(webhook, ruleFor('pods/exec', { operations: ['CONNECT'] })))
    const kind = { ...configMaps, kind: 'PodExecOptions' }
    const object = {
      apiVersion: 'v1',
      kind: 'PodExecOptions',
      metadata: {},
      data: { command: 'sh' },
    } as KubernetesObject
    const posted = { operation: 'CONNECT', subresource: 'exec', kind, object, options: writeOptions } as const
    await test.registry(pods).admitPosted(admin, 'default', 'web', posted)
    expect(webhook.requests).toMatchObject([
      { operation: 'CONNECT', kind: { kind: 'PodExecOptions' }, object: { data: { command: 'sh' } }, options: null },
    ])
  })

  it('dry runs, which they are told of', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(webhook))
    await test.client.create(configMaps, configMap('a'), {
      dryRun: true,
      fieldManager: 'me',
      fieldValidation: 'Strict',
    })
    expect(webhook.requests).toMatchObject([
      {
        dryRun: true,
        options: { kind: 'CreateOptions', dryRun: ['All'], fieldManager: 'me', fieldValidation: 'Strict' },
      },
    ])
  })

  it('while a configuration is there, and as it is now', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    await test.client.create(configMaps, configMap('a'))
    await validating(test, 'a', webhookOf(webhook))
    await test.client.create(configMaps, configMap('b'))
    const body = [{ op: 'add', path: '/webhooks/0/rules/0/resources/0', value: 'pods' }]
    await test.client.patch(validatingWebhookConfigurations, { name: 'a' }, { type: 'json', body })
    await test.client.create(pods, pod('c'))
    await test.client.delete(validatingWebhookConfigurations, { name: 'a' })
    await test.client.create(configMaps, configMap('d'))
    expect(seen(webhook.requests)).toEqual(['CREATE configmaps ConfigMap b', 'CREATE pods Pod c'])
  })

  it('over connections that end when nobody is asked there any more', async () => {
    const [before, after] = [await startTestWebhook(), await startTestWebhook()]
    const test = await startTestCore()
    await validating(test, 'a', webhookOf(before))
    await test.client.create(configMaps, configMap('a'))
    const body = [{ op: 'replace', path: '/webhooks/0/clientConfig/url', value: after.clientConfig.url }]
    await test.client.patch(validatingWebhookConfigurations, { name: 'a' }, { type: 'json', body })
    await test.client.create(configMaps, configMap('b'))
    await before.disconnected
    expect([before.requests.length, after.requests.length]).toEqual([1, 1])
  })

  it('deletes, of which they see the options', async () => {
    const webhook = await startTestWebhook()
    const test = await startTestCore()
    const { metadata } = await test.client.create(configMaps, configMap('a'))
    await validating(test, 'a', webhookOf(webhook, ruleFor('configmaps')))
    const preconditions = { uid: metadata.uid ?? '' }
    const options = { gracePeriodSeconds: 5, propagationPolicy: 'Background', preconditions } as const
    await test.client.delete(configMaps, { namespace: 'default', name: 'a' }, options)
    expect(webhook.requests[0]?.options).toEqual({ kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', ...options })
  })

  it('by AdmissionReview of the first version both know', async () => {
    const webhook = await startTestWebhook(() => ({
      uid: 'v1beta1 does not ask',
      patchType: undefined,
      ...addData('k'),
    }))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook, { admissionReviewVersions: ['v9', 'v1beta1', 'v1'] }))
    expect((await test.client.create(configMaps, configMap('a', { own: 'x' }))).data).toEqual({ own: 'x', k: 'added' })
  })

  it('on a virtual clock, which waits for them', async () => {
    const webhook = await startTestWebhook(() => addData('k'))
    const test = await startTestCore()
    await mutating(test, 'a', webhookOf(webhook))
    let done = false
    void test.client.create(configMaps, configMap('a', { own: 'x' })).then(() => {
      done = true
    })
    await test.environment.clock.advance('1h')
    expect(done).toBe(true)
  })
})
