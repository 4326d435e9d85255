import {
  type LocalSubjectAccessReview,
  localSubjectAccessReviews,
  type SelfSubjectAccessReview,
  type SelfSubjectReview,
  type SelfSubjectRulesReview,
  type SubjectAccessReview,
  selfSubjectAccessReviews,
  selfSubjectReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  type TokenReview,
  tokenReviews,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { User } from '../request.ts'
import { refusal, startTestCore } from '../testing/test-core.ts'

const group = 'system:authenticated'
const scheduler: User = { name: 'system:kube-scheduler', groups: [group] }
const eve: User = { name: 'eve', groups: [group] }
const master: User = { name: 'root', groups: ['system:masters', group] }

async function started() {
  const authenticateToken = (token: string) => (token === 'good' ? { ...master, uid: 'u' } : undefined)
  const { core } = await startTestCore({ authorizer: 'default', authenticateToken })
  return { core, clientOf: (user: User) => core.client(user) }
}

const review = <K extends string>(apiVersion: string, kind: K) => ({ apiVersion, kind, metadata: {} })
const selfReview = (spec: SelfSubjectAccessReview['spec']): SelfSubjectAccessReview => ({
  ...review('authorization.k8s.io/v1', 'SelfSubjectAccessReview'),
  spec,
})
const subjectReview = (spec: SubjectAccessReview['spec']): SubjectAccessReview => ({
  ...review('authorization.k8s.io/v1', 'SubjectAccessReview'),
  spec,
})

describe('whether the one who asks may do something', () => {
  it.each<[string, SelfSubjectAccessReview['spec'], boolean]>([
    ['read pods', { resourceAttributes: { verb: 'list', resource: 'pods' } }, true],
    ['bind pods', { resourceAttributes: { verb: 'create', resource: 'pods', subresource: 'binding' } }, true],
    ['create pods', { resourceAttributes: { verb: 'create', resource: 'pods', namespace: 'default' } }, false],
    ['read what is in another group', { resourceAttributes: { verb: 'list', group: 'apps', resource: 'pods' } }, false],
    ['read replica sets', { resourceAttributes: { verb: 'get', group: 'apps', resource: 'replicasets' } }, true],
    ['everything', { resourceAttributes: { verb: '*', group: '*', resource: '*' } }, false],
    ['read a path', { nonResourceAttributes: { verb: 'get', path: '/healthz' } }, true],
    ['write to a path', { nonResourceAttributes: { verb: 'post', path: '/healthz' } }, false],
  ])('%s', async (_, spec, allowed) => {
    const { clientOf } = await started()
    const answer = await clientOf(scheduler).create(selfSubjectAccessReviews, selfReview(spec))
    expect(answer.status?.allowed).toBe(allowed)
  })

  it.each([
    [
      undefined,
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes',
    ],
    [
      { resourceAttributes: { fieldSelector: {} } },
      'spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified',
    ],
    [
      { resourceAttributes: { labelSelector: { rawSelector: 'a', requirements: [{ key: 'a', operator: 'Exists' }] } } },
      'spec.resourceAttributes.labelSelector.rawSelector: Invalid value: "a": may not specified at the same time',
    ],
    [
      { resourceAttributes: { fieldSelector: { requirements: [{ key: '', operator: 'In' }] } } },
      "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified, spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
    [
      { resourceAttributes: { labelSelector: { requirements: [{ key: 'a b', operator: 'Exists', values: ['c'] }] } } },
      "spec.resourceAttributes.labelSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist', spec.resourceAttributes.labelSelector.requirements[0].key: Invalid value: \"a b\": name part must consist of",
    ],
  ])('is no question with %j', async (spec, problem) => {
    const { clientOf } = await started()
    // biome-ignore lint/suspicious/noExplicitAny: it is no review that a client would make
    const asked = clientOf(scheduler).create(selfSubjectAccessReviews, { ...selfReview({}), spec } as any)
    expect(await refusal(asked)).toMatchObject({ code: 422, message: expect.stringContaining(problem) })
  })

  it('may be asked with operators that are not known here', async () => {
    const { clientOf } = await started()
    const requirements = [{ key: 'a', operator: 'Like', values: ['b'] }]
    const spec = { resourceAttributes: { fieldSelector: { requirements }, labelSelector: { requirements } } }
    const { status } = await clientOf(scheduler).create(selfSubjectAccessReviews, selfReview(spec))
    expect(status?.evaluationError).toContain('ignored due to parse error')
  })

  it('is yes to whoever may do everything', async () => {
    const { clientOf } = await started()
    const spec = { resourceAttributes: { verb: '*', group: '*', resource: '*' } }
    expect((await clientOf(master).create(selfSubjectAccessReviews, selfReview(spec))).status).toEqual({
      allowed: true,
    })
  })

  it.each<[SelfSubjectAccessReview['spec'], string]>([
    [
      {},
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ],
    [
      { resourceAttributes: {}, nonResourceAttributes: {} },
      'spec.nonResourceAttributes: Invalid value: {"Path":"","Verb":""}: cannot be specified in combination with resourceAttributes',
    ],
  ])('is not answered where it is not clear what is asked: %j', async (spec, message) => {
    const { clientOf } = await started()
    const refused = await refusal(clientOf(scheduler).create(selfSubjectAccessReviews, selfReview(spec)))
    expect(refused).toMatchObject({ code: 422, message: expect.stringContaining(message) })
  })
})

describe('whether somebody else may do something', () => {
  const wanted = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } }

  it('is answered to whoever may ask, with the binding that allows it', async () => {
    const { clientOf } = await started()
    const asked = subjectReview({ user: 'system:serviceaccount:kube-system:cronjob-controller', ...wanted })
    const delivers = { ...asked, spec: { ...asked.spec, resourceAttributes: { verb: 'delete', resource: 'pods' } } }
    expect((await clientOf(master).create(subjectAccessReviews, delivers)).status).toEqual({
      allowed: true,
      reason:
        'RBAC: allowed by ClusterRoleBinding "system:controller:cronjob-controller" of ClusterRole "system:controller:cronjob-controller" to ServiceAccount "cronjob-controller/kube-system"',
    })
    const nobody = subjectReview({ groups: ['strangers'], ...wanted })
    expect((await clientOf(master).create(subjectAccessReviews, nobody)).status).toEqual({ allowed: false })
    expect(await refusal(clientOf(eve).create(subjectAccessReviews, asked))).toMatchObject({ code: 403 })
  })

  it('says why a node may not', async () => {
    const { clientOf } = await started()
    const spec = { resourceAttributes: { verb: 'get', resource: 'secrets', namespace: 'default', name: 'key' } }
    const asked = subjectReview({ user: 'system:node:n1', groups: ['system:nodes'], ...spec })
    const { status } = await clientOf(master).create(subjectAccessReviews, asked)
    expect(status).toEqual({
      allowed: false,
      reason: "no relationship found between node 'n1' and this object",
    })
  })

  const nodeUser = { user: 'system:node:n1', groups: ['system:nodes'] }
  const ignored = (what: string) => `spec.resourceAttributes.${what} ignored due to parse error`
  const own = { key: 'spec.nodeName', operator: 'In', values: ['n1'] }

  it.each<[string, Partial<NonNullable<SubjectAccessReview['spec']['resourceAttributes']>>, boolean, string?]>([
    ['as a query has it', { fieldSelector: { rawSelector: 'spec.nodeName=n1' } }, true],
    ['read', { fieldSelector: { requirements: [own] } }, true],
    ['of another node', { fieldSelector: { rawSelector: 'spec.nodeName=n2' } }, false],
    ['that cannot be read', { fieldSelector: { rawSelector: 'spec.nodeName' } }, false, ignored('fieldSelector')],
    [
      'with a condition that no query can have',
      { fieldSelector: { requirements: [own, { key: 'a', operator: 'Exists' }] } },
      true,
      'spec.resourceAttributes.fieldSelector partially ignored due to parse error',
    ],
    [
      'beside labels that cannot be read',
      { fieldSelector: { requirements: [own] }, labelSelector: { rawSelector: 'a in' } },
      true,
      ignored('labelSelector'),
    ],
    [
      'beside conditions on labels that no query can have',
      {
        labelSelector: {
          requirements: [
            { key: 'a', operator: 'Like' },
            { key: 'b', operator: 'Near', values: ['c'] },
          ],
        },
      },
      false,
      ignored('labelSelector'),
    ],
    [
      'beside conditions on labels of which some cannot be read',
      {
        fieldSelector: { requirements: [own] },
        labelSelector: {
          requirements: [
            { key: 'a', operator: 'In', values: ['b'] },
            { key: 'a', operator: 'Like' },
          ],
        },
      },
      true,
      'spec.resourceAttributes.labelSelector partially ignored due to parse error',
    ],
  ])('is judged by a field selector %s', async (_, selectors, allowed, evaluationError) => {
    const { clientOf } = await started()
    const asked = subjectReview({ ...nodeUser, resourceAttributes: { verb: 'list', resource: 'pods', ...selectors } })
    const { status } = await clientOf(master).create(subjectAccessReviews, asked)
    expect(status).toMatchObject({ allowed })
    expect(status?.evaluationError).toBe(evaluationError)
  })

  it('is not about the object that a field selector names, other than a request', async () => {
    const { clientOf } = await started()
    const selector = { fieldSelector: { rawSelector: 'metadata.name=n1' } }
    const asked = (more: object) =>
      subjectReview({ ...nodeUser, resourceAttributes: { verb: 'list', resource: 'nodes', ...selector, ...more } })
    const allowed = async (more: object) =>
      (await clientOf(master).create(subjectAccessReviews, asked(more))).status?.allowed
    expect([await allowed({}), await allowed({ name: 'n1' })]).toEqual([false, true])
  })

  it('is about someone', async () => {
    const { clientOf } = await started()
    expect(await refusal(clientOf(master).create(subjectAccessReviews, subjectReview(wanted)))).toMatchObject({
      code: 422,
      message: expect.stringContaining('spec.user: Invalid value: "": at least one of user or group must be specified'),
    })
  })

  it('may be asked about one namespace', async () => {
    const { clientOf } = await started()
    const local = (namespace: string): LocalSubjectAccessReview => ({
      ...review('authorization.k8s.io/v1', 'LocalSubjectAccessReview'),
      metadata: { namespace },
      spec: { user: scheduler.name, ...wanted },
    })
    const client = clientOf(master)
    expect((await client.create(localSubjectAccessReviews, local('default'))).status?.allowed).toBe(true)
    expect(await refusal(client.create(localSubjectAccessReviews, local('other')))).toMatchObject({
      code: 422,
      message: expect.stringContaining(
        'spec.resourceAttributes.namespace: Invalid value: "default": must match metadata.namespace',
      ),
    })
  })
})

