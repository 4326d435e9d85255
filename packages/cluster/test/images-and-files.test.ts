import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConfigMap, configMaps, type Pod, pods } from '@coracle/api'
import { expect, it, onTestFinished } from 'vitest'
import { parseHostImages, startCluster } from '../src/index.ts'

it('a pod that leaves its command to its image runs the program that stands for it, on the files of its volumes', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'coracle-files-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const images = parseHostImages({ checker: { command: ['sh', '-c', 'grep -x "$0" config/theme'], args: ['light'] } })
  const { client, stop } = await startCluster({ dataDir, runtime: 'process', listen: false, images })
  onTestFinished(() => stop())

  const key = { namespace: 'default', name: 'settings' }
  await client.create<ConfigMap>(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: key,
    data: { theme: 'dark' },
  })
  const volumeMounts = [{ name: 'config', mountPath: 'config' }]
  await client.create<Pod>(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'check' },
    spec: {
      restartPolicy: 'Never',
      volumes: [{ name: 'config', configMap: { name: 'settings' } }],
      containers: [
        { name: 'as-the-image-says', image: 'checker:1.0', volumeMounts },
        { name: 'with-arguments', image: 'checker:1.0', args: ['dark'], volumeMounts },
      ],
    },
  })
  const podKey = { namespace: 'default', name: 'check' }
  await expect.poll(async () => (await client.get(pods, podKey)).status?.phase).toBe('Failed')
  const { metadata, status } = await client.get(pods, podKey)
  const codes = status?.containerStatuses?.map(({ name, state }) => [name, state?.terminated?.exitCode])
  expect(Object.fromEntries(codes ?? [])).toEqual({ 'as-the-image-says': 1, 'with-arguments': 0 })

  const files = join(dataDir, 'kubelet', 'node-0', 'pods', metadata.uid ?? '', 'config')
  expect(readdirSync(files)).toContain('theme')
  await client.delete(pods, podKey)
  await expect.poll(() => existsSync(files)).toBe(false)
})
