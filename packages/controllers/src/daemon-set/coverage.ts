import { type DaemonSet, type Pod, pods as podResource } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { podKey } from '../pods/pod-key.ts'
import { availableAt, isReady } from '../pods/pod-state.ts'
import { revisionHashLabel } from '../revisions/revision.ts'
import { daemonPod } from './daemon-pod.ts'
import { eligibility } from './eligibility.ts'
import { maxSurge } from './limits.ts'
import type { ObservedDaemonSet, PodsByNode } from './observed.ts'

/** Pods made or deleted for one daemon set at a time, at most (upstream's BurstReplicas). The rest follows at once. */
export const burstMax = 250

/** What it takes for every node to have its pod. */
export interface Coverage {
  readonly actions: readonly Action[]
  /** Nodes whose failed pod is to be removed now: the next one there waits longer. */
  readonly failedOn: readonly string[]
  /** When to look again at failed pods that are left alone for now. */
  readonly requeueAfterMs: number | undefined
}

/** Makes the pods that nodes lack, and deletes those that have ended, are doubled up or are out of place (upstream's manage). */
export function coverNodes(
  { daemonSet, nodes, waitAfterFailureMs }: ObservedDaemonSet,
  podsByNode: PodsByNode,
  hash: string,
  nowMs: Time,
): Coverage {
  const belongs = eligibility(daemonSet)
  const coverage = new CoverageBuilder(daemonSet, hash, nowMs, waitAfterFailureMs)
  const names = new Set<string>()
  for (const node of nodes) {
    const { name = '' } = node.metadata
    names.add(name)
    const pods = podsByNode.get(name) ?? []
    switch (belongs(node)) {
      case 'none':
        coverage.delete(pods, 'the pod does not belong on its node')
        break
      case 'keeps':
        coverage.keepOne(name, pods, false)
        break
      case 'runs':
        if (pods.length === 0) coverage.create(name)
        else coverage.keepOne(name, pods, true)
    }
  }
  // The scheduler waits for the node for good; pods that are bound are taken off lost nodes by others.
  for (const [name, pods] of podsByNode) {
    if (!names.has(name))
      coverage.delete(
        pods.filter(({ spec }) => !spec.nodeName),
        'the pod’s node is gone',
      )
  }
  return coverage.build()
}

class CoverageBuilder {
  readonly #daemonSet: DaemonSet
  readonly #hash: string
  readonly #nowMs: Time
  readonly #waitAfterFailureMs: (nodeName: string) => number
  readonly #events: Action[] = []
  readonly #created: Action[] = []
  readonly #deleted: Action[] = []
  readonly #failedOn: string[] = []
  #requeueAfterMs = Number.POSITIVE_INFINITY

  constructor(daemonSet: DaemonSet, hash: string, nowMs: Time, waitAfterFailureMs: (nodeName: string) => number) {
    this.#daemonSet = daemonSet
    this.#hash = hash
    this.#nowMs = nowMs
    this.#waitAfterFailureMs = waitAfterFailureMs
  }

  build(): Coverage {
    const actions = [...this.#events, ...this.#created.slice(0, burstMax), ...this.#deleted.slice(0, burstMax)]
    const requeueAfterMs = Number.isFinite(this.#requeueAfterMs) ? this.#requeueAfterMs : undefined
    return { actions, failedOn: this.#failedOn, requeueAfterMs }
  }

  create(nodeName: string): void {
    this.#created.push(podCreation(this.#daemonSet, nodeName, this.#hash))
  }

  delete(pods: readonly Pod[], because: string): void {
    for (const pod of pods) if (!isGoing(pod)) this.#deleted.push(podDeletion(pod, because))
  }

  /** Leaves one pod that has not ended on the node, or two while a newer one takes the place of an older. */
  keepOne(nodeName: string, pods: readonly Pod[], mayCreate: boolean): void {
    const alive = pods.filter((pod) => !isGoing(pod) && !this.#removeEnded(nodeName, pod))
    const because = 'the node has another pod of the daemon set'
    if (maxSurge(this.#daemonSet, 1) === 0) {
      this.delete(alive.slice(1), because)
      return
    }
    if (alive.length === 0 && mayCreate) this.create(nodeName)
    const [newPod, ...newer] = alive.filter((pod) => pod.metadata.labels?.[revisionHashLabel] === this.#hash)
    const [oldPod, ...older] = alive.filter((pod) => pod.metadata.labels?.[revisionHashLabel] !== this.#hash)
    this.delete([...newer, ...older], because)
    if (newPod === undefined || oldPod === undefined) return
    const isReplaced = !isReady(oldPod) || availableAt(newPod, this.#daemonSet.spec.minReadySeconds ?? 0) <= this.#nowMs
    if (isReplaced) this.delete([oldPod], 'a newer pod has taken its place')
  }

  #removeEnded(nodeName: string, pod: Pod): boolean {
    const { namespace, name } = pod.metadata
    switch (pod.status?.phase) {
      case 'Failed': {
        const waitMs = this.#waitAfterFailureMs(nodeName)
        if (waitMs > 0) this.#requeueAfterMs = Math.min(this.#requeueAfterMs, waitMs)
        else {
          const message = `Found failed daemon pod ${namespace}/${name} on node ${nodeName}, will try to kill it`
          this.#events.push(event('Warning', 'FailedDaemonPod', message, 'the pod has failed'))
          this.#failedOn.push(nodeName)
          this.delete([pod], 'the pod has failed')
        }
        return true
      }
      case 'Succeeded': {
        const message = `Found succeeded daemon pod ${namespace}/${name} on node ${nodeName}, will try to delete it`
        this.#events.push(event('Normal', 'SucceededDaemonPod', message, 'the pod has ended'))
        this.delete([pod], 'the pod has ended')
        return true
      }
      default:
        return false
    }
  }
}

/** Makes the pod of a node. */
export function podCreation(daemonSet: DaemonSet, nodeName: string, hash: string): Action {
  return {
    type: 'create',
    resource: podResource,
    object: daemonPod(daemonSet, nodeName, hash),
    because: `node ${nodeName} has no pod of the daemon set`,
    events: {
      succeeded: { reason: 'SuccessfulCreate', message: 'Created pod: {name}' },
      failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
    },
  }
}

/** Deletes a pod. */
export function podDeletion(pod: Pod, because: string): Action {
  const { uid } = pod.metadata
  return {
    type: 'delete',
    resource: podResource,
    key: podKey(pod),
    ...(uid === undefined ? {} : { uid }),
    because,
    events: {
      succeeded: { reason: 'SuccessfulDelete', message: 'Deleted pod: {name}' },
      failed: { reason: 'FailedDelete', message: 'Error deleting: {error}' },
    },
  }
}

const isGoing = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

const event = (eventType: 'Normal' | 'Warning', reason: string, message: string, because: string): Action => ({
  type: 'event',
  eventType,
  reason,
  message,
  because,
})
