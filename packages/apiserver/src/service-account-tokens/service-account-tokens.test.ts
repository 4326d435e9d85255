import {
  type KubernetesObject,
  nodes,
  parseTime,
  pods,
  type Secret,
  type ServiceAccount,
  secrets,
  serviceAccounts,
  type TokenRequest,
  type TokenReview,
  tokenReviews,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { createServiceAccountKey } from '../security/certificates.ts'
import { createAccount, pod, refusal, startTestCore, type TestCore } from '../testing/test-core.ts'

const key = { namespace: 'default', name: 'robot' }
const api = 'https://kubernetes.default.svc.cluster.local'

async function started(): Promise<TestCore> {
  const pem = createServiceAccountKey()
  const test = await startTestCore({ serviceAccountKey: async () => pem })
  await test.client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: key })
  return test
}

const ask = async ({ client }: TestCore, spec: object = {}, parts: object = {}): Promise<TokenRequest> => {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec, ...parts }
  return (await client.createSubresource(serviceAccounts, key, 'token', request)) as TokenRequest
}

const tokenOf = async (test: TestCore, spec: object = {}): Promise<string> =>
  (await ask(test, spec)).status?.token ?? ''

const review = async ({ client }: TestCore, token: string, audiences?: readonly string[]) => {
  const { status } = await client.create<TokenReview>(tokenReviews, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: {},
    spec: { token, ...(audiences === undefined ? {} : { audiences }) },
  })
  return status
}

const claimsIn = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))

const uidOf = (object: KubernetesObject): string => object.metadata.uid ?? ''

describe('serviceaccounts/token', () => {
  it('gives a token that says whose it is, for whom, and until when', async () => {
    const test = await started()
    const request = await ask(test, { audiences: ['vault'], expirationSeconds: 600 })
    expect(request).toMatchObject({
      metadata: { name: 'robot', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { audiences: ['vault'], expirationSeconds: 600 },
      status: { expirationTimestamp: '2026-01-01T00:10:00Z' },
    })
    const account = await test.client.get(serviceAccounts, key)
    const iat = parseTime('2026-01-01T00:00:00Z') / 1000
    expect(claimsIn(request.status?.token ?? '')).toEqual({
      aud: ['vault'],
      exp: iat + 600,
      iat,
      iss: api,
      jti: expect.any(String),
      nbf: iat,
      sub: 'system:serviceaccount:default:robot',
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'robot', uid: uidOf(account) } },
    })
  })

  it('is good for a year where pods have it without having asked, and says when it should have been read again', async () => {
    const test = await started()
    const created = await test.client.create(pods, pod('p', {}, { serviceAccountName: 'robot' }))
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: uidOf(created) }
    const bound = { boundObjectRef, expirationSeconds: 3607 }
    const lives = async (spec: object) => {
      const { status } = await ask(test, spec)
      const { exp, iat, 'kubernetes.io': own } = claimsIn(status?.token ?? '')
      return { told: status?.expirationTimestamp, seconds: exp - iat, warnafter: own.warnafter && own.warnafter - iat }
    }
    const told = '2026-01-01T01:00:07Z'
    expect(await lives(bound)).toEqual({ told, seconds: 365 * 86_400, warnafter: 3607 })
    const short = { told, seconds: 3607, warnafter: undefined }
    expect(await lives({ expirationSeconds: 3607 })).toEqual(short)
    expect(await lives({ ...bound, audiences: [api, 'vault'] })).toEqual(short)
    expect(await lives({ ...bound, expirationSeconds: 3608 })).toMatchObject({ seconds: 3608, warnafter: undefined })
    const token = await tokenOf(test, bound)
    await test.environment.clock.advance('2h')
    expect(await review(test, token)).toMatchObject({ authenticated: true })
    await test.client.delete(pods, { namespace: 'default', name: 'p' }, { gracePeriodSeconds: 0 })
    expect((await review(test, token))?.authenticated).not.toBe(true)
  })

  it('is for this server and lives an hour unless something else is said', async () => {
    const { spec } = await ask(await started())
    expect(spec).toMatchObject({ audiences: [api], expirationSeconds: 3600 })
  })

  it.each<[string, object, object, object]>([
    [
      'too short a life',
      { expirationSeconds: 599 },
      {},
      { code: 422, message: expect.stringContaining('may not specify a duration less than 10 minutes') },
    ],
    [
      'too long a life',
      { expirationSeconds: 2 ** 32 + 1 },
      {},
      { code: 422, message: expect.stringContaining('may not specify a duration larger than 2^32 seconds') },
    ],
    [
      'another name',
      {},
      { metadata: { name: 'other' } },
      { code: 422, message: expect.stringContaining('must match the service account name if specified') },
    ],
    [
      'another namespace',
      {},
      { metadata: { namespace: 'other' } },
      {
        code: 400,
        message: 'the namespace of the provided object does not match the namespace sent on the request',
      },
    ],
    [
      'an account that was made again',
      {},
      { metadata: { uid: 'former' } },
      {
        code: 409,
        message: expect.stringContaining(
          'the UID in the token request (former) does not match the UID of the service account (',
        ),
      },
    ],
    [
      'what nothing can be bound to',
      { boundObjectRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' } },
      {},
      { code: 400, message: 'cannot bind token to object of type apps/v1, Kind=Deployment' },
    ],
    [
      'a pod that is not there',
      { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'a' } },
      {},
      { code: 404, message: 'pods "a" not found' },
    ],
  ])('refuses %s', async (_, spec, parts, refused) => {
    expect(await refusal(ask(await started(), spec, parts))).toMatchObject(refused)
  })

  it('is of an account that is there', async () => {
    const test = await started()
    await test.client.delete(serviceAccounts, key)
    expect(await refusal(ask(test))).toMatchObject({ code: 404, message: 'serviceaccounts "robot" not found' })
  })

  it('is bound to a pod of the account, and to no other', async () => {
    const test = await started()
    await createAccount(test.client, 'other')
    await test.client.create(pods, pod('a', {}, { serviceAccountName: 'other' }))
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'a' }
    expect(await refusal(ask(test, { boundObjectRef }))).toMatchObject({
      code: 400,
      message: 'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    })
    await test.client.create(pods, pod('b', {}, { serviceAccountName: 'robot' }))
    const other = { ...boundObjectRef, name: 'b', uid: 'another' }
    expect(await refusal(ask(test, { boundObjectRef: other }))).toMatchObject({ code: 409 })
  })

  it('is not there where nothing signs', async () => {
    const test = await startTestCore()
    await test.client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: key })
    expect(await refusal(ask(test))).toMatchObject({ code: 404 })
  })
})

