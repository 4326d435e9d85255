import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deployments } from '@coracle/api'
import { startCluster } from '@coracle/cluster'
import { expect, it } from 'vitest'
import { runCommand } from '../../testing/recording-host.ts'

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
    let changes = 0
    const change = () => {
      changes++
      const patch = { type: 'merge', body: { metadata: { labels: { change: String(changes) } } } } as const
      return cluster.client.patch(deployments, { namespace: 'default', name: 'web' }, patch)
    }
    const status = runCommand(['rollout', 'status', 'deployment', 'web', '--timeout=1s'], {
      workingDirectory: directory,
      onOutput: () => void change().then(change).then(change),
    })
    const { code, stdout, stderr } = await status
    const lines = stdout.trimEnd().split('\n')
    expect([code, stderr]).toEqual([1, 'error: timed out waiting for the condition\n'])
    expect(lines.at(-1)).toBe(
      'Waiting for deployment "web" rollout to finish: 0 of 1 updated replicas are available...',
    )
    expect(lines.filter((line, at) => line === lines[at - 1])).toEqual([])
    expect(changes).toBeGreaterThan(2)
  } finally {
    await cluster.stop()
    await rm(directory, { recursive: true, force: true })
  }
})
