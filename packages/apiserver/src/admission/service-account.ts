import { type KubernetesObject, type ServiceAccount, serviceAccounts } from '@coracle/api'
import type { Registries } from '../registries.ts'
import { mirrorAnnotation } from '../security/node-identity.ts'
import type { AdmissionPlugin } from './admission.ts'
import { type AdmittedPod, createsPod, withSpec } from './pods.ts'
import { storedObject } from './stored-objects.ts'

/** Pods that name no service account run as `default`; those that name no secrets to pull images with have those of their account. */
export function serviceAccount(registries: Registries): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    mutate(attributes, object) {
      if (!createsPod(attributes)) return object
      const pod = object as AdmittedPod
      // What a node runs without the API is shown there as it is.
      if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return object
      const name = pod.spec.serviceAccountName || 'default'
      const account = storedObject<ServiceAccount>(registries, serviceAccounts, name, attributes.namespace)
      return withPullSecrets(withAccount(pod, name), account)
    },
  }
}

function withAccount(pod: AdmittedPod, name: string): AdmittedPod {
  if (pod.spec.serviceAccountName === name) return pod
  // `serviceAccount` is the older name of the same field; both are always there in stored pods.
  return withSpec(pod, { serviceAccountName: name, serviceAccount: name }) as AdmittedPod
}

function withPullSecrets(pod: AdmittedPod, account: ServiceAccount | undefined): KubernetesObject {
  const { imagePullSecrets: own = [] } = pod.spec
  const { imagePullSecrets = [] } = account ?? {}
  return own.length > 0 || imagePullSecrets.length === 0 ? pod : withSpec(pod, { imagePullSecrets })
}
