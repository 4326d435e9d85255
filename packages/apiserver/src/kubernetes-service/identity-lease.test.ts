import { formatMicroTime, type Lease, leases } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { startTestCore, type TestCore } from '../testing/test-core.ts'
import {
  identityDurationSeconds,
  identityLeaseName,
  identityRenewIntervalMs,
  keepIdentityLease,
} from './identity-lease.ts'

const here = { hostname: 'web-1', port: 6443 }
const key = { namespace: 'kube-system', name: identityLeaseName(here) }

const keep = ({ core, client, environment }: TestCore, identity = here) =>
  keepIdentityLease({ registries: core.registries, client, environment }, identity)

const names = async ({ client, environment }: TestCore) => {
  await environment.clock.settle()
  const { items } = await client.list(leases, { namespace: 'kube-system' })
  return items.map(({ metadata }) => metadata.name).sort()
}

describe('the lease of a server', () => {
  it('says that it is there, and is renewed as long as it is', async () => {
    const core = await startTestCore()
    const stop = keep(core)
    await core.environment.clock.settle()
    const first = await core.client.get(leases, key)
    expect(first.metadata.labels).toEqual({
      'apiserver.kubernetes.io/identity': 'kube-apiserver',
      'kubernetes.io/hostname': 'web-1',
    })
    expect(first.spec).toMatchObject({ leaseDurationSeconds: 3600 })
    expect(first.spec?.holderIdentity).toMatch(new RegExp(`^${key.name}_[0-9a-f-]{36}$`))
    const renewedMs = core.environment.clock.now() + identityRenewIntervalMs
    await core.environment.clock.advance(`${identityRenewIntervalMs}ms`)
    expect((await core.client.get(leases, key)).spec?.renewTime).toBe(formatMicroTime(renewedMs))
    stop()
    await core.environment.clock.advance('1m')
    expect((await core.client.get(leases, key)).spec?.renewTime).toBe(formatMicroTime(renewedMs))
  })

  it('comes back when it was deleted, and is the same after a restart', async () => {
    const core = await startTestCore()
    keep(core)()
    keep(core)
    expect(await names(core)).toEqual([key.name])
    await core.client.delete(leases, key)
    await core.environment.clock.advance(`${identityRenewIntervalMs}ms`)
    expect(await names(core)).toEqual([key.name])
  })

  it('is one for each of several servers of a machine', () => {
    expect(identityLeaseName(here)).toMatch(/^apiserver-[0-9a-f]{26}$/)
    expect(identityLeaseName({ ...here, port: 7443 })).not.toBe(key.name)
  })

  it('goes an hour after its server has gone, and no other lease does', async () => {
    const core = await startTestCore()
    const gone = keep(core, { hostname: 'web-2', port: 6443 })
    await core.client.create<Lease>(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-system', name: 'lock' },
    })
    await core.environment.clock.advance('1m')
    gone()
    keep(core)
    const all = [key.name, identityLeaseName({ hostname: 'web-2', port: 6443 }), 'lock'].sort()
    expect(await names(core)).toEqual(all)
    await core.environment.clock.advance(`${identityDurationSeconds - 120}s`)
    expect(await names(core)).toEqual(all)
    await core.environment.clock.advance('2h')
    expect(await names(core)).toEqual([key.name, 'lock'].sort())
  })

  it('goes at once where it says no time, if its label is that of servers, and it is where they are', async () => {
    const core = await startTestCore()
    const { clock } = core.environment
    const label = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }
    const create = (
      name: string,
      lease: { readonly labels?: object; readonly namespace?: string; readonly spec?: object },
    ) =>
      core.client.create<Lease>(leases, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace: lease.namespace ?? 'kube-system', name, labels: lease.labels ?? label },
        spec: lease.spec ?? {},
      } as Lease)
    const longAgo = { renewTime: formatMicroTime(clock.now() - 60_000) }
    await create('no-times', {})
    await create('no-duration', { spec: longAgo })
    await create('no-renewal', { spec: { leaseDurationSeconds: 3600 } })
    await create('over', { spec: { ...longAgo, leaseDurationSeconds: 59 } })
    await create('not-over', { spec: { ...longAgo, leaseDurationSeconds: 61 } })
    await create('another-kind-of-server', { labels: { 'apiserver.kubernetes.io/identity': 'other' } })
    await create('no-server', { labels: {} })
    await create('elsewhere', { namespace: 'default' })
    keep(core)
    expect(await names(core)).toEqual(['another-kind-of-server', key.name, 'no-server', 'not-over'].sort())
    expect(await core.client.get(leases, { namespace: 'default', name: 'elsewhere' })).toBeDefined()
  })
})
