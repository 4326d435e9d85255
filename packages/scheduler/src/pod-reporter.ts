import { type CauseClaim, formatTime, type Pod, type PodCondition, pods as podResource } from '@coracle/api'
import { type Client, createEventRecorder, type EventRecorder } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import { schedulingCause } from './scheduling-cause.ts'

/** Tells users, by events and in the pod's status, what becomes of pods. */
export class PodReporter {
  readonly #client: Client
  readonly #environment: Environment
  readonly #recorder: EventRecorder
  readonly #component: string

  /** `component` is the name of the scheduler. */
  constructor(client: Client, environment: Environment, component: string) {
    this.#client = client
    this.#environment = environment
    this.#component = component
    this.#recorder = createEventRecorder(client, environment, { component, api: 'events.k8s.io/v1' })
  }

  bound(pod: Pod, node: string): void {
    const { name = '', namespace = '' } = pod.metadata
    this.#environment.logger.debug('pod assigned', { pod: `${namespace}/${name}`, node })
    const message = `Successfully assigned ${namespace}/${name} to ${node}`
    this.#recorder.event(pod, 'Normal', 'Scheduled', message, { action: 'Binding' })
  }

  /** The pod has devices on the node that say what has to be true of them before it comes (KEP-5007). */
  waitsForDevices(pod: Pod, node: string): void {
    const message = `waiting for binding conditions for device on node ${node}`
    this.#recorder.event(pod, 'Normal', 'BindingConditionsPending', message, { action: 'Scheduling' })
  }

  /** The victim leaves a node for the other pod. */
  preempted(victim: Pod, by: Pod, node: string): void {
    const message = `Preempted by pod ${by.metadata.uid} on node ${node}`
    this.#recorder.event(victim, 'Normal', 'Preempted', message, { action: 'Preempting', related: by })
  }

  /**
   * Resolves when the status says it, too, and which node the pod is to come to. What it says already is not written again.
   * Where no node is given, what it says of that stays; an empty text is none.
   */
  async unbound(
    pod: Pod,
    reason: 'Unschedulable' | 'SchedulerError',
    message: string,
    nominatedNodeName = pod.status?.nominatedNodeName ?? '',
  ): Promise<void> {
    this.#recorder.event(pod, 'Warning', 'FailedScheduling', message, { action: 'Scheduling' })
    const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    const isSaid = known?.status === 'False' && known.reason === reason && known.message === message
    const nomination = nominationPatch(pod, nominatedNodeName)
    if (isSaid && nomination === undefined) return
    const condition: PodCondition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      observedGeneration: pod.metadata.generation,
      lastTransitionTime:
        known?.status === 'False' ? known.lastTransitionTime : formatTime(this.#environment.clock.now()),
    }
    await this.#patchStatus(pod, { conditions: [condition], ...nomination }, message)
  }

  /** The pod comes to this node, once what it needs there is made. */
  async expected(pod: Pod, node: string): Promise<void> {
    const nomination = nominationPatch(pod, node)
    if (nomination !== undefined) await this.#patchStatus(pod, nomination, `what it needs on ${node} is being made`)
  }

  /** The pod is to come to no node any more: its place is for a more important one, or there will be none. */
  async unnominated(pod: Pod, because: string): Promise<void> {
    const nomination = nominationPatch(pod, '')
    if (nomination !== undefined) await this.#patchStatus(pod, nomination, because)
  }

  /** Why something is written for a pod. */
  causeOf(pod: Pod, because: string): CauseClaim {
    return schedulingCause(this.#component, pod, because)
  }

  /** Resolves when all events are written or given up. Nothing more is told after that. */
  async stop(): Promise<void> {
    await this.#recorder.flush()
    this.#recorder.stop()
  }

  async #patchStatus(pod: Pod, status: object, because: string): Promise<void> {
    const { name = '', namespace = '', uid = '' } = pod.metadata
    const body = { metadata: { uid }, status }
    try {
      await this.#client.patch(
        podResource,
        { namespace, name },
        { type: 'strategic', body },
        { subresource: 'status', ...this.causeOf(pod, because) },
      )
    } catch (error) {
      this.#environment.logger.warn('recording why a pod has no node failed', { pod: `${namespace}/${name}`, error })
    }
  }
}

/** What changes in the status; undefined where it says so already. */
function nominationPatch({ status }: Pod, node: string): { readonly nominatedNodeName: string | null } | undefined {
  if ((status?.nominatedNodeName ?? '') === node) return undefined
  return { nominatedNodeName: node === '' ? null : node }
}
