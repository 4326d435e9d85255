import type { KubernetesObject } from '@coracle/api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ObjectServer } from './support/object-server.ts'

// What `rollout history` tells of objects with and without kept revisions, by kubectl and by coracle.

const metadata = (name: string, more: object = {}) => ({
  name,
  namespace: 'full',
  uid: `uid-${name}`,
  creationTimestamp: '2020-01-01T00:00:00Z',
  labels: { foo: 'bar' },
  ...more,
})
const template = (image: string) => ({
  metadata: { labels: { foo: 'bar' } },
  spec: { containers: [{ name: 'test', image, resources: {} }] },
})
const selector = { matchLabels: { foo: 'bar' } }
const ownedBy = (kind: string, name: string, annotations: object) => ({
  annotations,
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true }],
})
const apps = (kind: string, fields: object) => ({ apiVersion: 'apps/v1', kind, ...fields })
const cause = 'kubernetes.io/change-cause'

const objects = [
  ...['moons', 'none'].map((name) =>
    apps('Deployment', { metadata: metadata(name), spec: { replicas: 1, selector, template: template('foo:1') } }),
  ),
  ...[1, 2, 3, 4].map((revision) => {
    const causes = { 3: { [cause]: 'foo change cause' }, 4: { [cause]: 'bar change cause' } }[revision] ?? {}
    const annotations = { 'deployment.kubernetes.io/revision': `${revision}`, ...causes }
    return apps('ReplicaSet', {
      metadata: metadata(`moons-${revision}`, ownedBy('Deployment', 'moons', annotations)),
      spec: { replicas: 1, selector, template: template(`foo:${revision}`) },
    })
  }),
  ...['StatefulSet', 'DaemonSet'].flatMap((kind) => [
    apps(kind, {
      metadata: metadata(`of-${kind}`.toLowerCase()),
      spec: { selector, template: template('nginx'), ...(kind === 'StatefulSet' && { replicas: 1, serviceName: 'x' }) },
    }),
    ...[1, 2].map((revision) => {
      const name = `of-${kind}`.toLowerCase()
      const annotations = revision === 2 ? { [cause]: 'why' } : {}
      return apps('ControllerRevision', {
        metadata: metadata(`${name}-${revision}`, ownedBy(kind, name, annotations)),
        data: { spec: { template: { $patch: 'replace', ...template(`nginx:${revision}`) } } },
        revision,
      })
    }),
  ]),
] as unknown as readonly KubernetesObject[]

let server: ObjectServer
beforeAll(async () => {
  server = await ObjectServer.of(objects)
})
afterAll(() => server[Symbol.asyncDispose]())

const named = ['deployment/moons', 'deployment/none', 'sts/of-statefulset', 'ds/of-daemonset']
const ways = ['', '--revision=0', '--revision=1', '--revision=2', '--revision=3 -o name', '--revision=9', '-o yaml']

it.each([
  ...named.flatMap((name) => ways.map((way) => `${name} ${way}`.trim())),
  'deployment/moons --revision=3',
  'deployment/moons --revision=4 -o json',
  'deployment moons none --revision=3',
  'deployment moons none',
  'deployments',
  'deploy,sts,ds -l foo=bar',
  'rs/moons-1',
  'deployment/moons --revision=-1',
])('is told as by kubectl: rollout history %s', async (line) => {
  const args = ['rollout', 'history', ...line.split(' ')]
  const theirs = await server.kubectl(args)
  const stderr = theirs.stderr.replace(/^See 'kubectl .*' for help and examples\n/gm, '')
  expect(await server.coracle(args)).toEqual({ ...theirs, stderr })
})
