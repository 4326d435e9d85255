import { bootstrapTokenSecret, secrets } from '@coracle/api'
import { expect, it } from 'vitest'
import { startTestCore } from '../testing/test-core.ts'

const key = { namespace: 'kube-system', name: 'bootstrap-token-abcdef' }
const bearer = 'abcdef.0123456789abcdef'
const token = (more: object = {}) =>
  bootstrapTokenSecret({
    id: 'abcdef',
    secret: '0123456789abcdef',
    usages: ['authentication'],
    groups: ['system:bootstrappers:a'],
    ...more,
  })

it('knows who shows a token that is a Secret, for as long as that is there and good', async () => {
  const { core, client, environment } = await startTestCore()
  expect(core.bootstrapTokens(bearer)).toBeUndefined()
  await client.create(secrets, token({ expiration: '2026-01-01T01:00:00Z' }))
  expect(core.bootstrapTokens(bearer)).toEqual({
    name: 'system:bootstrap:abcdef',
    groups: ['system:bootstrappers', 'system:bootstrappers:a'],
  })
  expect(core.bootstrapTokens('abcdef.0000000000000000')).toBeUndefined()
  expect(core.bootstrapTokens('abcdef')).toBeUndefined()
  await environment.clock.advance('59m')
  expect(core.bootstrapTokens(bearer)).toBeDefined()
  await environment.clock.advance('1m')
  expect(core.bootstrapTokens(bearer)).toBeUndefined()
})

it.each([
  ['is for signing alone', token({ usages: ['signing'] })],
  ['names a group that it may not', token({ groups: ['system:masters'] })],
  ['is of another type', { ...token(), type: 'Opaque' }],
])('takes no token that %s', async (_, secret) => {
  const { core, client } = await startTestCore()
  await client.create(secrets, secret)
  expect(core.bootstrapTokens(bearer)).toBeUndefined()
  await client.delete(secrets, key)
})
