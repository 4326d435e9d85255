import type { ContainerStatus, Pod } from '@coracle/api'
import type { Logger } from '@coracle/environment'
import type { PreemptablePod } from '../admission/preemption.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import type { StoringPod } from '../storage/storage-use.ts'
import { type ClaimedVolume, claimedVolumes } from '../volumes/claimed-volumes.ts'
import { type DeadContainerLimits, surplusRuns } from './dead-containers.ts'
import { isOver } from './plan-pod.ts'
import type { PodContext } from './pod-context.ts'
import { podUidOf } from './pod-name.ts'
import { PodWorker } from './pod-worker.ts'
import { gracePeriodMinMs } from './stop-containers.ts'

/** The pods of one node, or of all nodes that share a runtime: a worker each, told of what concerns it. */
export class PodManager {
  readonly #runtime: Runtime
  readonly #logger: Logger
  readonly #contextOf: (nodeName: string) => PodContext | undefined
  readonly #workers = new Map<string, PodWorker>()
  readonly #unsubscribe: () => void
  #closed = false

  /** `contextOf` knows the nodes by name; pods of others are ignored. */
  constructor(runtime: Runtime, logger: Logger, contextOf: (nodeName: string) => PodContext | undefined) {
    this.#runtime = runtime
    this.#logger = logger
    this.#contextOf = contextOf
    this.#unsubscribe = runtime.subscribe(({ podUid }) => this.#workers.get(podUid)?.wake())
  }

  /** A pod, new or changed. What it is run with is what its node has, unless given. */
  setPod(pod: Pod, own?: PodContext): void {
    if (this.#closed) return
    const uid = podUidOf(pod)
    const known = this.#workers.get(uid)
    if (known === undefined) this.#addPod(uid, pod, own)
    else known.update(pod)
  }

  #addPod(uid: string, pod: Pod, own: PodContext | undefined): void {
    const context = own ?? this.#contextOf(pod.spec.nodeName ?? '')
    if (context === undefined) return
    const worker = new PodWorker(context, pod, () => this.#workers.delete(uid))
    this.#workers.set(uid, worker)
    worker.wake()
  }

  /** A pod that is no longer in the API. */
  removePod(pod: Pod): void {
    this.#workers.get(podUidOf(pod))?.remove()
  }

  /** Whether a pod of this identity is looked after here. */
  hasPod(uid: string): boolean {
    return this.#workers.has(uid)
  }

  /** Whether a pod of this identity is looked after here and has not ended. */
  isActive(uid: string): boolean {
    const worker = this.#workers.get(uid)
    return worker !== undefined && !isOver(worker.pod)
  }

  /** The pods of a node that have not ended. */
  preemptable(nodeName: string): readonly PreemptablePod[] {
    return [...this.#workers].flatMap(([uid, worker]) => {
      const { pod } = worker
      return pod.spec.nodeName !== nodeName || isOver(pod)
        ? []
        : [{ uid, pod, preempt: (resource: string) => worker.preempt(resource) }]
    })
  }

  /** The pods that have not ended, with where their volumes are. */
  storing(): readonly StoringPod[] {
    return [...this.#workers.values()].flatMap((worker) => {
      const { pod, volumes } = worker
      return isOver(pod)
        ? []
        : [{ pod, volumes, evict: (...how: Parameters<StoringPod['evict']>) => worker.evict(...how) }]
    })
  }

  /** The volumes that pods have by claims. */
  claimedVolumes(): readonly ClaimedVolume[] {
    return [...this.#workers.values()].flatMap((worker) => claimedVolumes(worker.pod, worker.volumes))
  }

  /** The statuses of a pod's containers as they are known here, before the API has them. */
  containerStatuses(pod: Pod): readonly ContainerStatus[] {
    const status = this.#workers.get(podUidOf(pod))?.status ?? pod.status
    return [
      ...(status?.containerStatuses ?? []),
      ...(status?.initContainerStatuses ?? []),
      ...(status?.ephemeralContainerStatuses ?? []),
    ]
  }

  /** Ends what runs for pods that the API no longer knows, from an earlier life of this node. Gives why some of it is still there. Never rejects. */
  async removeOrphans(): Promise<readonly unknown[]> {
    const [listed] = await Promise.allSettled([this.#runtime.listPodSandboxes()])
    if (listed.status === 'rejected') return [listed.reason]
    const orphans = listed.value.filter(({ podUid }) => !this.#workers.has(podUid))
    const results = await Promise.allSettled(
      orphans.map(async ({ id, podUid, podNamespace, podName }) => {
        this.#logger.info('pod is gone from the API: removing what is left of it', {
          pod: `${podNamespace}/${podName}`,
        })
        await this.#stopContainersOf(podUid, gracePeriodMinMs)
        await this.#runtime.removePodSandbox(id)
      }),
    )
    return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  }

  /** Removes containers that have ended and are too many, of pods that are looked after here. Rejects where one resists, when the others have gone. */
  async removeDeadContainers(limits: DeadContainerLimits, nowMs: number): Promise<void> {
    const runs = await this.#runtime.listContainers()
    const surplus = surplusRuns(
      runs.filter(({ podUid }) => this.#workers.has(podUid)),
      limits,
      nowMs,
    )
    const problems: unknown[] = []
    for (const { id } of surplus)
      await this.#runtime.removeContainer(id).catch((error: unknown) => void problems.push(error))
    if (problems.length > 0) throw problems[0]
  }

  /** Stops working on pods; their containers run on. */
  async close(): Promise<void> {
    this.#closed = true
    this.#unsubscribe()
    await Promise.all([...this.#workers.values()].map((worker) => worker.close()))
  }

  /** Stops every container, with at most `graceMaxMs` each. For a manager that is closed. Rejects where one is not stopped, when the others are. */
  async stopContainers(graceMaxMs: number): Promise<void> {
    const results = await Promise.allSettled(
      [...this.#workers.values()].map(({ pod }) => {
        const graceMs = Number(pod.spec.terminationGracePeriodSeconds ?? 30) * 1000
        return this.#stopContainersOf(podUidOf(pod), Math.min(graceMs, graceMaxMs))
      }),
    )
    const sandboxes = await this.#runtime.listPodSandboxes()
    const mine = sandboxes.filter(({ podUid }) => this.#workers.has(podUid))
    results.push(...(await Promise.allSettled(mine.map(({ id }) => this.#runtime.stopPodSandbox(id)))))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async #stopContainersOf(podUid: string, graceMs: number): Promise<void> {
    const runs = await this.#runtime.listContainers(podUid)
    await Promise.all(
      runs.filter(({ state }) => state === 'running').map(({ id }) => this.#runtime.stopContainer(id, graceMs)),
    )
  }
}
