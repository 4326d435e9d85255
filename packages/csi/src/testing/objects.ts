import {
  type CsiDriver,
  csiDrivers,
  type Node,
  nodes,
  type PersistentVolume,
  type Pod,
  type PodSpec,
  type Volume,
} from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createLogger, type LogLine, virtualEnvironment } from '@coracle/environment'
import { onTestFinished } from 'vitest'
import { type NodeDrivers, startNodeDrivers } from '../node-drivers.ts'
import { temporaryDirectory } from './fake-driver.ts'

export const driverName = 'disks.example.com'

/** A pod with a volume `v` that it has by a claim. */
export const testPod = (spec: Partial<PodSpec> = {}, uid = 'pod-1'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid },
  spec: { nodeName: 'node-a', serviceAccountName: 'seller', containers: [{ name: 'c', image: 'i' }], ...spec },
})

export const claimed: Volume = { name: 'v', persistentVolumeClaim: { claimName: 'data' } }

/** A volume of the driver. */
export const testVolume = (csi: object = {}, spec: object = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'pv-1', uid: 'pv-1' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    csi: { driver: driverName, volumeHandle: 'handle-1', ...csi },
    ...spec,
  },
})

export const csiDriver = (spec: Partial<CsiDriver['spec']> = {}): CsiDriver => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: driverName },
  spec: { attachRequired: false, ...spec },
})

/** A node `node-a` whose drivers are followed, on an API of the test's own. */
export async function startNode({
  driver = csiDriver(),
  root = temporaryDirectory(),
  client = undefined as FakeClient | undefined,
  node = {} as Partial<Node>,
  signal = new AbortController().signal,
  logged = [] as LogLine[],
} = {}) {
  const environment = virtualEnvironment({ logger: createLogger((line) => logged.push(line)) })
  const api = client ?? createFakeClient(environment)
  if (client === undefined) {
    await api.create<Node>(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' }, spec: {}, ...node })
    await api.create(csiDrivers, driver)
  }
  const options = {
    client: api,
    environment,
    nodeName: 'node-a',
    rootDirectory: root,
    podsDirectory: `${root}/pods`,
    registryDirectory: `${root}/plugins_registry`,
    signal,
  }
  const drivers: NodeDrivers = await startNodeDrivers(options)
  onTestFinished(() => drivers.stop({ unmounts: false }))
  return { drivers, client: api, environment, root, node: () => api.get(nodes, { name: 'node-a' }) }
}
