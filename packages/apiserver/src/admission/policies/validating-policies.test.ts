import {
  configMaps,
  horizontalPodAutoscalers,
  type KubernetesObject,
  namespaces,
  pods,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { RequestContext } from '../../request.ts'
import { admin, configMap, pod, refusal, startTestCore, type TestCore } from '../../testing/test-core.ts'

const apiVersion = 'admissionregistration.k8s.io/v1'
const onConfigMaps = {
  resourceRules: [
    { operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
  ],
}

const policy = (test: TestCore, spec: object, name = 'p') =>
  test.client.create(validatingAdmissionPolicies, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: onConfigMaps, ...spec },
  } as ValidatingAdmissionPolicy)

const bind = (test: TestCore, more: object = {}, name = 'b') =>
  test.client.create(validatingAdmissionPolicyBindings, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: 'p', validationActions: ['Deny'], ...more },
  } as ValidatingAdmissionPolicyBinding)

const create = (test: TestCore, name: string, data: Readonly<Record<string, string>> = {}, metadata: object = {}) =>
  test.client.create(configMaps, configMap(name, data, metadata))

const small = { validations: [{ expression: 'size(object.data) < 2' }] }
const large = { a: '1', b: '2' }

/** Creates a config map, and tells what is said beside the answer. */
async function createListening(test: TestCore, data: Readonly<Record<string, string>>) {
  const warnings: string[] = []
  const annotations: Record<string, string> = {}
  const context: RequestContext = {
    ...admin,
    warn: (text) => warnings.push(text),
    annotate: (key, value) => {
      annotations[key] ??= value
    },
  }
  const options = { dryRun: false, fieldManager: '', fieldValidation: 'Warn' } as const
  await test.registry(configMaps).create(context, 'default', configMap('a', data), options)
  return { warnings, annotations }
}

