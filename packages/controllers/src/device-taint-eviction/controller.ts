import {
  type DeviceTaint,
  newestGeneration,
  type Pod,
  pods,
  type ResourceClaim,
  type ResourceSlice,
  resourceClaims,
  resourceSlices,
} from '@coracle/api'
import { type IndexFunction, keyOf, keyText } from '@coracle/client'
import { type Change, type Controller, controller, type Lookup, performPlan } from '@coracle/controller-runtime'
import { podsByResourceClaim, resourceClaimIndexName } from '../pods/by-resource-claim.ts'
import type { DeviceName } from './plan.ts'

const poolIndexName = 'device pool'

const poolKey = (driver: string, pool: string): string => `${driver}/${pool}`

/** Files claims under the pools that their devices are of. */
const claimsByPool: IndexFunction<ResourceClaim> = ({ status }) => [
  ...new Set((status?.allocation?.devices?.results ?? []).map(({ driver, pool }) => poolKey(driver, pool))),
]

const slicesByPool: IndexFunction<ResourceSlice> = ({ spec: { driver, pool } }) => [poolKey(driver, pool.name)]

const hasClaims = ({ object }: Change<Pod>): boolean => (object.spec.resourceClaims?.length ?? 0) > 0

/**
 * Takes pods from devices that are tainted so that nobody may go on using them, as far as their claims do not tolerate it. A pod
 * without claims costs a look at its spec.
 */
export function createDeviceTaintEvictionController(): Controller {
  /** UIDs of pods that will have to leave, by key. */
  const awaited = new Map<string, string>()
  return controller('device-taint-eviction-controller', { component: 'device-taint-eviction-controller' })
    .for(pods, { predicates: [hasClaims], indexes: { [resourceClaimIndexName]: podsByResourceClaim } })
    .watches(resourceClaims, podsOfClaim, { indexes: { [poolIndexName]: claimsByPool } })
    .watches(resourceSlices, podsOfPool, { indexes: { [poolIndexName]: slicesByPool } })
    .reconcile(async ({ key, namespace, object: pod }, context) => {
      if (pod === undefined) {
        awaited.delete(key)
        return undefined
      }
      const { uid = '' } = pod.metadata
      const claims = context.informer(resourceClaims)
      const slices = context.informer(resourceSlices)
      const { planDeviceEviction } = await context.clock.hold(import('./plan.ts'))
      const plan = planDeviceEviction(
        {
          pod,
          claim: (name) => claims.get(keyText(namespace, name)),
          taintsOf: (device) => taintsIn(slices.byIndex(poolIndexName, poolKey(device.driver, device.pool)), device),
          isAwaited: awaited.get(key) === uid,
        },
        context.clock.now(),
      )
      const result = await performPlan(context, pod, plan)
      if (plan.isAwaited) awaited.set(key, uid)
      else awaited.delete(key)
      return result
    })
}

/** The taints of a device, as the newest slices of its pool have it. */
function taintsIn(slices: readonly ResourceSlice[], { device }: DeviceName): readonly DeviceTaint[] {
  const newest = newestGeneration(slices)
  for (const { spec } of slices) {
    if (spec.pool.generation !== newest) continue
    const found = spec.devices?.find(({ name }) => name === device)
    if (found !== undefined) return found.taints ?? []
  }
  return []
}

function podsOfClaim(claim: ResourceClaim, lookup: Lookup): readonly string[] {
  return lookup.informer(pods).byIndex(resourceClaimIndexName, keyOf(claim)).map(keyOf)
}

function podsOfPool({ spec: { driver, pool } }: ResourceSlice, lookup: Lookup): readonly string[] {
  const claims = lookup.informer(resourceClaims).byIndex(poolIndexName, poolKey(driver, pool.name))
  return claims.flatMap((claim) => podsOfClaim(claim, lookup))
}
