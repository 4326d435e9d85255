import { type Secret, type ServiceAccount, secrets, serviceAccounts } from '@coracle/api'
import type { FakeClient } from '@coracle/client/testing'
import type { VirtualEnvironment } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { atWork } from '../testing/at-work.ts'
import { createServiceAccountTokenController } from './controller.ts'

const namespace = 'default'

let environment: VirtualEnvironment
let client: FakeClient

const start = async (rootCertificate: string | undefined = 'PEM') => {
  ;({ environment, client } = await atWork(() => [
    createServiceAccountTokenController({
      rootCertificate,
      issueToken: async ({ namespace, account, secret }) => `${namespace}/${account.name}:${account.uid} in ${secret}`,
    }),
  ]))
}
beforeEach(() => start())

const createAccount = (name: string, more: Partial<ServiceAccount> = {}): Promise<ServiceAccount> =>
  client.create<ServiceAccount>(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace, name },
    ...more,
  })

const createSecret = async (name: string, account: string, parts: Partial<Secret> = {}): Promise<void> => {
  const annotations = { 'kubernetes.io/service-account.name': account, ...parts.metadata?.annotations }
  await client.create<Secret>(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    ...parts,
    metadata: { namespace, name, annotations },
  })
  await environment.clock.settle()
}

const get = (name: string): Promise<Secret> => client.get(secrets, { namespace, name })
const names = (): readonly (string | undefined)[] => client.stored(secrets).map(({ metadata }) => metadata.name)
const textOf = ({ data = {} }: Secret) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))

describe('a Secret that asks for a token', () => {
  it('gets one of its account, where that is, and the certificate of the server', async () => {
    const { uid } = (await createAccount('robot')).metadata
    await createSecret('a', 'robot')
    const secret = await get('a')
    expect(textOf(secret)).toEqual({ 'ca.crt': 'PEM', namespace, token: `default/robot:${uid} in a` })
    expect(secret.metadata.annotations).toEqual({
      'kubernetes.io/service-account.name': 'robot',
      'kubernetes.io/service-account.uid': uid,
    })
  })

  it('keeps what it has, but for another certificate', async () => {
    await createAccount('robot')
    const data = { token: Buffer.from('own').toString('base64'), 'ca.crt': 'b2xk', more: 'eA==' }
    await createSecret('a', 'robot', { data })
    expect(textOf(await get('a'))).toEqual({ 'ca.crt': 'PEM', namespace, token: 'own', more: 'x' })
    await start('')
    await createAccount('robot')
    await createSecret('a', 'robot')
    expect(Object.keys((await get('a')).data ?? {})).toContain('token')
  })

  it('gets another token when the one it had is taken out', async () => {
    await createAccount('robot')
    await createSecret('a', 'robot')
    const { token } = textOf(await get('a'))
    await client.patch(secrets, { namespace, name: 'a' }, { type: 'merge', body: { data: { token: null } } })
    await environment.clock.settle()
    expect(textOf(await get('a')).token).toBe(token)
  })

  it('is removed where there is no such account', async () => {
    await createSecret('a', 'nobody')
    await createAccount('robot')
    await createSecret('b', 'robot', {
      metadata: { annotations: { 'kubernetes.io/service-account.uid': 'that of another' } },
    })
    expect(names()).toEqual([])
  })

  it('goes with its account, also when another has its name at once', async () => {
    await createAccount('robot')
    await createAccount('other')
    await createSecret('a', 'robot')
    await createSecret('b', 'other')
    await client.delete(serviceAccounts, { namespace, name: 'robot' })
    await createAccount('robot')
    await environment.clock.settle()
    expect(names()).toEqual(['b'])
  })

  it('is named by its account no more when it is gone', async () => {
    await createAccount('robot', { secrets: [{ name: 'a' }, { name: 'b' }] })
    await createSecret('a', 'robot')
    await client.delete(secrets, { namespace, name: 'a' })
    await environment.clock.settle()
    expect((await client.get(serviceAccounts, { namespace, name: 'robot' })).secrets).toEqual([{ name: 'b' }])
  })
})

it('leaves Secrets alone that are on their way out', async () => {
  await createAccount('robot')
  const annotations = { 'kubernetes.io/service-account.name': 'robot' }
  const leaving = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/wait'] }
  await client.create<Secret>(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: { namespace, name: 'a', annotations, ...leaving },
  })
  await environment.clock.settle()
  expect((await get('a')).data).toBeUndefined()
})

it('leaves Secrets of other types alone', async () => {
  await createSecret('a', 'nobody', { type: 'Opaque' })
  expect((await get('a')).data).toBeUndefined()
})
