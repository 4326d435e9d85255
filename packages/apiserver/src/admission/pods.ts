import type { KubernetesObject } from '@coracle/api'
import type { AdmissionTarget } from './admission.ts'

/** What the built-in plugins look at in a pod. */
export type AdmittedPod = KubernetesObject & {
  readonly spec: {
    readonly serviceAccountName?: string
    readonly imagePullSecrets?: readonly unknown[]
    readonly priorityClassName?: string
    readonly priority?: number
    readonly preemptionPolicy?: string
    readonly tolerations?: readonly Toleration[]
  }
}

export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

/** Whether a request creates a pod, not one of its subresources. */
export function createsPod({ operation, definition, subresource }: AdmissionTarget): boolean {
  return operation === 'CREATE' && subresource === '' && definition.plural === 'pods' && definition.group === ''
}

/** Whether a pod is created or changed, other than through a subresource. */
export function writesPod({ operation, definition, subresource }: AdmissionTarget): boolean {
  const isWrite = operation === 'CREATE' || operation === 'UPDATE'
  return isWrite && subresource === '' && definition.plural === 'pods' && definition.group === ''
}

/** The pod with these fields of its spec changed. */
export function withSpec(pod: AdmittedPod, changes: Readonly<Record<string, unknown>>): KubernetesObject {
  return { ...pod, spec: { ...pod.spec, ...changes } } as KubernetesObject
}
