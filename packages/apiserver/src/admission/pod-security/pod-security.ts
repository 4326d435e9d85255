import { type KubernetesObject, namespaces } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../../registries.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts'
import { storedObject } from '../stored-objects.ts'

/** Groups of the resources whose objects are pods or make some, by their plural names. */
const groupOf: Readonly<Record<string, string>> = {
  pods: '',
  podtemplates: '',
  replicationcontrollers: '',
  replicasets: 'apps',
  deployments: 'apps',
  statefulsets: 'apps',
  daemonsets: 'apps',
  jobs: 'batch',
  cronjobs: 'batch',
}

/** Subresources of pods that do not change what a pod may do. */
const unrelated = new Set(['attach', 'binding', 'eviction', 'exec', 'log', 'portforward', 'proxy', 'status'])

/** As `podSecurityPrefix`, which is not loaded before a namespace has such labels. */
const prefix = 'pod-security.kubernetes.io/'

/** Holds pods to the Pod Security Standards that labels of their namespaces ask for: https://kep.k8s.io/2579. */
export function podSecurity(registries: Registries, clock: Clock): AdmissionPlugin {
  let loaded: typeof import('./judgement.ts') | undefined
  return {
    name: 'PodSecurity',
    validate(attributes, object) {
      const { operation, definition } = attributes
      if (object === undefined || (operation !== 'CREATE' && operation !== 'UPDATE')) return
      if (definition.plural === 'namespaces' && definition.group === '') {
        if (attributes.subresource !== '' || !isLabelled(object)) return
        if (loaded !== undefined) return loaded.judgeNamespace(registries, clock, attributes, object)
        return load().then((judgement) => judgement.judgeNamespace(registries, clock, attributes, object))
      }
      if (!concernsPods(attributes)) return
      const namespace = storedObject(registries, namespaces, attributes.namespace)
      if (namespace === undefined || !isLabelled(namespace)) return
      if (loaded !== undefined) return loaded.judgePods(namespace, attributes, object)
      return load().then((judgement) => judgement.judgePods(namespace, attributes, object))
    },
  }

  async function load(): Promise<typeof import('./judgement.ts')> {
    loaded = await clock.hold(import('./judgement.ts'))
    return loaded
  }
}

function concernsPods({ definition: { group, plural }, subresource }: AdmissionAttributes): boolean {
  if (groupOf[plural] !== group) return false
  return subresource === '' || (plural === 'pods' && !unrelated.has(subresource))
}

function isLabelled({ metadata }: KubernetesObject): boolean {
  for (const label in metadata.labels) if (label.startsWith(prefix)) return true
  return false
}
