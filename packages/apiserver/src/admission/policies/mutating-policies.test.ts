import {
  configMaps,
  type Deployment,
  deployments,
  horizontalPodAutoscalers,
  type KubernetesObject,
  type MutatingAdmissionPolicy,
  type MutatingAdmissionPolicyBinding,
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  pods,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { configMap, pod, refusal, startTestCore, type TestCore } from '../../testing/test-core.ts'

const apiVersion = 'admissionregistration.k8s.io/v1'
const rulesFor = (apiGroup: string, resource: string) => ({
  resourceRules: [
    { operations: ['CREATE', 'UPDATE'], apiGroups: [apiGroup], apiVersions: ['*'], resources: [resource] },
  ],
})

const configuration = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

async function enforce(
  test: TestCore,
  mutations: readonly object[],
  more: object = {},
  name = 'p',
  bound: object = {},
) {
  await test.client.create(mutatingAdmissionPolicies, {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: rulesFor('', 'configmaps'), reinvocationPolicy: 'Never', mutations, ...more },
  } as MutatingAdmissionPolicy)
  await test.client.create(mutatingAdmissionPolicyBindings, {
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, ...bound },
  } as MutatingAdmissionPolicyBinding)
}

const create = (test: TestCore, name: string, data: Readonly<Record<string, string>> = {}, metadata: object = {}) =>
  test.client.create(configMaps, configMap(name, data, metadata))

describe('an apply configuration', () => {
  it('is merged into what is written', async () => {
    const test = await startTestCore()
    await enforce(test, [
      configuration('Object{metadata: Object.metadata{labels: {"of": object.metadata.name}}, data: {"b": "2"}}'),
    ])
    const { metadata, data } = await create(test, 'a', { a: '1' }, { labels: { kept: 'yes' } })
    expect(metadata.labels).toEqual({ kept: 'yes', of: 'a' })
    expect(data).toEqual({ a: '1', b: '2' })
  })

  it('is merged by the keys of lists', async () => {
    const test = await startTestCore()
    const expression = `Object{spec: Object.spec{
      containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, imagePullPolicy: "Always"})
        + [Object.spec.containers{name: "proxy", image: "envoy"}]}}`
    await enforce(test, [configuration(expression)], { matchConstraints: rulesFor('', 'pods') })
    const { spec } = await test.client.create(pods, pod('web'))
    expect(spec.containers.map(({ name, image, imagePullPolicy }) => [name, image, imagePullPolicy])).toEqual([
      ['main', 'nginx', 'Always'],
      ['proxy', 'envoy', 'Always'],
    ])
  })

  it('may leave fields out', async () => {
    const test = await startTestCore()
    await enforce(test, [
      configuration('Object{?data: has(object.data) ? optional.none() : optional.of({"none": "before"})}'),
    ])
    expect((await create(test, 'a', { a: '1' })).data).toEqual({ a: '1' })
    const { apiVersion, kind, metadata } = configMap('b')
    expect((await test.client.create(configMaps, { apiVersion, kind, metadata })).data).toEqual({ none: 'before' })
  })

  it.each([
    [
      'Object{metadata: Object.spec{}}',
      'type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name path from root Object type',
    ],
    [
      'Object{nope: "x"}',
      'error applying patch: failed to convert patch object to typed object: .nope: field not declared in schema',
    ],
    [
      'Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{apiVersion: "v1", kind: "Pod", name: "a", uid: "1"}]}, immutable: dyn("x")}',
      'error applying patch: failed to convert patch object to typed object: .immutable: expected boolean, got &{x}',
    ],
  ])('is refused where it does not fit: %s', async (expression, why) => {
    const test = await startTestCore()
    await enforce(test, [configuration(expression)])
    expect(await refusal(create(test, 'a'))).toEqual({
      code: 403,
      reason: 'Invalid',
      message: `policy 'p' with binding 'p' denied request: ${why}`,
    })
  })

  it('may not replace what exists as a whole', async () => {
    const test = await startTestCore()
    const expression = 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "main", args: ["-v"]}]}}'
    await enforce(test, [configuration(expression)], { matchConstraints: rulesFor('', 'pods') })
    expect(await refusal(test.client.create(pods, pod('web')))).toMatchObject({
      message: expect.stringContaining(
        "policy 'p' with binding 'p' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers[0].args",
      ),
    })
  })
})

