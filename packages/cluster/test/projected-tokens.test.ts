import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Pod, pods, serviceAccounts, type TokenReview, tokenReviews } from '@coracle/api'
import { expect, it, onTestFinished } from 'vitest'
import { startCluster } from '../src/index.ts'

it('a process finds a token of its account in a file, which its node has asked for', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'coracle-tokens-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const { client, stop } = await startCluster({ dataDir, runtime: 'process', listen: false })
  onTestFinished(() => stop())

  const namespace = 'default'
  await client.create(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace, name: 'robot' },
  })
  const sources = [
    { serviceAccountToken: { path: 'token', audience: 'vault' } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
  ]
  const created = await client.create<Pod>(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: 'worker' },
    spec: {
      restartPolicy: 'Never',
      serviceAccountName: 'robot',
      volumes: [{ name: 'access', projected: { sources } }],
      containers: [
        {
          name: 'main',
          image: 'example/worker:1',
          command: ['sh', '-c', 'test -s access/token && test "$(cat access/namespace)" = default'],
          volumeMounts: [{ name: 'access', mountPath: 'access' }],
        },
      ],
    },
  } as unknown as Pod)
  const key = { namespace, name: 'worker' }
  await expect.poll(async () => (await client.get(pods, key)).status?.phase).toBe('Succeeded')

  const file = join(dataDir, 'kubelet', 'node-0', 'pods', created.metadata.uid ?? '', 'access', 'token')
  const { status } = await client.create<TokenReview>(tokenReviews, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: {},
    spec: { token: readFileSync(file, 'utf8'), audiences: ['vault'] },
  })
  expect(status).toMatchObject({
    authenticated: true,
    audiences: ['vault'],
    user: {
      username: 'system:serviceaccount:default:robot',
      extra: {
        'authentication.kubernetes.io/pod-name': ['worker'],
        'authentication.kubernetes.io/node-name': ['node-0'],
      },
    },
  })
})
