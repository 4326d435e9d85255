import { deepEqual, type Pod, pods, type RuntimeClass, runtimeClasses } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { creates, storedObject } from './stored-objects.ts'
import { mergedTolerations } from './tolerations.ts'

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

/** Pods of a runtime class get its overhead, and go where it is: https://kep.k8s.io/688. */
export function runtimeClass(registries: Registries): AdmissionPlugin {
  const classOf = (attributes: AdmissionAttributes, pod: Pod): RuntimeClass | undefined => {
    const name = pod.spec.runtimeClassName
    if (name === undefined) return undefined
    const found = storedObject(registries, runtimeClasses, name)
    if (found !== undefined) return found
    throw forbiddenByAdmission(attributes, pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`)
  }
  return {
    name: 'RuntimeClass',
    concerns: (target) => creates(target, pods),
    mutate(attributes, object) {
      const pod = object as Pod
      const found = classOf(attributes, pod)
      if (found === undefined) return object
      return withScheduling(attributes, withOverhead(attributes, pod, found), found)
    },
    validate(attributes, object) {
      const pod = object as Pod
      const overhead = classOf(attributes, pod)?.overhead
      if (overhead !== undefined && !deepEqual(overhead.podFixed, pod.spec.overhead)) {
        throw forbiddenByAdmission(attributes, object, mismatch)
      }
      if (overhead === undefined && pod.spec.overhead !== undefined) {
        const why = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
        throw forbiddenByAdmission(attributes, object, why)
      }
    },
  }
}

function withOverhead(attributes: AdmissionAttributes, pod: Pod, { overhead }: RuntimeClass): Pod {
  if (overhead === undefined) return pod
  if (pod.spec.overhead !== undefined && !deepEqual(overhead.podFixed, pod.spec.overhead)) {
    throw forbiddenByAdmission(attributes, pod, mismatch)
  }
  return { ...pod, spec: { ...pod.spec, overhead: overhead.podFixed } }
}

/** The nodes that have the runtime: the pod's own node selector may not lead elsewhere. */
function withScheduling(attributes: AdmissionAttributes, pod: Pod, { scheduling }: RuntimeClass): Pod {
  if (scheduling === undefined) return pod
  const { nodeSelector, tolerations = [] } = pod.spec
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    const own = nodeSelector?.[key]
    if (own === undefined || own === value) continue
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`
    throw forbiddenByAdmission(attributes, pod, why)
  }
  return {
    ...pod,
    spec: {
      ...pod.spec,
      ...(scheduling.nodeSelector === undefined
        ? {}
        : { nodeSelector: { ...nodeSelector, ...scheduling.nodeSelector } }),
      ...(scheduling.tolerations === undefined
        ? {}
        : { tolerations: mergedTolerations(tolerations, scheduling.tolerations) }),
    },
  }
}