describe('a JSON patch', () => {
  it('is applied, with values of any form', async () => {
    const test = await startTestCore()
    await enforce(test, [
      patch(`[
        JSONPatch{op: "test", path: "/data/a", value: "1"},
        JSONPatch{op: "copy", from: "/data/a", path: "/data/b"},
        JSONPatch{op: "add", path: "/metadata/labels", value: {"size": string(size(object.data))}},
        JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a.io/b"), value: "c"},
        JSONPatch{op: "remove", path: "/data/a"}]`),
    ])
    const { metadata, data } = await create(test, 'x', { a: '1' })
    expect([metadata.labels, data]).toEqual([{ size: '1', 'a.io/b': 'c' }, { b: '1' }])
  })

  it('changes nothing where its own test fails', async () => {
    const test = await startTestCore()
    await enforce(test, [
      patch('[JSONPatch{op: "test", path: "/data/a", value: "2"}, JSONPatch{op: "remove", path: "/data/a"}]'),
    ])
    expect((await create(test, 'x', { a: '1' })).data).toEqual({ a: '1' })
  })

  it('may hold objects', async () => {
    const test = await startTestCore()
    await enforce(
      test,
      [
        patch(
          '[JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{name: "side", image: "b"}}]',
        ),
      ],
      { matchConstraints: rulesFor('', 'pods') },
    )
    const { spec } = await test.client.create(pods, pod('web'))
    expect(spec.containers.map(({ name }) => name)).toEqual(['main', 'side'])
  })

  it('may hold moments and durations, as texts', async () => {
    const test = await startTestCore()
    const value = '{"at": timestamp("2020-01-01T00:00:00Z"), "after": timestamp("2020-01-01T01:00:00.5Z")}'
    await enforce(test, [
      patch(`[JSONPatch{op: "add", path: "/data", value: ${value}},
        JSONPatch{op: "add", path: "/data/for", value: duration("1h")}]`),
    ])
    const { data } = await create(test, 'x', { a: '1' })
    expect(data).toEqual({ at: '2020-01-01T00:00:00Z', after: '2020-01-01T01:00:00.5Z', for: '3600s' })
  })

  it('is refused where an object in it stands at another place than its type says', async () => {
    const test = await startTestCore()
    const value = 'Object.spec.securityContext{seLinuxOptions: Object.spec.wrong{level: "a"}, sysctls: [Object.b{}]}'
    await enforce(test, [patch(`[JSONPatch{op: "add", path: "/spec/securityContext", value: ${value}}]`)], {
      matchConstraints: rulesFor('', 'pods'),
    })
    const mismatch = (found: string, expected: string) =>
      `unexpected type name "Object.${found}", expected "Object.spec.securityContext.${expected}", which matches field name path from root Object type`
    expect((await refusal(test.client.create(pods, pod('web')))).message).toBe(
      `policy 'p' with binding 'p' denied request: type mismatch: ${mismatch('spec.wrong', 'seLinuxOptions')}\n${mismatch('b', 'sysctls')}`,
    )
  })

  it('is refused where it does not apply', async () => {
    const test = await startTestCore()
    await enforce(test, [patch('[JSONPatch{op: "remove", path: "/data/none"}]')])
    expect(await refusal(create(test, 'x'))).toEqual({
      code: 403,
      reason: 'Invalid',
      message:
        "policy 'p' with binding 'p' denied request: JSON Patch: remove operation does not apply: doc is missing path: \"/data/none\": missing value",
    })
  })

  it.each([
    ['{op: "add", path: "/nope", value: "x"}', 'strict decoding error: unknown field "nope"'],
    [
      '{op: "add", path: "/immutable", value: "x"}',
      'json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool',
    ],
  ])('makes an object of the kind, or the request fails whatever the policy says of failures: %s', async (one, why) => {
    const test = await startTestCore()
    await enforce(test, [patch(`[JSONPatch${one}]`)], { failurePolicy: 'Ignore' })
    expect(await refusal(create(test, 'x'))).toEqual({
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${why}`,
    })
  })
})

describe('a mutating policy', () => {
  it('makes its changes one after the other, with variables of what is there by then', async () => {
    const test = await startTestCore()
    const add = configuration('Object{data: {variables.next: "x"}}')
    await enforce(test, [add, add], { variables: [{ name: 'next', expression: '"n" + string(size(object.data))' }] })
    expect((await create(test, 'a', { a: '1' })).data).toEqual({ a: '1', n1: 'x', n2: 'x' })
  })

  it('is asked for each object that holds parameters', async () => {
    const test = await startTestCore()
    await create(test, 'one', { key: 'a' }, { labels: { params: 'yes' } })
    await create(test, 'two', { key: 'b' }, { labels: { params: 'yes' } })
    const paramRef = { selector: { matchLabels: { params: 'yes' } }, parameterNotFoundAction: 'Deny' }
    await enforce(
      test,
      [configuration('Object{data: {params.data.key: "x"}}')],
      { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
      'p',
      { paramRef },
    )
    expect((await create(test, 'target')).data).toEqual({ a: 'x', b: 'x' })
  })

  it('changes only what meets its conditions, and what its binding takes', async () => {
    const test = await startTestCore()
    const only = [{ name: 'small', expression: 'size(object.data) < 2' }]
    const matchResources = { objectSelector: { matchLabels: { mutate: 'yes' } } }
    const add = configuration('Object{data: {"added": "x"}}')
    await enforce(test, [add], { matchConditions: only }, 'p', { matchResources })
    const labels = { mutate: 'yes' }
    expect((await create(test, 'a', { a: '1' }, { labels })).data).toEqual({ a: '1', added: 'x' })
    expect((await create(test, 'b', { a: '1' })).data).toEqual({ a: '1' })
    expect((await create(test, 'c', { a: '1', b: '2' }, { labels })).data).toEqual({ a: '1', b: '2' })
  })

  it('lets a request pass where it fails and may', async () => {
    const test = await startTestCore()
    const wrong = configuration('Object{data: {"a": object.data.missing}}')
    await enforce(test, [wrong, configuration('Object{data: {"b": "2"}}')], { failurePolicy: 'Ignore' })
    expect((await create(test, 'a', { x: '1' })).data).toEqual({ x: '1', b: '2' })
  })

  it('sees an object in the version that it names', async () => {
    const test = await startTestCore()
    const expression = 'Object{spec: Object.spec{targetCPUUtilizationPercentage: 40}}'
    const matchConstraints = {
      resourceRules: [
        { operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] },
      ],
    }
    await enforce(test, [configuration(expression)], { matchConstraints })
    const created = await test.client.create(horizontalPodAutoscalers, {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a', namespace: 'default' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }, maxReplicas: 3 },
    } as KubernetesObject as never)
    expect(created).toMatchObject({
      spec: { metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 40 } } }] },
    })
  })

  it.each([
    ['IfNeeded', 'first,second,first'],
    ['Never', 'first,second'],
  ])('is asked again after later changes, or not: %s', async (reinvocationPolicy, order) => {
    const test = await startTestCore()
    const append = (name: string) => configuration(`Object{data: {"order": object.data.order + ",${name}"}}`)
    await enforce(test, [append('first')], { reinvocationPolicy }, 'a')
    await enforce(test, [append('second')], {}, 'b')
    expect((await create(test, 'x', { order: 'start' })).data).toEqual({ order: `start,${order}` })
  })

  it('is asked again after its own change, if it is to be asked again at all', async () => {
    const test = await startTestCore()
    const append = configuration('Object{data: {"order": object.data.order + ",next"}}')
    await enforce(test, [append], { reinvocationPolicy: 'IfNeeded' })
    expect((await create(test, 'x', { order: 'start' })).data).toEqual({ order: 'start,next,next' })
  })

  it('names all that went wrong', async () => {
    const test = await startTestCore()
    const wrong = (field: string) => configuration(`Object{data: {"a": object.data.${field}}}`)
    await enforce(test, [wrong('x'), wrong('y')])
    const why = (field: string) =>
      `policy 'p' with binding 'p' denied request: expression 'Object{data: {"a": object.data.${field}}}' resulted in error: no such key: ${field}`
    const error = await create(test, 'a', { b: '1' }).catch((caught) => caught)
    expect(error.status).toMatchObject({
      message: why('x'),
      details: { name: 'a', kind: 'configmaps', causes: [{ message: why('x') }, { message: why('y') }] },
    })
  })

  it('is refused, whoever is bound to it, where nobody serves the kind of its parameters', async () => {
    const test = await startTestCore()
    await enforce(test, [configuration('Object{}')], { paramKind: { apiVersion: 'v1', kind: 'Limit' } })
    expect(await refusal(create(test, 'a'))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: `policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: '/v1, Kind=Limit'`,
    })
  })

  it('changes a Deployment that is updated, and not what was there before it', async () => {
    const test = await startTestCore()
    const expression =
      'Object{spec: Object.spec{template: Object.spec.template{metadata: Object.spec.template.metadata{labels: {"by": "policy"}}}}}'
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const created = await test.client.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'a' } }, template },
    } as unknown as Deployment)
    await enforce(test, [configuration(expression)], { matchConstraints: rulesFor('apps', 'deployments') })
    expect(created.spec?.template.metadata?.labels).toEqual({ app: 'a' })
    const updated = await test.client.update(deployments, {
      ...created,
      spec: { ...created.spec, paused: true },
    } as Deployment)
    expect(updated.spec?.template.metadata?.labels).toEqual({ app: 'a', by: 'policy' })
  })
})
