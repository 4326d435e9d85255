import { type Pod, parseTime } from '@coracle/api'
import type { WaitingReason } from '../status/container-statuses.ts'
import { refusalOf } from '../status/pod-status.ts'
import { isOver } from './plan-pod.ts'
import { recordPodEvent } from './pod-events.ts'
import type { PodHost } from './pod-host.ts'
import { podUidOf } from './pod-name.ts'

/** Whether the node takes one pod on: asks it once, and remembers since when and why not. */
export class PodAdmission {
  readonly #host: PodHost
  /** Since when the pod is on this node. */
  readonly startTimeMs: number
  #isAsked: boolean
  #refusal: WaitingReason | undefined

  /** `given` is the pod with the resources that its node has given it in an earlier life, if there was one. */
  constructor(host: PodHost, pod: Pod, given: Pod) {
    this.#host = host
    const { environment, admission } = host.context
    const started = pod.status?.startTime
    this.startTimeMs = started === undefined ? environment.clock.now() : parseTime(started)
    this.#isAsked = started !== undefined
    this.#refusal = refusalOf(pod)
    if (started !== undefined && !isOver(pod)) admission.count(podUidOf(pod), given)
  }

  /** Why the node does not take the pod on; undefined where it does. */
  get refusal(): WaitingReason | undefined {
    return this.#refusal
  }

  /** Asks the node, where it has not been asked. A pod that has a sandbox already was taken on in an earlier life, which came to no more than that. */
  async ask(): Promise<void> {
    if (this.#isAsked) return
    const { context, ending } = this.#host
    const { admission, runtime } = context
    const uid = podUidOf(this.#host.pod)
    const begun = (await runtime.listPodSandboxes(uid)).length > 0
    if (this.#host.isGone) return
    if (begun) admission.count(uid, this.#host.pod)
    else this.#refusal = await admission.admit(uid, this.#host.pod, ending.signal())
    ending.settle()
    if (this.#host.isGone) admission.release(uid)
    this.#isAsked = true
    if (this.#refusal !== undefined) this.refuse(this.#refusal)
  }

  /** The node does not take the pod on. */
  refuse(refusal: WaitingReason): void {
    this.#refusal = refusal
    this.#host.context.metrics?.()?.podRefused(refusal.reason)
    recordPodEvent(this.#host.context, this.#host.pod, 'Warning', refusal.reason, refusal.message)
  }
}
