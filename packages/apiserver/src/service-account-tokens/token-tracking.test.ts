import { configMaps, type KubernetesObject, type Secret, secrets, serviceAccounts } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { createServiceAccountKey } from '../security/certificates.ts'
import { refusal, startTestCore, type TestCore } from '../testing/test-core.ts'
import { apiAudience } from './service-account-tokens.ts'

const started = (store?: TestCore['store']): Promise<TestCore> => {
  const pem = createServiceAccountKey()
  return startTestCore({ serviceAccountKey: async () => pem, ...(store && { store }) })
}

describe('since when uses of tokens are noted', () => {
  const key = { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' }
  const since = async ({ client }: TestCore) => (await client.get(configMaps, key)).data?.since
  const patch = ({ client }: TestCore, data: object) => client.patch(configMaps, key, { type: 'merge', body: { data } })

  it('is the day on which a server first ran', async () => {
    const test = await started()
    await test.environment.clock.settle()
    expect(await since(test)).toBe('2026-01-01')
    await patch(test, { since: '2025-01-01' })
    const again = await started(test.store)
    await again.environment.clock.settle()
    expect(await since(again)).toBe('2025-01-01')
  })

  it('is the day on which somebody has made it something else', async () => {
    const test = await started()
    await test.environment.clock.advance('24h')
    await patch(test, { since: '2025-13-01', own: 'x' })
    await test.environment.clock.settle()
    expect((await test.client.get(configMaps, key)).data).toEqual({ since: '2026-01-02', own: 'x' })
  })

  it('is said again half an hour after it was said, where it is deleted', async () => {
    const test = await started()
    await test.environment.clock.settle()
    await test.client.delete(configMaps, key)
    await test.environment.clock.advance('29m')
    expect((await refusal(test.client.get(configMaps, key))).code).toBe(404)
    await test.environment.clock.advance('1m')
    expect(await since(test)).toBe('2026-01-01')
    await test.environment.clock.advance('30m')
    await test.client.delete(configMaps, key)
    await test.environment.clock.settle()
    expect(await since(test)).toBe('2026-01-01')
  })

  it('is said a minute after it could not be', async () => {
    let failures = 0
    const mutate = ({ name }: { readonly name: string }, object: KubernetesObject | undefined) => {
      if (name !== key.name || failures > 0) return object
      failures += 1
      throw new Error('the webhook is away')
    }
    const pem = createServiceAccountKey()
    const test = await startTestCore({ serviceAccountKey: async () => pem, admission: [{ name: 'failing', mutate }] })
    await test.environment.clock.advance('59s')
    expect((await refusal(test.client.get(configMaps, key))).code).toBe(404)
    await test.environment.clock.advance('1s')
    expect([failures, await since(test)]).toEqual([1, '2026-01-01'])
  })

  it('is not said where there are no tokens', async () => {
    const { client, environment } = await startTestCore()
    await environment.clock.settle()
    expect((await refusal(client.get(configMaps, key))).code).toBe(404)
  })
})

describe('the use of a token that a Secret keeps', () => {
  const where = { namespace: 'default', name: 's' }
  const lastUsed = 'kubernetes.io/legacy-token-last-used'

  async function withToken() {
    const test = await started()
    const tokens = test.core.serviceAccountTokens
    if (tokens === undefined) throw new Error('there are no tokens')
    const account: KubernetesObject = await test.client.create(serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: 'default', name: 'robot' },
    })
    const subject = { namespace: 'default', account: { name: 'robot', uid: account.metadata.uid ?? '' }, secret: 's' }
    const token = await tokens.issueForSecret(subject)
    await test.client.create<Secret>(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...where, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      type: 'kubernetes.io/service-account-token',
      data: { token: Buffer.from(token).toString('base64') },
    })
    const labels = async () => (await test.client.get(secrets, where)).metadata.labels
    const label = (value: string) =>
      test.client.patch(secrets, where, { type: 'merge', body: { metadata: { labels: { [lastUsed]: value } } } })
    return { ...test, labels, label, verify: () => tokens.verify(token, [apiAudience]) }
  }

  it('is noted with its day, once a day', async () => {
    const { environment, labels, verify, client } = await withToken()
    const verified = await verify()
    await environment.clock.settle()
    expect(await labels()).toEqual({ [lastUsed]: '2026-01-01' })
    const { resourceVersion } = (await client.get(secrets, where)).metadata
    const use = () => typeof verified === 'object' && verified.holds()
    expect(use()).toBe(true)
    await environment.clock.settle()
    expect((await client.get(secrets, where)).metadata.resourceVersion).toBe(resourceVersion)
    await environment.clock.advance('24h')
    expect(use()).toBe(true)
    await environment.clock.settle()
    expect(await labels()).toEqual({ [lastUsed]: '2026-01-02' })
  })

  it.each([
    ['2026-01-02', '2026-01-02'],
    ['2026-01-03', '2026-01-01'],
    ['never', '2026-01-01'],
  ])('that is noted as %s already is %s', async (noted, expected) => {
    const { environment, labels, label, verify } = await withToken()
    await label(noted)
    await verify()
    await environment.clock.settle()
    expect(await labels()).toEqual({ [lastUsed]: expected })
  })

  it('is none where the token is refused', async () => {
    const { environment, client, labels, verify } = await withToken()
    const invalid = { 'kubernetes.io/legacy-token-invalid-since': '2025-01-01' }
    await client.patch(secrets, where, { type: 'merge', body: { metadata: { labels: invalid } } })
    expect(await verify()).toContain('has been marked invalid')
    await environment.clock.settle()
    expect(await labels()).toEqual(invalid)
  })
})
