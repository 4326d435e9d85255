import { formatTime, hasReason, nodes, notFound, type Pod, type PodStatus, pods } from '@coracle/api'
import type { Client, ObjectKey, Patch, WriteOptions } from '@coracle/client'
import type { Environment, Time, Timer } from '@coracle/environment'
import type { PodContext } from '../pod/pod-context.ts'
import type { PodManager } from '../pod/pod-manager.ts'
import { podUidOf } from '../pod/pod-name.ts'
import { staticAnnotations } from './is-mirror.ts'
import { keyOf } from './static-pod.ts'

/** The copy of a pod that the API has not taken is offered again after this, which doubles each time up to the longest. */
const retryFirstMs = 1_000
const retryMaxMs = 30_000

/** Static pods are critical, whatever they say: upstream's system-node-critical. */
const nodeCriticalPriority = 2_000_001_000

const defaultGraceSeconds = 30

export interface StaticPodsParts {
  readonly client: Client
  readonly environment: Environment
  readonly nodeName: string
  /** What pods of the API are run with: the same serves these. */
  readonly context: PodContext
  readonly manager: Pick<PodManager, 'setPod' | 'removePod'>
}

/** A pod that runs, or is on its way out. */
interface Running {
  readonly pod: Pod
  /** When it was to end. */
  endingSince: Time | undefined
  /** What comes after it. */
  next: Pod | undefined
}

/**
 * Pods that a node was given in files. They run whatever the API says; a copy of each, its mirror, shows there how it is. Who deletes a mirror gets another; a
 * pod goes with its file, and then its mirror does. A file that says something else is another pod, which begins when the one before has ended.
 */
export class StaticPods {
  readonly #parts: StaticPodsParts
  readonly #context: PodContext
  readonly #running = new Map<string, Running>()
  readonly #mirrors = new Map<string, Pod>()
  /** Pods whose mirrors are being looked after, and whether that is to be done again. */
  readonly #reconciling = new Map<string, { isStale: boolean }>()
  readonly #retries = new Map<string, { readonly timer: Timer | undefined; readonly afterMs: number }>()
  /** Whether the files have been read, and whether all mirrors there are have been seen. */
  #isGiven = false
  #seesMirrors = false
  #isStopped = false

  constructor(parts: StaticPodsParts) {
    this.#parts = parts
    this.#context = { ...parts.context, client: this.#clientOfWorkers() }
  }

  /** What the files say now. Pods run from the first time on, whether or not the API answers. */
  set(wanted: readonly Pod[]): void {
    if (this.#isStopped) return
    const isFirst = !this.#isGiven
    this.#isGiven = true
    const byKey = new Map(wanted.map((pod) => [keyOf(pod), pod]))
    for (const [key, running] of this.#running) {
      const pod = byKey.get(key)
      byKey.delete(key)
      const isSame = pod !== undefined && podUidOf(pod) === podUidOf(running.pod)
      running.next = isSame && running.endingSince === undefined ? undefined : pod
      if (!isSame) this.#end(key, running)
    }
    for (const [key, pod] of byKey) this.#run(key, pod)
    if (isFirst) this.#reconcileAll()
  }

  /** All mirrors there are have been told. From now on those that lack are made, and those of other pods removed. */
  seeMirrors(): void {
    if (this.#seesMirrors) return
    this.#seesMirrors = true
    this.#reconcileAll()
  }

  /** A mirror is there, or has changed. */
  mirrorSet(mirror: Pod): void {
    const key = keyOf(mirror)
    this.#mirrors.set(key, mirror)
    this.#show(key)
    this.#reconcile(key)
  }

  mirrorRemoved(mirror: Pod): void {
    const key = keyOf(mirror)
    if (this.#mirrors.get(key)?.metadata.uid !== mirror.metadata.uid) return
    this.#mirrors.delete(key)
    this.#show(key)
    this.#reconcile(key)
  }

  /** The pod of a mirror, as it runs here; undefined where the mirror is of none. */
  podOf(mirror: Pod): Pod | undefined {
    const running = this.#running.get(keyOf(mirror))
    return running !== undefined && isMirrorOf(mirror, running.pod) ? shown(running, mirror) : undefined
  }

  stop(): void {
    this.#isStopped = true
    for (const { timer } of this.#retries.values()) timer?.cancel()
  }

  #run(key: string, pod: Pod): void {
    this.#running.set(key, { pod, endingSince: undefined, next: undefined })
    this.#show(key)
    this.#reconcile(key)
  }

  #end(key: string, running: Running): void {
    if (running.endingSince !== undefined) return
    running.endingSince = this.#parts.environment.clock.now()
    this.#show(key)
  }

  /** All of a pod has ended, and its volumes are gone. */
  #ended(key: string, running: Running): void {
    this.#parts.manager.removePod(running.pod)
    this.#running.delete(key)
    if (running.next === undefined || this.#isStopped) this.#reconcile(key)
    else this.#run(key, running.next)
  }

  /** Hands a pod to what looks after it, with what its mirror says. */
  #show(key: string): void {
    const running = this.#running.get(key)
    if (running === undefined || this.#isStopped) return
    const pod = shown(running, this.#mirrors.get(key))
    const priority = Math.max(pod.spec.priority ?? 0, nodeCriticalPriority)
    this.#parts.manager.setPod({ ...pod, spec: { ...pod.spec, priority } }, this.#context)
  }

  #reconcileAll(): void {
    for (const key of new Set([...this.#mirrors.keys(), ...this.#running.keys()])) this.#reconcile(key)
  }

  /** Makes the mirror of a pod, or removes one that is none, or is to be replaced. */
  #reconcile(key: string): void {
    if (!this.#isGiven || !this.#seesMirrors || this.#isStopped) return
    const underWay = this.#reconciling.get(key)
    if (underWay !== undefined) {
      underWay.isStale = true
      return
    }
    const state = { isStale: false }
    this.#reconciling.set(key, state)
    void this.#reconcileOnce(key).then((isDone) => {
      this.#reconciling.delete(key)
      if (isDone) this.#retries.delete(key)
      else this.#retryLater(key)
      if (state.isStale) this.#reconcile(key)
    })
  }

  /** False where it is to be tried again. Never rejects. */
  async #reconcileOnce(key: string): Promise<boolean> {
    const { client, environment } = this.#parts
    const mirror = this.#mirrors.get(key)
    const running = this.#running.get(key)
    try {
      if (mirror !== undefined) {
        const { name = '', namespace = '', uid = '', deletionTimestamp } = mirror.metadata
        if (running !== undefined && isMirrorOf(mirror, running.pod) && deletionTimestamp === undefined) return true
        const because = 'it shows no pod that this node was given'
        await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid }, because })
      } else if (running !== undefined && running.endingSince === undefined) {
        const because = 'the node was given it in a file'
        const made = await client.create(pods, await this.#mirrorOf(running.pod), { because })
        // The watch may be slower.
        if (!this.#mirrors.has(key)) this.#mirrors.set(key, made)
        this.#show(key)
      }
      return true
    } catch (error) {
      if (mirror !== undefined && (hasReason(error, 'NotFound') || hasReason(error, 'Conflict'))) return true
      if (!this.#isStopped)
        environment.logger.warn('the mirror of a static pod is not as it is to be', { pod: key, error })
      return false
    }
  }

  #retryLater(key: string): void {
    if (this.#isStopped) return
    const { afterMs = retryFirstMs, timer: former } = this.#retries.get(key) ?? {}
    former?.cancel()
    const timer = this.#parts.environment.clock.setTimer(afterMs, () => this.#reconcile(key))
    this.#retries.set(key, { timer, afterMs: Math.min(2 * afterMs, retryMaxMs) })
  }

  async #mirrorOf({ metadata: { uid = '', ...metadata }, ...pod }: Pod): Promise<Pod> {
    const { client, nodeName: name } = this.#parts
    const node = await client.get(nodes, { name })
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '', controller: true }
    const annotations = { ...metadata.annotations, [staticAnnotations.mirror]: uid }
    return { ...pod, metadata: { ...metadata, annotations, ownerReferences: [owner] } }
  }

