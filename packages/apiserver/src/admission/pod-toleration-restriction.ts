import { computeQos, type KubernetesObject, namespaces, type Pod, type Toleration } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { type AdmittedPod, withSpec, writesPod } from './pods.ts'
import { storedObject } from './stored-objects.ts'
import { allows, mergedTolerations } from './tolerations.ts'
import { unexplainedRefusal } from './unexplained-refusal.ts'

const defaultsAnnotation = 'scheduler.alpha.kubernetes.io/defaultTolerations'
const allowedAnnotation = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist'

const memoryPressure: Toleration = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
}

/**
 * Pods get the tolerations that an annotation of their namespace names, and may have no others than those that another allows. A pod
 * that has asked for something may go to nodes that are short of memory.
 */
export function podTolerationRestriction(registries: Registries): AdmissionPlugin {
  const annotated = (namespace: string, key: string): readonly Toleration[] =>
    tolerationsOf(storedObject(registries, namespaces, namespace)?.metadata.annotations?.[key] ?? '')
  const check = (namespace: string, pod: KubernetesObject | undefined): void => {
    const tolerations = (pod as Pod).spec.tolerations ?? []
    if (tolerations.length === 0 || allows(annotated(namespace, allowedAnnotation), tolerations)) return
    throw unexplainedRefusal(
      'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
    )
  }
  return {
    name: 'PodTolerationRestriction',
    mutate(attributes, object) {
      if (!writesPod(attributes)) return object
      const { namespace, operation } = attributes
      const { spec } = object as Pod
      const own = spec.tolerations ?? []
      const defaults = operation === 'CREATE' ? annotated(namespace, defaultsAnnotation) : []
      const added = computeQos(spec) === 'BestEffort' ? defaults : [...defaults, memoryPressure]
      const tolerations = mergedTolerations(own, added)
      const next = added.length === 0 ? object : withSpec(object as AdmittedPod, { tolerations })
      check(namespace, next)
      return next
    },
    validate(attributes, object) {
      if (writesPod(attributes)) check(attributes.namespace, object)
    },
  }
}

function tolerationsOf(text: string): readonly Toleration[] {
  if (text === '') return []
  try {
    const parsed: unknown = JSON.parse(text)
    if (Array.isArray(parsed)) return parsed
  } catch (error) {
    throw unexplainedRefusal(error instanceof Error ? error.message : String(error))
  }
  throw unexplainedRefusal('json: cannot unmarshal object into Go value of type []v1.Toleration')
}
