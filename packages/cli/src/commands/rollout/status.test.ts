import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deployments, type StatefulSet } from '@coracle/api'
import { startCluster } from '@coracle/cluster'
import { expect, it } from 'vitest'
import { runCommand } from '../../testing/recording-host.ts'
import { statefulSetState } from './status.ts'

it('says once what stays so, whatever else of the object changes meanwhile', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rollout-'))
  const cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', nodes: 0 })
  try {
    const labels = { app: 'web' }
    await cluster.client.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example/web' }] } },
      },
    })
    const key = { namespace: 'default', name: 'web' }
    await expect
      .poll(async () => (await cluster.client.get(deployments, key)).status)
      .toMatchObject({ observedGeneration: 1, updatedReplicas: 1 })
    const patch = (body: object) => cluster.client.patch(deployments, key, { type: 'merge', body })
    // There is no node: the rollout is over when no pods are wanted any more.
    const changes = async () => {
      for (const change of ['1', '2', '3']) await patch({ metadata: { labels: { change } } })
      await patch({ spec: { replicas: 0 } })
    }
    let changed: Promise<void> | undefined
    const { code, stdout, stderr } = await runCommand(['rollout', 'status', 'deployment', 'web'], {
      workingDirectory: directory,
      onOutput: () => {
        changed ??= changes()
      },
    })
    await changed
    const lines = stdout.trimEnd().split('\n')
    expect([code, stderr]).toEqual([0, ''])
    expect(lines[0]).toBe('Waiting for deployment "web" rollout to finish: 0 of 1 updated replicas are available...')
    expect(lines.at(-1)).toBe('deployment "web" successfully rolled out')
    expect(lines.filter((line, at) => line === lines[at - 1])).toEqual([])
  } finally {
    await cluster.stop()
    await rm(directory, { recursive: true, force: true })
  }
})

it.each([
  [{ partition: 2 }, 1, 'partitioned roll out complete: 1 new pods have been updated...', true],
  [{ partition: 2 }, 0, 'Waiting for partitioned roll out to finish: 0 out of 1 new pods have been updated...', false],
  [{}, 0, 'partitioned roll out complete: 0 new pods have been updated...', true],
  [undefined, 3, 'waiting for statefulset rolling update to complete 3 pods at revision new...', false],
])('tells how far a StatefulSet is that is updated by %j', (rollingUpdate, updatedReplicas, message, isDone) => {
  const set = {
    metadata: { name: 'db', generation: 1 },
    spec: { replicas: 3, updateStrategy: { type: 'RollingUpdate', rollingUpdate } },
    status: { observedGeneration: 1, readyReplicas: 3, updatedReplicas, currentRevision: 'old', updateRevision: 'new' },
  } as unknown as StatefulSet
  expect(statefulSetState(set)).toEqual({ message, isDone })
})
