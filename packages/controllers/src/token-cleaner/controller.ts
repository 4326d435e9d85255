import { bootstrapTokenNamespace, bootstrapTokenType, secrets } from '@coracle/api'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { planTokenEnd } from './plan.ts'

/** Deletes bootstrap tokens that are over (upstream's token-cleaner-controller). */
export function createTokenCleaner(): Controller {
  return controller('token-cleaner-controller')
    .for(secrets, { fieldSelector: `type=${bootstrapTokenType},metadata.namespace=${bootstrapTokenNamespace}` })
    .reconcile(async ({ object: secret }, context) => {
      if (secret === undefined) return undefined
      return performPlan(context, secret, planTokenEnd(secret, context.clock.now()))
    })
}