const userOf = (account: ServiceAccount) => ({
  username: 'system:serviceaccount:default:robot',
  uid: uidOf(account),
  groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
})

describe('a token of a service account', () => {
  it('is known as such', async () => {
    const test = await started()
    const status = await review(test, await tokenOf(test))
    const account = await test.client.get(serviceAccounts, key)
    expect(status).toEqual({
      authenticated: true,
      audiences: [api],
      user: {
        ...userOf(account),
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)] },
      },
    })
  })

  it('is good for whom it is meant', async () => {
    const test = await started()
    const token = await tokenOf(test, { audiences: ['vault', 'shop'] })
    expect(await review(test, token, ['shop', 'bank'])).toMatchObject({ authenticated: true, audiences: ['shop'] })
    expect(await review(test, token)).toEqual({
      error: `token audiences ["vault","shop"] is invalid for the target audiences ["${api}"]`,
    })
  })

  it('ends, a minute after its time', async () => {
    const test = await started()
    const token = await tokenOf(test, { expirationSeconds: 600 })
    await test.environment.clock.advance('10m59s')
    expect(await review(test, token)).toMatchObject({ authenticated: true })
    await test.environment.clock.advance('1s')
    expect(await review(test, token)).toEqual({ error: 'service account token has expired' })
  })

  it('ends with its account, and is none of another of that name', async () => {
    const test = await started()
    const token = await tokenOf(test)
    await test.client.delete(serviceAccounts, key)
    expect(await review(test, token)).toEqual({ error: 'service account "robot" not found' })
    await test.client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: key })
    expect(await review(test, token)).toEqual({ error: expect.stringContaining('does not match claim') })
  })

  it('ends with the pod it is bound to, and says where that was', async () => {
    const test = await started()
    const node = await test.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
    const made = await test.client.create(pods, pod('a', {}, { serviceAccountName: 'robot', nodeName: 'n1' }))
    const token = await tokenOf(test, {
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: uidOf(made) },
    })
    expect((await review(test, token))?.user?.extra).toMatchObject({
      'authentication.kubernetes.io/pod-name': ['a'],
      'authentication.kubernetes.io/pod-uid': [uidOf(made)],
      'authentication.kubernetes.io/node-name': ['n1'],
      'authentication.kubernetes.io/node-uid': [uidOf(node)],
    })
    await test.client.delete(pods, { namespace: 'default', name: 'a' }, { gracePeriodSeconds: 0 })
    expect(await review(test, token)).toEqual({ error: 'pod "a" not found' })
  })

  it.each([
    ['a Secret', secrets, { kind: 'Secret', name: 's' }, 'secret "s" not found'],
    ['a Node', nodes, { kind: 'Node', name: 's' }, 'node "s" not found'],
  ] as const)('ends with %s it is bound to', async (_, resource, ref, error) => {
    const test = await started()
    const namespace = resource.namespaced ? { namespace: 'default' } : {}
    const metadata = { name: 's', ...namespace }
    await test.client.create<KubernetesObject>(resource, { apiVersion: 'v1', kind: ref.kind, metadata })
    const token = await tokenOf(test, { boundObjectRef: { apiVersion: 'v1', ...ref } })
    expect(await review(test, token)).toMatchObject({ authenticated: true })
    await test.client.delete(resource, { name: 's', ...namespace })
    expect(await review(test, token)).toEqual({ error })
  })

  it.each<[string, (token: string) => string]>([
    [
      'that was changed',
      (token) => token.replace(/\.[^.]+\./, `.${Buffer.from('{"sub":"x"}').toString('base64url')}.`),
    ],
    [
      'that nobody has signed',
      (token) => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`,
    ],
    ['that is cut short', (token) => token.slice(0, -4)],
    ['that is something else', () => 'a.b.c'],
  ])('is not taken for one %s', async (_, forge) => {
    const test = await started()
    expect(await review(test, forge(await tokenOf(test)))).toEqual({ error: 'invalid bearer token' })
  })

  it('of another server is not taken', async () => {
    const [one, other] = [await started(), await started()]
    expect(await review(other, await tokenOf(one))).toEqual({ error: 'invalid bearer token' })
  })
})

describe('a token that a Secret keeps', () => {
  const where = { namespace: 'default', name: 's' }
  const encoded = (token: string) => Buffer.from(token).toString('base64')

  /** A server with a Secret that keeps a token of the account. */
  async function kept(): Promise<{ readonly test: TestCore; readonly token: string }> {
    const test = await started()
    const account = await test.client.get(serviceAccounts, key)
    const subject = { namespace: 'default', account: { name: 'robot', uid: uidOf(account) }, secret: 's' }
    const token = (await test.core.serviceAccountTokens?.issueForSecret(subject)) ?? ''
    await test.client.create<Secret>(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...where, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      type: 'kubernetes.io/service-account-token',
      data: { token: encoded(token) },
    })
    return { test, token }
  }

  it('says whose it is in the claims it has always had, and has no end', async () => {
    const { test, token } = await kept()
    const account = await test.client.get(serviceAccounts, key)
    expect(claimsIn(token)).toEqual({
      iss: 'kubernetes/serviceaccount',
      'kubernetes.io/serviceaccount/namespace': 'default',
      'kubernetes.io/serviceaccount/secret.name': 's',
      'kubernetes.io/serviceaccount/service-account.name': 'robot',
      'kubernetes.io/serviceaccount/service-account.uid': uidOf(account),
      sub: 'system:serviceaccount:default:robot',
    })
    await test.environment.clock.advance('10000h')
    expect(await review(test, token)).toEqual({
      authenticated: true,
      audiences: [api],
      user: {
        ...userOf(account),
      },
    })
  })

  it('is for this server alone', async () => {
    const { test, token } = await kept()
    expect(await review(test, token, ['vault'])).toEqual({
      error: `token audiences ["${api}"] is invalid for the target audiences ["vault"]`,
    })
  })

  it.each<[string, string, (test: TestCore) => Promise<unknown>]>([
    ['without its Secret', 'Token has been invalidated', ({ client }) => client.delete(secrets, where)],
    [
      'when another is kept there',
      "Token does not match server's copy",
      ({ client }) => client.patch(secrets, where, { type: 'merge', body: { data: { token: encoded('x') } } }),
    ],
    [
      'with a Secret that is on its way out',
      'Token has been invalidated',
      async ({ client }) => {
        const body = { metadata: { finalizers: ['example.com/wait'] } }
        await client.patch(secrets, where, { type: 'merge', body })
        await client.delete(secrets, where)
      },
    ],
    ['without its account', 'serviceaccounts "robot" not found', ({ client }) => client.delete(serviceAccounts, key)],
    [
      'with an account that is on its way out',
      'ServiceAccount default/robot has been deleted',
      async ({ client }) => {
        const body = { metadata: { finalizers: ['example.com/wait'] } }
        await client.patch(serviceAccounts, key, { type: 'merge', body })
        await client.delete(serviceAccounts, key)
      },
    ],
    [
      'for another account of that name',
      'does not match claim',
      async ({ client }) => {
        await client.delete(serviceAccounts, key)
        await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: key })
      },
    ],
    [
      'when it is marked as one that nobody uses',
      "the token in secret default/s for service account default/robot has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the 'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token",
      ({ client }) => {
        const labels = { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' }
        return client.patch(secrets, where, { type: 'merge', body: { metadata: { labels } } })
      },
    ],
  ])('is no good %s', async (_, error, change) => {
    const { test, token } = await kept()
    const verified = await test.core.serviceAccountTokens?.verify(token, [api])
    expect(typeof verified === 'object' && verified.holds()).toBe(true)
    await change(test)
    expect(await review(test, token)).toEqual({ error: expect.stringContaining(error) })
    expect(typeof verified === 'object' && verified.holds()).toBe(false)
  })

  it('is warned of where its account names the Secret, as it did before 1.24', async () => {
    const { test, token } = await kept()
    const verified = await test.core.serviceAccountTokens?.verify(token, [api])
    if (typeof verified !== 'object') throw new Error(verified)
    expect(verified.warning?.()).toBeUndefined()
    const account = (await test.client.get(serviceAccounts, key)) as ServiceAccount
    await test.client.update(serviceAccounts, { ...account, secrets: [{ name: 's' }] })
    expect(verified.warning?.()).toBe(
      'Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.',
    )
  })
})
