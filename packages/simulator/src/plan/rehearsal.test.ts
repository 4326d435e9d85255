import { type Service, services } from '@coracle/api'
import { readState } from '@coracle/cluster'
import { startTestCluster } from '@coracle/cluster/testing'
import { expect, it } from 'vitest'
import { Rehearsal } from './rehearsal.ts'

const balanced = (name: string, port: number): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { type: 'LoadBalancer', ports: [{ port }] },
  }) as Service

it.each([
  ['nodes', ['10.64.0.1']],
  ['none', []],
] as const)('gives load balancers in the copy what the cluster gives: %s', async (loadBalancerAddresses, expected) => {
  await using cluster = await startTestCluster({ loadBalancerAddresses })
  await cluster.client.create(services, balanced('web', 80))
  await cluster.settle()
  const state = await readState({ client: cluster.client, resources: await cluster.discover() }, cluster.environment)
  await using rehearsal = await Rehearsal.open({ ...state, takenAtMs: cluster.environment.clock.now() })
  await rehearsal.play(() => rehearsal.client.create(services, balanced('other', 81)))
  for (const name of ['web', 'other']) {
    const { status } = await rehearsal.client.get(services, { namespace: 'default', name })
    expect((status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip)).toEqual(expected)
  }
})
