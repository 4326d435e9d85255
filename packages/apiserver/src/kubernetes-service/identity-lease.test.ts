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
})