describe('what the one who asks may do', () => {
  const asked = (namespace: string): SelfSubjectRulesReview => ({
    ...review('authorization.k8s.io/v1', 'SelfSubjectRulesReview'),
    spec: { namespace },
  })

  it('is what is granted to them and to their groups', async () => {
    const { clientOf } = await started()
    const { status } = await clientOf(scheduler).create(selfSubjectRulesReviews, asked('default'))
    expect(status).toMatchObject({ incomplete: false })
    expect(status?.resourceRules).toContainEqual({
      verbs: ['create'],
      apiGroups: [''],
      resources: ['bindings', 'pods/binding'],
    })
    expect(status?.resourceRules).toContainEqual({
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    })
    expect(status?.nonResourceRules).toContainEqual({
      verbs: ['get'],
      nonResourceURLs: expect.arrayContaining(['/healthz', '/openapi/*']),
    })
  })

  it('is everything for whoever may do everything', async () => {
    const { clientOf } = await started()
    expect((await clientOf(master).create(selfSubjectRulesReviews, asked('default'))).status).toMatchObject({
      resourceRules: expect.arrayContaining([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
      nonResourceRules: expect.arrayContaining([{ verbs: ['*'], nonResourceURLs: ['*'] }]),
      incomplete: false,
    })
  })

  it('is incomplete for nodes, whose rights follow from their pods', async () => {
    const { clientOf } = await started()
    const node: User = { name: 'system:node:n1', groups: ['system:nodes', group] }
    expect((await clientOf(node).create(selfSubjectRulesReviews, asked('default'))).status).toMatchObject({
      incomplete: true,
      evaluationError: 'node authorizer does not support user rule resolution',
    })
  })

  it('is asked of a namespace', async () => {
    const { clientOf } = await started()
    const refused = await refusal(clientOf(scheduler).create(selfSubjectRulesReviews, asked('')))
    expect(refused).toMatchObject({ code: 400, message: 'no namespace on request' })
  })
})

describe('who somebody is', () => {
  it('is told to themselves', async () => {
    const { clientOf } = await started()
    const asked: SelfSubjectReview = review('authentication.k8s.io/v1', 'SelfSubjectReview')
    const user = { ...scheduler, uid: '7', extra: { scopes: ['a', 'b'] } }
    expect(await clientOf(user).create(selfSubjectReviews, asked)).toMatchObject({
      metadata: { creationTimestamp: expect.any(String) },
      status: { userInfo: { username: scheduler.name, uid: '7', groups: [group], extra: { scopes: ['a', 'b'] } } },
    })
  })

  it.each<[string, TokenReview['spec'], unknown]>([
    [
      'by a good token',
      { token: 'good' },
      {
        authenticated: true,
        user: { username: 'root', uid: 'u', groups: master.groups },
        audiences: ['https://kubernetes.default.svc.cluster.local'],
      },
    ],
    ['not by a bad one', { token: 'bad' }, { error: 'invalid bearer token' }],
    [
      'not by one that is for others',
      { token: 'good', audiences: ['vault'] },
      {
        error:
          'token audiences ["https://kubernetes.default.svc.cluster.local"] is invalid for the target audiences ["vault"]',
      },
    ],
  ])('is told to servers %s', async (_, spec, status) => {
    const { clientOf } = await started()
    const asked: TokenReview = { ...review('authentication.k8s.io/v1', 'TokenReview'), spec }
    expect((await clientOf(master).create(tokenReviews, asked)).status).toEqual(status)
  })

  it('needs a token to be told', async () => {
    const { clientOf } = await started()
    const asked: TokenReview = { ...review('authentication.k8s.io/v1', 'TokenReview'), spec: { token: '' } }
    expect(await refusal(clientOf(master).create(tokenReviews, asked))).toMatchObject({ code: 400 })
  })
})

it('nothing of a review can be read', async () => {
  const { clientOf } = await started()
  const client = clientOf(master)
  const reads = [client.list(tokenReviews), client.get(tokenReviews, { name: 'a' }), client.watch(tokenReviews)]
  for (const read of reads) expect(await refusal(read)).toMatchObject({ code: 405 })
})
