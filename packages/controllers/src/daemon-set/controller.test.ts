import { type DaemonSet, daemonSets, type Node, nodes, type Pod, pods } from '@coracle/api'
import { expect, it } from 'vitest'
import { atWorkByClock } from '../testing/put-back.ts'
import { createDaemonSetController } from './controller.ts'

const labels = { app: 'agent' }
const agents = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'default', uid: 'ds' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'agent' }] } },
  },
} as unknown as DaemonSet

it('leaves a failed pod alone no longer where the clock is put back meanwhile', async () => {
  const { clock, client, putBack } = await atWorkByClock(createDaemonSetController())
  await client.create<Node>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } })
  await client.create(daemonSets, agents)
  await clock.settle()
  const fail = async () => {
    const [pod] = client.stored<Pod>(pods)
    if (pod === undefined) throw new Error('the node has no pod')
    await client.update<Pod>(pods, { ...pod, status: { phase: 'Failed' } }, { subresource: 'status' })
    await clock.settle()
    return pod.metadata.uid
  }
  const uids = () => client.stored(pods).map(({ metadata }) => metadata.uid)
  const first = await fail()
  expect(uids()).not.toContain(first)
  putBack()
  const second = await fail()
  expect(uids()).toEqual([second])
  await clock.advance('1s')
  expect(uids()).not.toContain(second)
})
