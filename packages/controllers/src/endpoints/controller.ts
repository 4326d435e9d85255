import { type Endpoints, endpoints, hasReason, pods as podsResource, services } from '@coracle/api'
import { type Client, keyOf, type ObjectKey } from '@coracle/client'
import { type Change, type Controller, controller, performPlan } from '@coracle/controller-runtime'
import { isNamespaceGoing } from '../namespace/going.ts'
import { podLabelsIndex } from '../pods/by-labels.ts'
import { endpointsRestMs } from '../pods/rest.ts'
import { changesEndpoints, hasPods, podsBehind, serviceIndexes, servicesOf } from '../services/pods-behind.ts'
import { TriggerTimes } from '../services/trigger-times.ts'
import { managedByLabel, planEndpoints } from './plan.ts'

/** Keeps the Endpoints of services that select pods, for those who still read them. */
export function createEndpointsController(): Controller {
  const triggerTimes = new TriggerTimes()
  return controller('endpoint-controller', { component: 'endpoint-controller' })
    .for(services, { indexes: serviceIndexes })
    .watches(endpoints, (object) => [keyOf(object)], { predicates: [isOurs] })
    .watches(podsResource, servicesOf, { predicates: [changesEndpoints], indexes: podLabelsIndex })
    .reconcile(async ({ key, object: service, namespace = '', name }, context) => {
      const present = context.informer(endpoints).get(key)
      if (service === undefined) {
        // They go with their service, whoever has made them. Of those for which there never was one nobody looks.
        triggerTimes.forget(key)
        if (present !== undefined) await deleteIfThere(context.client, { namespace, name })
        return undefined
      }
      if (!hasPods(service)) return undefined
      const pods = podsBehind(service, context)
      const plan = planEndpoints(service, pods, present, triggerTimes.next(key, service, pods))
      try {
        return { ...(await performPlan(context, service, plan)), restMs: endpointsRestMs(pods.length), isSettled: true }
      } catch (error) {
        if (isNamespaceGoing(error)) return undefined
        throw error
      }
    })
}

/** Others may keep what they like in Endpoints that are no service's. */
const isOurs = ({ object }: Change<Endpoints>): boolean => object.metadata.labels?.[managedByLabel] !== undefined

async function deleteIfThere(client: Client, key: ObjectKey): Promise<void> {
  try {
    await client.delete(endpoints, key, { because: `there is no Service ${key.name}` })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}
