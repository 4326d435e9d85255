import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pods } from '@coracle/api'
import { expect, it, onTestFinished } from 'vitest'
import { startCluster } from '../src/index.ts'

it('a cluster of processes runs a pod that it is given in a file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'static-pods-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const manifestPath = join(directory, 'manifests')
  mkdirSync(manifestPath)
  const spec = { containers: [{ name: 'main', image: 'x', command: ['sleep', '600'] }] }
  const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pinned' }, spec }
  writeFileSync(join(manifestPath, 'pinned.json'), JSON.stringify(manifest))
  const dataDir = join(directory, 'data')
  await using cluster = await startCluster({
    ...{ runtime: 'process', store: 'memory', listen: false },
    ...{ dataDir, manifestPath },
  })
  const key = { namespace: 'default', name: 'pinned-node-0' }
  const phase = async () => (await cluster.client.get(pods, key)).status?.phase
  await expect.poll(() => phase().catch(() => undefined)).toBe('Running')
})
