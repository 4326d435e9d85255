import { claimNamesOfPod, deepEqual, type Pod, type ResourceClaim } from '@coracle/api'
import type { ClusterEvent } from '../cluster-event.ts'
import type { DeviceBinder } from '../devices/device-binder.ts'
import { type DeviceCache, noDevices } from '../devices/device-cache.ts'
import { isAvailableOn, podDevices } from '../devices/pod-devices.ts'
import { havePreferences, preferenceScore } from '../devices/way-ranks.ts'
import { AttemptError, type ClusterPlugin, normalizeToMax, type Refusal } from './plugin.ts'

/** No pod's going helps: claims keep their devices until they are taken back. */
const refusal = (reason: string): Refusal => ({ reasons: [reason], isHelpedByEviction: false })

const doNothing = (): void => {}

/**
 * Pods come where the devices of their claims are, or can be had: https://kep.k8s.io/4381. A pod without claims costs a look at one of its
 * fields.
 */
export function dynamicResources(devices: DeviceCache, binder: DeviceBinder): ClusterPlugin {
  /** Claims that stood in the way of a pod in its last attempt: their devices cannot be used on some node, or do not get ready. */
  const unavailable = new WeakMap<Pod, Set<ResourceClaim>>()
  /** How well nodes meet what the claims of a pod prefer, by their names; of pods whose claims prefer something. */
  const preferences = new WeakMap<Pod, Map<string, number>>()
  return {
    name: 'DynamicResources',
    scope: 'cluster',
    weight: 1,
    // Claims are of one pod each, mostly: pods with claims are not alike.
    signature: (pod) =>
      pod.spec.resourceClaims === undefined ? undefined : [pod.metadata.namespace, claimNamesOfPod(pod)],
    filter(pod) {
      const found = podDevices(pod, devices)
      if (found === undefined) return undefined
      const rejected = (reason: string) => ({
        rejection: refusal(reason),
        refuse: () => undefined,
        add: doNothing,
        remove: doNothing,
      })
      if (typeof found === 'string') return rejected(found)
      const { allocated, wanting } = found
      if (wanting.length > 0 && !devices.isReady) return rejected(noDevices)
      const scores = havePreferences(wanting) ? new Map<string, number>() : undefined
      if (scores !== undefined) preferences.set(pod, scores)
      const inTheWay = new Set<ResourceClaim>()
      unavailable.set(pod, inTheWay)
      const pastHope = new Set(allocated.filter((claim) => binder.isPastHope(claim)))
      return {
        refuse({ node }) {
          const elsewhere = allocated.filter((claim) => pastHope.has(claim) || !isAvailableOn(claim, node))
          if (elsewhere.length > 0) {
            for (const claim of elsewhere) inTheWay.add(claim)
            return refusal('resourceclaim not available on the node')
          }
          if (wanting.length === 0) return undefined
          const allocation = devices.allocate(wanting, node)
          if ('reason' in allocation) {
            if (allocation.isError === true) throw new AttemptError(allocation.reason)
            return refusal(allocation.reason)
          }
          scores?.set(node.metadata.name ?? '', preferenceScore(wanting, allocation.results))
          return undefined
        },
        add: doNothing,
        remove: doNothing,
      }
    },
    scorer(pod) {
      const scores = preferences.get(pod)
      return scores && { score: ({ name }) => scores.get(name) ?? 0, normalize: (all) => normalizeToMax(all) }
    },
    isHelpedBy: (pod, event) => canHelp(pod, event),
    postFilter(pod) {
      if (pod.spec.resourceClaims === undefined) return undefined
      const { uid } = pod.metadata
      const claim = [...(unavailable.get(pod) ?? [])].find(({ status }) =>
        (status?.reservedFor ?? []).every((each) => each.uid === uid),
      )
      if (claim === undefined) return { message: 'still not schedulable' }
      return { message: 'deallocation of ResourceClaim completed', done: binder.release(claim, pod) }
    },
    reserve: (pod, node) => (pod.spec.resourceClaims === undefined ? undefined : binder.reserve(pod, node)),
    unreserve: (pod) => binder.unreserve(pod),
    preBind: (pod) => binder.bind(pod),
  }
}

/** Whether there are other devices, a claim has given some back, or one of the pod has changed. */
function canHelp(pod: Pod, event: ClusterEvent): boolean {
  if (event.type === 'devices-changed') return true
  if (event.type !== 'resource-claim-changed') return false
  const { claim, old } = event
  if (old?.status?.allocation !== undefined && claim?.status?.allocation === undefined) return true
  if (claim === undefined || claim.metadata.namespace !== pod.metadata.namespace) return false
  if (!claimNamesOfPod(pod).includes(claim.metadata.name ?? '')) return false
  return old === undefined || !deepEqual(old.status ?? {}, claim.status ?? {})
}