describe('a policy', () => {
  it('is in force where a binding says so', async () => {
    const test = await startTestCore()
    await policy(test, small)
    await create(test, 'before', large)
    await bind(test)
    await create(test, 'fits', { a: '1' })
    const error = await create(test, 'a', large).catch((caught) => caught)
    const why =
      "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: size(object.data) < 2"
    expect(error.status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 422,
      reason: 'Invalid',
      message: `configmaps "a" is forbidden: ${why}`,
      details: { name: 'a', kind: 'configmaps', causes: [{ message: why }] },
    })
    await test.client.delete(validatingAdmissionPolicyBindings, { name: 'b' })
    await create(test, 'after', large)
  })

  it.each<[string, object, number, string, string]>([
    ['its message', { message: ' too much ' }, 422, 'Invalid', 'too much'],
    [
      'a message that is made',
      { message: 'no', messageExpression: "'has ' + string(size(object.data))" },
      422,
      'Invalid',
      'has 2',
    ],
    [
      'its message where none can be made',
      { message: 'no', messageExpression: 'string(object.nope)' },
      422,
      'Invalid',
      'no',
    ],
    [
      'its message where one of several lines is made',
      { message: 'no', messageExpression: "'a\\nb'" },
      422,
      'Invalid',
      'no',
    ],
    ['its reason', { message: 'no', reason: 'Forbidden' }, 403, 'Forbidden', 'no'],
    [
      'a reason with another code',
      { message: 'no', reason: 'RequestEntityTooLarge' },
      413,
      'RequestEntityTooLarge',
      'no',
    ],
  ])('refuses with %s', async (_, more, code, reason, text) => {
    const test = await startTestCore()
    await policy(test, { validations: [{ ...small.validations[0], ...more }] })
    await bind(test)
    const message = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${text}`
    expect(await refusal(create(test, 'a', large))).toEqual({ code, reason, message })
  })

  it('sees the object before and after, and deletes', async () => {
    const test = await startTestCore()
    const rules = { resourceRules: [{ ...onConfigMaps.resourceRules[0], operations: ['*'] }] }
    const expression =
      "request.operation == 'CREATE' ? oldObject == null : request.operation == 'DELETE' ? object == null && oldObject.data.k != 'keep' : object.data.k >= oldObject.data.k"
    await policy(test, { matchConstraints: rules, validations: [{ expression }] })
    await bind(test)
    await create(test, 'a', { k: '5' })
    await test.client.update(configMaps, configMap('a', { k: '6' }))
    expect((await refusal(test.client.update(configMaps, configMap('a', { k: '1' })))).code).toBe(422)
    await test.client.update(configMaps, configMap('a', { k: 'keep' }))
    expect((await refusal(test.client.delete(configMaps, { namespace: 'default', name: 'a' }))).code).toBe(422)
  })

  it('shares values among its expressions, each found out once and only if it is asked for', async () => {
    const test = await startTestCore()
    await policy(test, {
      variables: [
        { name: 'broken', expression: 'object.data.nope' },
        { name: 'count', expression: 'size(object.data)' },
        { name: 'twice', expression: 'variables.count * 2' },
      ],
      validations: [
        { expression: 'variables.twice <= 2', messageExpression: "'twice is ' + string(variables.twice)" },
        { expression: "!has(object.data.ask) || variables.broken == 'x'" },
      ],
    })
    await bind(test)
    await create(test, 'fits', { a: '1' })
    expect((await refusal(create(test, 'a', large))).message).toContain('denied request: twice is 4')
    expect((await refusal(create(test, 'a', { ask: 'x' }))).message).toContain(
      `expression '!has(object.data.ask) || variables.broken == 'x'' resulted in error: composited variable "broken" fails to evaluate: no such key: nope`,
    )
  })

  it('refuses where an expression has no value, unless failures are to be ignored', async () => {
    const test = await startTestCore()
    const validations = [{ expression: "object.data.mode == 'strict'" }]
    await policy(test, { validations })
    await policy(test, { validations, failurePolicy: 'Ignore' }, 'lenient')
    await bind(test, { policyName: 'lenient' })
    await create(test, 'a')
    expect((await refusal(create(test, 'b', { mode: 'lax' }))).code).toBe(422)
    await bind(test, {}, 'c')
    expect((await refusal(create(test, 'c', { other: 'x' }))).message).toContain(
      "with binding 'c' denied request: expression 'object.data.mode == 'strict'' resulted in error: no such key: mode",
    )
  })

  it('ends where its expressions cost too much', async () => {
    const test = await startTestCore()
    const list = '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]'
    const loops = (names: string) => [...names].reduce((inner, name) => `${list}.all(${name}, ${inner})`, 'true')
    await policy(test, { validations: [{ expression: loops('abcdefg') }] }, 'one')
    await bind(test, { policyName: 'one' })
    expect((await refusal(create(test, 'a'))).message).toContain(
      'resulted in error: operation cancelled: actual cost limit exceeded',
    )
    await test.client.delete(validatingAdmissionPolicies, { name: 'one' })
    const many = Array.from({ length: 40 }, () => ({ expression: loops('abcde') }))
    await policy(test, { validations: many }, 'many')
    await bind(test, { policyName: 'many' }, 'other')
    expect((await refusal(create(test, 'a'))).message).toContain('running out of cost budget')
  })

  const tens = '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]'
  const loops = (names: string, last = 'true') =>
    [...names].reduce((inner, name) => `${tens}.all(${name}, ${inner})`, last)
  const dear = Array.from({ length: 40 }, () => ({ expression: loops('abcde') }))
  const spent = 'validation failed due to running out of cost budget, no further validation rules will be run'

  it('says nothing else once its expressions have cost too much', async () => {
    const test = await startTestCore()
    await policy(test, { validations: [{ expression: 'false', message: 'no' }, ...dear] })
    await bind(test, { validationActions: ['Warn'] })
    const { warnings } = await createListening(test, {})
    expect(warnings).toEqual([`Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': ${spent}`])
    await policy(test, { validations: [{ expression: 'false' }, ...dear], failurePolicy: 'Ignore' }, 'lenient')
    await bind(test, { policyName: 'lenient' }, 'c')
    await create(test, 'b')
  })

  it('counts what variables cost', async () => {
    const test = await startTestCore()
    const variables = dear.map(({ expression }, index) => ({ name: `v${index}`, expression }))
    const all = variables.map(({ name }) => `variables.${name}`).join(' && ')
    const validations = [{ expression: `(${all}) || true` }]
    await policy(test, { variables, validations })
    await bind(test)
    expect((await refusal(create(test, 'a'))).message).toContain(`denied request: ${spent}`)
  })

  it('makes messages of what validations left to be spent', async () => {
    const test = await startTestCore()
    const messageExpression = `${loops('abcde')} ? 'no' : ''`
    const validations = dear.map(() => ({ expression: 'false', messageExpression }))
    await policy(test, { validations: [{ expression: 'true' }, ...validations] })
    await bind(test)
    expect((await refusal(create(test, 'a'))).message).toContain(`denied request: failed messageExpression: ${spent}`)
  })

  it('refuses where a note for the audit log cannot be made, even if its binding only warns', async () => {
    const test = await startTestCore()
    const valueExpression = "'mode ' + object.data.mode"
    const auditAnnotations = [{ key: 'mode', valueExpression }]
    await policy(test, { auditAnnotations })
    await policy(test, { auditAnnotations, failurePolicy: 'Ignore' }, 'lenient')
    await bind(test, { policyName: 'lenient', validationActions: ['Warn'] }, 'c')
    await create(test, 'a', { other: 'x' })
    await bind(test, { validationActions: ['Warn'] })
    expect((await refusal(create(test, 'b', { other: 'x' }))).message).toContain(
      `'p' with binding 'b' denied request: expression '${valueExpression}' resulted in error: no such key: mode`,
    )
  })

  it('sees no namespace in its conditions', async () => {
    const test = await startTestCore()
    await policy(test, { ...small, matchConditions: [{ name: 'c', expression: 'namespaceObject == null' }] })
    await bind(test)
    expect((await refusal(create(test, 'a', large))).code).toBe(422)
  })

  it('are asked about webhooks, and not about policies', async () => {
    const test = await startTestCore()
    const resourceRules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }]
    await policy(test, { matchConstraints: { resourceRules }, validations: [{ expression: 'false' }] })
    await bind(test)
    await policy(test, small, 'another')
    const metadata = { name: 'a' }
    const configuration = { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata } as const
    expect((await refusal(test.client.create(validatingWebhookConfigurations, configuration))).code).toBe(422)
  })

  it('can ask who may do what, and about the namespace', async () => {
    const test = await startTestCore({
      authorizer: {
        refuse: (_user, attributes) =>
          attributes.kind === 'resource' && attributes.verb === 'exceed' ? 'no' : undefined,
      },
    })
    await policy(test, {
      validations: [
        { expression: "size(object.data) < 2 || authorizer.requestResource.check('exceed').allowed()" },
        { expression: "namespaceObject.metadata.name == 'default'" },
      ],
    })
    await bind(test)
    await create(test, 'fits', { a: '1' })
    expect((await refusal(create(test, 'a', large))).code).toBe(422)
  })

  it('can ask who may list a part of a collection', async () => {
    const test = await startTestCore({
      authorizer: {
        refuse: (_user, { kind, ...attributes }) =>
          kind === 'path' || ('fieldSelector' in attributes && attributes.fieldSelector !== 'metadata.name=mine')
            ? 'no'
            : undefined,
      },
    })
    const expression =
      "authorizer.group('').resource('pods').fieldSelector('metadata.name=' + object.metadata.name).check('list').allowed()"
    await policy(test, { validations: [{ expression }] })
    await bind(test)
    await create(test, 'mine')
    expect((await refusal(create(test, 'theirs'))).code).toBe(422)
  })

  it('is asked only about requests that meet its conditions', async () => {
    const test = await startTestCore()
    const matchConditions = [{ name: 'c', expression: "object.metadata.name.startsWith('guarded')" }]
    await policy(test, { ...small, matchConditions })
    await bind(test)
    await create(test, 'free', large)
    expect((await refusal(create(test, 'guarded-a', large))).code).toBe(422)
  })

  it('leaves out what it excludes, and names it does not name', async () => {
    const test = await startTestCore()
    const [rule] = onConfigMaps.resourceRules
    const matchConstraints = {
      resourceRules: [{ ...rule, resourceNames: ['a', 'b'] }],
      excludeResourceRules: [{ ...rule, resourceNames: ['b'] }],
    }
    await policy(test, { ...small, matchConstraints })
    await bind(test)
    await create(test, 'b', large)
    await create(test, 'c', large)
    expect((await refusal(create(test, 'a', large))).code).toBe(422)
  })

  it('sees objects in the version it names', async () => {
    const test = await startTestCore()
    const rule = {
      operations: ['*'],
      apiGroups: ['autoscaling'],
      apiVersions: ['v1'],
      resources: ['horizontalpodautoscalers'],
    }
    const validations = [{ expression: 'object.spec.targetCPUUtilizationPercentage < 50', message: 'too late' }]
    await policy(test, { matchConstraints: { resourceRules: [rule] }, validations })
    await bind(test)
    const metrics = [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
    ]
    const scaler = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a', namespace: 'default' },
      spec: {
        scaleTargetRef: { kind: 'ReplicationController', name: 'rc', apiVersion: 'v1' },
        maxReplicas: 5,
        metrics,
      },
    } as never
    expect((await refusal(test.client.create(horizontalPodAutoscalers, scaler))).message).toContain('too late')
  })
})