  /** What workers write of their pods, written to the mirrors; and that a pod has ended, told here. */
  #clientOfWorkers(): Client {
    const own = {
      get: async (_: unknown, key: ObjectKey): Promise<Pod> => {
        const running = this.#runningAt(key)
        return shown(running, this.#mirrorAt(key, running))
      },
      patch: async (resource: typeof pods, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<Pod> => {
        const running = this.#runningAt(key)
        const mirror = this.#mirrorAt(key, running)
        const { status } = patch.body as { readonly status: PodStatus }
        // Nobody sees how a pod ends that has no mirror; it ends all the same.
        if (mirror === undefined && running.endingSince !== undefined) return { ...shown(running, undefined), status }
        if (mirror === undefined) throw notFound({ group: '', plural: 'pods' }, key.name)
        const { uid, resourceVersion } = mirror.metadata
        const body = { metadata: { uid, resourceVersion }, status }
        const written = await this.#parts.client
          .patch(resource, key, { ...patch, body } as Patch, options)
          .catch((error: unknown) => {
            if (hasReason(error, 'NotFound')) this.mirrorRemoved(mirror)
            throw error
          })
        if (this.#mirrors.get(keyOf(written))?.metadata.uid === uid) this.#mirrors.set(keyOf(written), written)
        return shown(running, written)
      },
      delete: async (_: unknown, key: ObjectKey): Promise<undefined> => {
        this.#ended(`${key.namespace ?? ''}/${key.name}`, this.#runningAt(key))
        return undefined
      },
    }
    return own as unknown as Client
  }

  #runningAt({ namespace = '', name }: ObjectKey): Running {
    const running = this.#running.get(`${namespace}/${name}`)
    if (running === undefined) throw notFound({ group: '', plural: 'pods' }, name)
    return running
  }

  #mirrorAt({ namespace = '', name }: ObjectKey, { pod }: Running): Pod | undefined {
    const mirror = this.#mirrors.get(`${namespace}/${name}`)
    return mirror !== undefined && isMirrorOf(mirror, pod) ? mirror : undefined
  }
}

const isMirrorOf = ({ metadata }: Pod, pod: Pod): boolean =>
  metadata.annotations?.[staticAnnotations.mirror] === podUidOf(pod)

/** A pod as it runs, with what its mirror shows. */
function shown({ pod, endingSince }: Running, mirror: Pod | undefined): Pod {
  const own = mirror !== undefined && isMirrorOf(mirror, pod) ? mirror : undefined
  const { resourceVersion, generation, creationTimestamp } = own?.metadata ?? {}
  const graceSeconds = Number(pod.spec.terminationGracePeriodSeconds ?? defaultGraceSeconds)
  const ending =
    endingSince === undefined
      ? {}
      : {
          deletionTimestamp: formatTime(endingSince + graceSeconds * 1000),
          deletionGracePeriodSeconds: graceSeconds,
        }
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      // A pod on its way out is as it is, whatever comes of its mirror.
      ...(resourceVersion === undefined || endingSince !== undefined ? {} : { resourceVersion }),
      ...(generation === undefined ? {} : { generation }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...ending,
    },
    ...(own?.status === undefined ? {} : { status: own.status }),
  }
}
