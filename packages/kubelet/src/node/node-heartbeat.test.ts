import { leases, parseTime } from '@coracle/api'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { simulatedFacts } from './node-facts.ts'
import { heartbeatMs, NodeHeartbeat } from './node-heartbeat.ts'

it('renews the lease of each node of a group in ten seconds, and wakes once a second for all of them', async () => {
  const environment = virtualEnvironment()
  const { clock } = environment
  const client = createFakeClient(environment)
  const nodes = Array.from({ length: 95 }, (_, index) => {
    const name = `node-${index}`
    return { name, address: '10.0.0.1', facts: simulatedFacts(name), runtimeVersion: 'simulated://1', labels: {} }
  })
  const heartbeat = new NodeHeartbeat(client, environment, nodes)
  await heartbeat.start()
  await clock.settle()
  const startedMs = clock.now()
  await clock.advance(heartbeatMs)
  const { items } = await client.list(leases, { namespace: 'kube-node-lease' })
  const renewedMs = items.map(({ spec }) => parseTime(spec?.renewTime ?? '') - startedMs)
  expect(renewedMs).toHaveLength(nodes.length)
  expect([...new Set(renewedMs)].sort((a, b) => a - b)).toEqual(
    Array.from({ length: 10 }, (_, second) => (second + 1) * 1000),
  )
  await heartbeat.close()
})