describe('a binding', () => {
  it('takes part of the requests of its policy', async () => {
    const test = await startTestCore()
    await policy(test, small)
    await bind(test, { matchResources: { namespaceSelector: { matchLabels: { guarded: 'yes' } } } })
    await test.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'closed', labels: { guarded: 'yes' } },
    })
    await create(test, 'a', large)
    expect((await refusal(create(test, 'a', large, { namespace: 'closed' }))).code).toBe(422)
  })

  it('warns, or notes it for the audit log, instead of refusing', async () => {
    const test = await startTestCore()
    await policy(test, {
      validations: [{ expression: 'true' }, { ...small.validations[0], message: 'large' }],
      auditAnnotations: [
        { key: 'size', valueExpression: 'string(size(object.data))' },
        { key: 'nothing', valueExpression: 'null' },
      ],
    })
    await bind(test, { validationActions: ['Warn', 'Audit'] })
    // What several bindings have noted alike is noted once.
    await bind(test, { validationActions: ['Audit'] }, 'c')
    const { warnings, annotations } = await createListening(test, large)
    expect(warnings).toEqual(["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': large"])
    expect(annotations).toEqual({
      'p/size': '2',
      'validation.policy.admission.k8s.io/validation_failure': JSON.stringify([
        { message: 'large', policy: 'p', binding: 'b', expressionIndex: 1, validationActions: ['Warn', 'Audit'] },
      ]),
    })
  })

  const withParams = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: { resourceRules: [{ ...onConfigMaps.resourceRules[0], resources: ['pods'] }] },
    validations: [
      {
        expression: 'size(object.spec.containers) <= int(params.data.max)',
        messageExpression: "'at most ' + params.data.max",
      },
    ],
  }
  const two = { containers: ['a', 'b'].map((name) => ({ name, image: 'nginx' })) }

  it('brings the parameters of its policy, from the namespace of the request', async () => {
    const test = await startTestCore()
    await create(test, 'limits', { max: '1' })
    await policy(test, withParams)
    await bind(test, { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } })
    expect((await refusal(test.client.create(pods, pod('a', {}, two)))).message).toContain('denied request: at most 1')
    await test.client.update(configMaps, configMap('limits', { max: '2' }))
    await test.client.create(pods, pod('a', {}, two))
  })

  it('brings them from a namespace itself, where the request is about one', async () => {
    const test = await startTestCore()
    const resourceRules = [{ ...onConfigMaps.resourceRules[0], resources: ['namespaces'] }]
    const validations = [{ expression: "params == null || params.data.max == '1'" }]
    await policy(test, { ...withParams, matchConstraints: { resourceRules }, validations })
    await bind(test, { paramRef: { name: 'limits', parameterNotFoundAction: 'Allow' } })
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } } as const
    await test.client.create(namespaces, namespace)
    await create(test, 'limits', { max: '2' }, { namespace: 'a' })
    expect((await refusal(test.client.update(namespaces, namespace))).message).toContain(
      'denied request: failed expression',
    )
  })

  it('has its policy asked once for each object of parameters that labels select', async () => {
    const test = await startTestCore()
    for (const [name, max] of [
      ['wide', '5'],
      ['narrow', '1'],
    ] as const)
      await create(test, name, { max }, { labels: { limits: '' } })
    await policy(test, withParams)
    const selector = { matchLabels: { limits: '' } }
    await bind(test, { paramRef: { selector, parameterNotFoundAction: 'Deny' } })
    expect((await refusal(test.client.create(pods, pod('a', {}, two)))).message).toContain('at most 1')
  })

  it.each<[string, object, object, string | undefined]>([
    ['nothing where that is allowed', {}, { parameterNotFoundAction: 'Allow' }, undefined],
    [
      'nothing',
      {},
      { parameterNotFoundAction: 'Deny' },
      'no params found for policy binding with `Deny` parameterNotFoundAction',
    ],
    ['nothing where failures are ignored', { failurePolicy: 'Ignore' }, { parameterNotFoundAction: 'Deny' }, undefined],
    [
      'a namespace for what is in none',
      { paramKind: { apiVersion: 'v1', kind: 'Namespace' } },
      { parameterNotFoundAction: 'Deny', namespace: 'default' },
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    ],
  ])('that finds %s for parameters', async (_, spec, reference, why) => {
    const test = await startTestCore()
    await policy(test, { ...withParams, ...spec })
    await bind(test, { paramRef: { name: 'nowhere', ...reference } })
    const created = test.client.create(pods, pod('a', {}, two)) as Promise<KubernetesObject>
    if (why === undefined) expect((await created).metadata.name).toBe('a')
    else {
      const { code, message } = await refusal(created)
      expect([code, message]).toEqual([
        422,
        `pods "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed to configure binding: ${why}`,
      ])
    }
  })

  it.each([
    ['example.com/v1', 'example.com/v1'],
    ['v1', '/v1'],
  ])('is not looked at where nobody serves the kind of parameters of its policy: %s', async (version, shown) => {
    const test = await startTestCore()
    await policy(test, { ...withParams, paramKind: { apiVersion: version, kind: 'Limit' } })
    await bind(test)
    expect((await refusal(test.client.create(pods, pod('a', {}, two)))).message).toBe(
      `pods "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: '${shown}, Kind=Limit'`,
    )
  })

  it('cannot keep anybody from mending policies', async () => {
    const test = await startTestCore()
    const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }
    await policy(test, { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'false' }] })
    await bind(test)
    expect((await refusal(create(test, 'a'))).code).toBe(422)
    await test.client.delete(validatingAdmissionPolicyBindings, { name: 'b' })
    await create(test, 'a')
  })
})
