import { type Deployment, deployments, type PersistentVolumeClaim, type StatefulSet, statefulSets } from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { startCluster } from '../src/index.ts'

const namespace = 'default'
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example/web:1' }] } }

it('workloads run where every plugin for more safety is enabled', async () => {
  const environment = virtualEnvironment({ seed: 1 })
  const enabledAdmission = [
    ...['AlwaysPullImages', 'DenyServiceExternalIPs', 'ExtendedResourceToleration', 'LimitPodHardAntiAffinityTopology'],
    ...['NamespaceExists', 'OwnerReferencesPermissionEnforcement', 'PodNodeSelector', 'PodTolerationRestriction'],
  ]
  const cluster = await startCluster({ environment, nodes: 2, enabledAdmission })
  onTestFinished(() => cluster.stop())
  await cluster.client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  } as Deployment)
  await cluster.client.create(statefulSets, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace },
    spec: {
      replicas: 1,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: { ...template, metadata: { labels: { app: 'db' } } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        } as PersistentVolumeClaim,
      ],
    },
  } as StatefulSet)
  await environment.clock.advance('60s')
  const { status } = await cluster.client.get(deployments, { namespace, name: 'web' })
  expect(status?.availableReplicas).toBe(2)
  expect((await cluster.client.get(statefulSets, { namespace, name: 'db' })).status?.availableReplicas).toBe(1)
})
