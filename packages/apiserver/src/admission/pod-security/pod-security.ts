import { type KubernetesObject, namespaces } from '@coracle/api'
import type { Clock, MetricsRegistry } from '@coracle/environment'
import type { Registries } from '../../registries.ts'
import type { AdmissionPlugin, AdmissionTarget } from '../admission.ts'
import { storedObject } from '../stored-objects.ts'
import { PodSecurityMetrics } from './pod-security-metrics.ts'

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
export function podSecurity(registries: Registries, clock: Clock, metrics?: MetricsRegistry): AdmissionPlugin {
  const tally = metrics === undefined ? undefined : new PodSecurityMetrics(metrics)
  let loaded: typeof import('./judgement.ts') | undefined
  return {
    name: 'PodSecurity',
    concerns: (target) => isWrite(target) && (concernsNamespace(target) || concernsPods(target)),
    validate(attributes, object) {
      if (object === undefined) return
      if (concernsNamespace(attributes)) {
        if (!isLabelled(object)) return
        if (loaded !== undefined) return loaded.judgeNamespace(registries, clock, attributes, object)
        return load().then((judgement) => judgement.judgeNamespace(registries, clock, attributes, object))
      }
      const namespace = storedObject(registries, namespaces, attributes.namespace)
      if (namespace === undefined) return tally?.failed(true, attributes)
      if (!isLabelled(namespace)) {
        if (attributes.definition.plural === 'pods') tally?.allowedUnasked(attributes)
        return
      }
      if (loaded !== undefined) return loaded.judgePods(namespace, attributes, object, tally)
      return load().then((judgement) => judgement.judgePods(namespace, attributes, object, tally))
    },
  }

  async function load(): Promise<typeof import('./judgement.ts')> {
    loaded = await clock.hold(import('./judgement.ts'))
    return loaded
  }
}

const isWrite = ({ operation }: AdmissionTarget): boolean => operation === 'CREATE' || operation === 'UPDATE'

const concernsNamespace = ({ definition: { group, plural }, subresource }: AdmissionTarget): boolean =>
  plural === 'namespaces' && group === '' && subresource === ''

function concernsPods({ definition: { group, plural }, subresource }: AdmissionTarget): boolean {
  if (groupOf[plural] !== group) return false
  return subresource === '' || (plural === 'pods' && !unrelated.has(subresource))
}

function isLabelled({ metadata }: KubernetesObject): boolean {
  for (const label in metadata.labels) if (label.startsWith(prefix)) return true
  return false
}
