import { hasReason, namespaces, type ServiceAccount, serviceAccounts } from '@coracle/api'
import { keyText } from '@coracle/client'
import { type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { defaultServiceAccountName, planServiceAccount } from './plan.ts'

/** Keeps a service account `default` in every namespace. */
export function createServiceAccountController(): Controller {
  return controller('service-account-controller', { component: 'service-account-controller' })
    .for(namespaces)
    .watches(serviceAccounts, namespaceOfDefault, { predicates: [({ type }) => type === 'delete'] })
    .reconcile(async ({ object: namespace, name }, context) => {
      if (namespace === undefined) return undefined
      const account = context.informer(serviceAccounts).get(keyText(name, defaultServiceAccountName))
      try {
        return await performPlan(context, namespace, planServiceAccount(namespace, account))
      } catch (error) {
        // Somebody else has made it.
        if (hasReason(error, 'AlreadyExists')) return undefined
        throw error
      }
    })
}

function namespaceOfDefault({ metadata: { namespace, name } }: ServiceAccount): readonly string[] {
  return name === defaultServiceAccountName && namespace !== undefined ? [namespace] : []
}
