import { type Service, services } from '@coracle/api'
import { expect, it } from 'vitest'
import { refusal, startTestCore } from '../testing/test-core.ts'

const service = (externalIPs: readonly string[], changes: object = {}): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { ports: [{ port: 80 }], externalIPs, ...changes },
  }) as Service

async function startWith(externalIPs: readonly string[]) {
  const { client, store } = await startTestCore()
  await client.create(services, service(externalIPs))
  const { client: later } = await startTestCore({ store, enabledAdmission: ['DenyServiceExternalIPs'] })
  return (next: readonly string[]) =>
    later.patch(
      services,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: { spec: { externalIPs: next } } },
    )
}

it('a new service has no external addresses', async () => {
  const { client } = await startTestCore({ enabledAdmission: ['DenyServiceExternalIPs'] })
  expect(await refusal(client.create(services, service(['1.2.3.4'])))).toEqual({
    code: 403,
    reason: 'Forbidden',
    message: 'services "web" is forbidden: Use of external IPs is denied by admission control',
  })
  await client.create(services, service([]))
})

it.each([
  [['1.2.3.4'], ['1.2.3.4']],
  [['1.2.3.4', '4.3.2.1'], ['4.3.2.1']],
  [
    ['1.2.3.4', '4.3.2.1'],
    ['4.3.2.1', '1.2.3.4'],
  ],
  [['1.2.3.4'], []],
])('one that has %j may have %j', async (before, after) => {
  const change = await startWith(before)
  expect((await change(after)).spec.externalIPs ?? []).toEqual(after)
})

it.each([
  [[], ['1.2.3.4']],
  [['1.2.3.4'], ['4.3.2.1']],
  [['1.2.3.4'], ['1.2.3.4', '4.3.2.1']],
])('one that has %j may not have %j', async (before, after) => {
  const change = await startWith(before)
  expect((await refusal(change(after))).message).toContain('Use of external IPs is denied')
})
