import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { persistentVolumeClaims, persistentVolumes, pods, type StatefulSet, statefulSets } from '@coracle/api'
import { connectionOf, createHttpClient, parseKubeconfig } from '@coracle/client'
import { realEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const environment = realEnvironment()
const namespace = 'default'
const key = { namespace, name: 'db' }

/** Each start of its pod writes a line into its claim. */
const database = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace },
  spec: {
    serviceName: 'db',
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'main',
            image: 'sh',
            command: ['sh', '-c', 'echo "$VERSION" >>data/starts && exec sleep 1000'],
            env: [{ name: 'VERSION', value: '1' }],
            volumeMounts: [{ name: 'data', mountPath: 'data' }],
          },
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  },
} as unknown as StatefulSet

async function start(dataDir: string): Promise<Cluster> {
  const cluster = await startCluster({ dataDir, runtime: 'process' })
  onTestFinished(() => cluster.stop())
  return cluster
}

it('what a stateful set has written outlives its pods, its versions and the cluster’s restart, and goes with its claim', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'coracle-volumes-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const first = await start(dataDir)
  await first.client.create(statefulSets, database)
  const claimKey = { namespace, name: 'data-db-0' }
  await expect.poll(async () => (await first.client.get(persistentVolumeClaims, claimKey)).status?.phase).toBe('Bound')
  const { spec } = await first.client.get(persistentVolumeClaims, claimKey)
  const volume = await first.client.get(persistentVolumes, { name: spec?.volumeName ?? '' })
  const path = volume.spec?.local?.path ?? ''
  expect(path).toBe(join(dataDir, 'kubelet', 'node-0', 'volumes', spec?.volumeName ?? ''))
  const starts = () => (existsSync(join(path, 'starts')) ? readFileSync(join(path, 'starts'), 'utf8') : '')
  await expect.poll(starts).toBe('1\n')

  const connection = await connectionOf(await parseKubeconfig(first.kubeconfig ?? '', 'kubeconfig'), environment)
  const scraper = createHttpClient({ ...connection, ...environment })
  onTestFinished(() => scraper.close())
  const used = /^kubelet_volume_stats_used_bytes\{namespace="default",persistentvolumeclaim="data-db-0"\} [1-9]\d*$/m
  expect(await scraper.rawGet('/api/v1/nodes/node-0/proxy/metrics')).toMatch(used)

  await first.client.delete(pods, { namespace, name: 'db-0' })
  await expect.poll(starts).toBe('1\n1\n')

  const env = [{ name: 'VERSION', value: '2' }]
  const template = { spec: { containers: [{ name: 'main', env }] } }
  await first.client.patch(statefulSets, key, { type: 'strategic', body: { spec: { template } } })
  await expect.poll(starts).toBe('1\n1\n2\n')

  await first.stop()
  const second = await start(dataDir)
  await expect.poll(starts).toBe('1\n1\n2\n2\n')

  await second.client.delete(statefulSets, key)
  await expect.poll(() => existsSync(path)).toBe(false)
  await expect.poll(async () => (await second.client.list(persistentVolumes)).items).toEqual([])
})
