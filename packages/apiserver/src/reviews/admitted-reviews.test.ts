import {
  type LocalSubjectAccessReview,
  localSubjectAccessReviews,
  type MutatingWebhookConfiguration,
  mutatingWebhookConfigurations,
  resourceQuotas,
  selfSubjectReviews,
  selfSubjectRulesReviews,
  type TokenReview,
  tokenReviews,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  type ValidatingWebhookConfiguration,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
} from '@coracle/api'
import { expect, it } from 'vitest'
import { refusal, startTestCore, type TestCore } from '../testing/test-core.ts'
import { startTestWebhook, webhookConfiguration, webhookOf } from '../testing/test-webhook.ts'

const reviewRules = [
  {
    operations: ['CREATE'],
    apiGroups: ['authentication.k8s.io', 'authorization.k8s.io'],
    apiVersions: ['*'],
    resources: ['*'],
  },
]

const tokenReview = (token: string): TokenReview => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  metadata: {},
  spec: { token },
})

const localReview = (namespace: string, user = 'eve'): LocalSubjectAccessReview => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'LocalSubjectAccessReview',
  metadata: { namespace },
  spec: { user, resourceAttributes: { verb: 'get', resource: 'pods', namespace } },
})

const validating = ({ client }: TestCore, ...webhooks: readonly object[]) =>
  client.create(
    validatingWebhookConfigurations,
    webhookConfiguration<ValidatingWebhookConfiguration>('ValidatingWebhookConfiguration', 'judging', ...webhooks),
  )

it('a webhook judges reviews as they were posted, before they are answered', async () => {
  const webhook = await startTestWebhook(() => ({ allowed: false, status: { message: 'no questions' } }))
  const test = await startTestCore({ authenticateToken: () => ({ name: 'root', groups: [] }) })
  await validating(test, webhookOf(webhook, { rules: reviewRules }))
  expect(await refusal(test.client.create(tokenReviews, tokenReview('secret')))).toMatchObject({
    code: 400,
    message: 'admission webhook "check.example.com" denied the request: no questions',
  })
  expect(webhook.requests).toMatchObject([
    {
      kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenReview' },
      resource: { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' },
      operation: 'CREATE',
      object: tokenReview('secret'),
      oldObject: null,
      options: { kind: 'CreateOptions' },
      userInfo: { username: 'system:apiserver' },
    },
  ])
  expect(webhook.requests[0]?.object.status?.authenticated).toBeUndefined()
})

it('conditions of webhooks may ask for the rights of whoever asks', async () => {
  const webhook = await startTestWebhook(() => ({ allowed: false }))
  const test = await startTestCore({ authorizer: 'default' })
  const expression = "!authorizer.group('').resource('pods').check('delete').allowed()"
  await validating(
    test,
    webhookOf(webhook, { rules: reviewRules, matchConditions: [{ name: 'not-mighty', expression }] }),
  )
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} }
  const clientOf = (...groups: string[]) =>
    test.core.client({ name: 'somebody', groups: [...groups, 'system:authenticated'] })
  expect(await refusal(clientOf().create(selfSubjectReviews, review))).toMatchObject({
    message: expect.stringContaining('denied the request'),
  })
  expect(await clientOf('system:masters').create(selfSubjectReviews, review)).toMatchObject({
    status: { userInfo: { username: 'somebody' } },
  })
})

it('a webhook changes what is asked', async () => {
  const patch = [{ op: 'replace', path: '/spec/user', value: 'root' }]
  const webhook = await startTestWebhook(() => ({ patch }))
  const test = await startTestCore({ authorizer: 'default' })
  await test.client.create(
    mutatingWebhookConfigurations,
    webhookConfiguration<MutatingWebhookConfiguration>(
      'MutatingWebhookConfiguration',
      'changing',
      webhookOf(webhook, { rules: reviewRules }),
    ),
  )
  expect((await test.client.create(localSubjectAccessReviews, localReview('default'))).spec.user).toBe('root')
})

it('what is no question is refused before anybody judges it', async () => {
  const webhook = await startTestWebhook()
  const test = await startTestCore()
  await validating(test, webhookOf(webhook, { rules: reviewRules }))
  const { client } = test
  const rules = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', metadata: {}, spec: {} }
  const refused = [
    client.create(tokenReviews, tokenReview('')),
    client.create(localSubjectAccessReviews, localReview('default', '')),
    client.create(selfSubjectRulesReviews, rules),
  ]
  expect((await Promise.all(refused.map(refusal))).map(({ code }) => code)).toEqual([400, 422, 400])
  expect(webhook.requests).toEqual([])
})

it('no policy judges them', async () => {
  const test = await startTestCore()
  const apiVersion = 'admissionregistration.k8s.io/v1'
  await test.client.create(validatingAdmissionPolicies, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules: reviewRules }, validations: [{ expression: 'false' }] },
  } as ValidatingAdmissionPolicy)
  await test.client.create(validatingAdmissionPolicyBindings, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'] },
  } as ValidatingAdmissionPolicyBinding)
  expect((await test.client.create(tokenReviews, tokenReview('secret'))).status?.error).toBe('invalid bearer token')
})

it('a namespace may be asked about that is not there', async () => {
  const { client } = await startTestCore()
  expect((await client.create(localSubjectAccessReviews, localReview('nowhere'))).status).toBeDefined()
})

it('no quota is charged', async () => {
  const { client } = await startTestCore()
  const hard = { 'count/localsubjectaccessreviews.authorization.k8s.io': '0' }
  const quota = await client.create(resourceQuotas, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'default' },
    spec: { hard },
  })
  await client.update(resourceQuotas, { ...quota, status: { hard, used: hard } }, { subresource: 'status' })
  expect((await client.create(localSubjectAccessReviews, localReview('default'))).status).toBeDefined()
})

it('the metadata that only a server gives is not taken over', async () => {
  const { client } = await startTestCore()
  const metadata = { name: 'mine', uid: 'mine', creationTimestamp: '2020-01-01T00:00:00Z', labels: { a: 'b' } }
  const answer = await client.create(tokenReviews, { ...tokenReview('secret'), metadata })
  expect(answer.metadata).toEqual({ name: 'mine', labels: { a: 'b' } })
})
