import { bootstrapTokenNamespace, bootstrapTokenType, clusterInfo, configMaps, hasReason, secrets } from '@coracle/api'
import { keyText } from '@coracle/client'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { planSignatures } from './plan.ts'

/** Keeps the signatures by which who knows a bootstrap token knows the cluster (upstream's bootstrap-signer-controller). */
export function createBootstrapSigner(): Controller {
  return controller('bootstrap-signer-controller')
    .for(configMaps, {
      fieldSelector: `metadata.namespace=${clusterInfo.namespace},metadata.name=${clusterInfo.name}`,
    })
    .watches(secrets, () => [keyText(clusterInfo.namespace, clusterInfo.name)], {
      fieldSelector: `type=${bootstrapTokenType},metadata.namespace=${bootstrapTokenNamespace}`,
    })
    .reconcile(async ({ object: info }, context) => {
      if (info === undefined) return undefined
      try {
        return await performPlan(
          context,
          info,
          planSignatures(info, context.informer(secrets).list(), context.clock.now()),
        )
      } catch (error) {
        // It has changed, or is gone: that is seen in a moment.
        if (hasReason(error, 'Conflict') || hasReason(error, 'NotFound')) return undefined
        throw error
      }
    })
}
