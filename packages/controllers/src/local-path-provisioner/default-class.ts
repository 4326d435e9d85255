import {
  type ConfigMap,
  configMaps,
  hasReason,
  type KubernetesObject,
  namespaces,
  type Resource,
  storageClasses,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import { type Controller, controller } from '@coracle/controller-runtime'
import { localPathClass } from './provisioner.ts'

/** Says that the cluster has had its class: it is not made again where somebody has deleted it. */
const marker: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'kube-system', name: 'local-path-provisioner' },
  data: {
    'default-class': `StorageClass ${localPathClass.metadata.name} was made when the cluster first started, and is yours since: change or delete it as you like. Delete this ConfigMap to have it made again.`,
  },
}

/**
 * Makes the default storage class of a new cluster, once in its life: afterwards it belongs to its users. It may be interrupted
 * anywhere, and several processes may do it at once.
 */
export function createDefaultClassController(): Controller {
  return controller('local-path-class', { component: 'local-path-provisioner' })
    .for(namespaces, { fieldSelector: `metadata.name=${marker.metadata.namespace}` })
    .reconcile(async ({ object }, { client }) => {
      if (object !== undefined) await createClassOnce(client)
      return undefined
    })
}

async function createClassOnce(client: Client): Promise<void> {
  const { namespace = '', name = '' } = marker.metadata
  try {
    await client.get(configMaps, { namespace, name })
    return
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
  await createUnlessThere(client, storageClasses, localPathClass)
  await createUnlessThere(client, configMaps, marker)
}

async function createUnlessThere<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
): Promise<void> {
  try {
    await client.create(resource, object, { because: 'the cluster has not had its default storage class yet' })
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error
  }
}
