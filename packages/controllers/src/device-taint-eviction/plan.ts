import {
  claimNameOfPod,
  type DeviceTaint,
  type DeviceToleration,
  isClaimOfPod,
  isReservedFor,
  type Pod,
  type PodStatus,
  pods,
  type ResourceClaim,
  toleratesDeviceTaint,
} from '@coracle/api'
import { type Action, getCondition, type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { podKey } from '../pods/pod-key.ts'
import { timeOf } from '../pods/pod-state.ts'

/** Names a device: `pool` is a pool of the driver. */
export interface DeviceName {
  readonly driver: string
  readonly pool: string
  readonly device: string
}

/** What is known about a pod that may have devices. */
export interface ObservedPod {
  readonly pod: Pod
  /** A claim of the pod's namespace, by its name. */
  readonly claim: (name: string) => ResourceClaim | undefined
  /** The taints of a device that is offered; none of one that is not. */
  readonly taintsOf: (device: DeviceName) => readonly DeviceTaint[]
  /** Whether the last plan had it leave later. */
  readonly isAwaited: boolean
}

/** What to do about a pod whose devices are tainted. */
export interface DeviceEvictionPlan extends Plan<PodStatus> {
  /** Whether it will have to leave later. */
  readonly isAwaited: boolean
}

/**
 * Makes a pod leave whose claims do not tolerate a taint of one of their devices any longer: https://kep.k8s.io/5055, as upstream's
 * device taint eviction controller. A pod that is on no node yet stays: the scheduler takes tainted devices for nobody. Pure.
 */
export function planDeviceEviction(observed: ObservedPod, nowMs: Time): DeviceEvictionPlan {
  const { pod, isAwaited } = observed
  if (pod.metadata.deletionTimestamp !== undefined) return { actions: [], isAwaited: false }
  const at = evictionTime(observed, nowMs)
  if (at === undefined) {
    const because = 'nothing is wrong with the devices of the pod any longer'
    return { actions: isAwaited ? [event('Cancelling deletion', because)] : [], isAwaited: false }
  }
  if (at > nowMs) return { actions: [], isAwaited: true, requeueAfterMs: at - nowMs }
  return { actions: [event('Marking for deletion', reason), markDisrupted(pod, nowMs), evict(pod)], isAwaited: false }
}

/** When the pod has to leave: as soon as one device of one of its claims asks for it. Undefined: it may stay. */
function evictionTime({ pod, claim: claimNamed, taintsOf }: ObservedPod, nowMs: Time): Time | undefined {
  if (!pod.spec.nodeName) return undefined
  let earliest: Time | undefined
  for (const each of pod.spec.resourceClaims ?? []) {
    const known = claimNameOfPod(pod, each)
    if (typeof known === 'string') continue
    const claim = claimNamed(known.name)
    if (claim === undefined || (known.mustBeOwned && !isClaimOfPod(claim, pod)) || !isReservedFor(claim, pod)) continue
    for (const result of claim.status?.allocation?.devices?.results ?? []) {
      for (const taint of taintsOf(result)) {
        const at = toleratedUntil(taint, result.tolerations ?? [], nowMs)
        if (at !== undefined && (earliest === undefined || at < earliest)) earliest = at
      }
    }
  }
  return earliest
}

/** Until when a taint is tolerated, counted from when it was added: the shortest toleration counts. Undefined: for ever. */
function toleratedUntil(taint: DeviceTaint, tolerations: readonly DeviceToleration[], nowMs: Time): Time | undefined {
  if (taint.effect !== 'NoExecute') return undefined
  const sinceMs = timeOf(taint.timeAdded) ?? nowMs
  // Unlike with taints of nodes, a toleration has to name the effect: one of all effects says only what a claim may be given.
  const found = tolerations.filter((each) => each.effect === 'NoExecute' && toleratesDeviceTaint(each, taint))
  if (found.length === 0) return sinceMs
  const seconds = found.map(({ tolerationSeconds }) => tolerationSeconds)
  if (seconds.includes(undefined)) return undefined
  return sinceMs + Math.min(...seconds.map((each = 0) => Math.max(0, Number(each)))) * 1000
}

const reason = 'a claim of the pod does not tolerate a taint of its device any longer'

const event = (message: string, because: string): Action => ({
  type: 'event',
  eventType: 'Normal',
  reason: 'DeviceTaintManagerEviction',
  message,
  because,
})

function markDisrupted(pod: Pod, nowMs: Time): Action {
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByDeviceTaintManager',
    message: 'Device Taint manager: deleting due to NoExecute taint',
  } as const
  const condition = getCondition(setCondition(pod.status?.conditions, target, nowMs), target.type)
  const body = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } }
  const patch = { type: 'strategic', body } as const
  return { type: 'patch', resource: pods, key: podKey(pod), subresource: 'status', patch, because: reason }
}

function evict(pod: Pod): Action {
  const uid = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid }
  return { type: 'delete', resource: pods, key: podKey(pod), ...uid, because: reason }
}
