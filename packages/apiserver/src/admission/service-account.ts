import { mirrorAnnotation } from '../security/node-identity.ts'
import type { AdmissionPlugin } from './admission.ts'
import { type AdmittedPod, createsPod, withSpec } from './pods.ts'

/** Pods that name no service account run as `default`. */
export const serviceAccount: AdmissionPlugin = {
  name: 'ServiceAccount',
  mutate(attributes, object) {
    if (!createsPod(attributes)) return object
    const pod = object as AdmittedPod
    // What a node runs without the API is shown there as it is.
    if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return object
    if ((pod.spec.serviceAccountName ?? '') !== '') return object
    // `serviceAccount` is the older name of the same field; both are always there in stored pods.
    return withSpec(pod, { serviceAccountName: 'default', serviceAccount: 'default' })
  },
}
