import { type ConfigMap, configMaps, hasReason, namespaces } from '@coracle/api'
import { keyText } from '@coracle/client'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { isNamespaceGoing } from '../namespace/going.ts'
import { planRootCa, rootCaConfigMapName } from './plan.ts'

export interface RootCaPublisherOptions {
  /** The certificate authority of the API server, as PEM; without one there is nothing to publish. */
  readonly rootCertificate?: string | undefined
}

/** Keeps the certificate authority of the API server in every namespace, for pods that call it. */
export function createRootCaPublisher({ rootCertificate }: RootCaPublisherOptions): Controller {
  return controller('root-ca-cert-publisher', { component: 'root-ca-cert-publisher' })
    .for(namespaces)
    .watches(configMaps, namespaceOfRootCa, { fieldSelector: `metadata.name=${rootCaConfigMapName}` })
    .reconcile(async ({ object: namespace, name }, context) => {
      if (namespace === undefined || rootCertificate === undefined) return undefined
      const published = context.informer(configMaps).get(keyText(name, rootCaConfigMapName))
      try {
        return await performPlan(context, namespace, planRootCa(namespace, published, rootCertificate))
      } catch (error) {
        // Somebody else has made it, and the namespace is looked at again when that is seen; or the namespace is going.
        if (hasReason(error, 'AlreadyExists') || isNamespaceGoing(error)) return undefined
        throw error
      }
    })
}

function namespaceOfRootCa({ metadata: { namespace, name } }: ConfigMap): readonly string[] {
  return name === rootCaConfigMapName && namespace !== undefined ? [namespace] : []
}
