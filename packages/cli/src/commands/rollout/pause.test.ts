import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deployments } from '@coracle/api'
import { startCluster } from '@coracle/cluster'
import { realEnvironment } from '@coracle/environment'
import { expect, it } from 'vitest'
import { runCommand } from '../../testing/recording-host.ts'

it('restarts once in a second, and says so', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'restart-'))
  const cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', nodes: 0 })
  try {
    const labels = { app: 'web' }
    await cluster.client.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example/web' }] } },
      },
    })
    const real = realEnvironment()
    const now = real.clock.now()
    const clock = Object.assign(Object.create(real.clock) as typeof real.clock, { now: () => now })
    const restart = () =>
      runCommand(['rollout', 'restart', 'deployment/web'], {
        workingDirectory: directory,
        environment: { ...real, clock },
      })
    expect(await restart()).toEqual({ code: 0, stdout: 'deployment.apps/web restarted\n', stderr: '' })
    expect(await restart()).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'error: failed to create patch for web: if restart has already been triggered within the past second, please wait before attempting to trigger another\n',
    })
  } finally {
    await cluster.stop()
    await rm(directory, { recursive: true, force: true })
  }
})
