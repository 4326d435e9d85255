import {
  deepEqual,
  describeStatusChange,
  formatMicroTime,
  hasReason,
  type Lease,
  leases,
  type Node,
  type NodeStatus,
  nodes,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import { type Environment, sleep, type Timer } from '@coracle/environment'
import { agentCause } from '../agent-cause.ts'
import {
  isWorthReporting,
  type NodeDescription,
  nodeLabels,
  nodeObject,
  nodeStatus,
  reportAgainMs,
} from './node-object.ts'

/** How often a node renews its lease and looks at its status: upstream's nodeStatusUpdateFrequency and a quarter of the lease. */
export const heartbeatMs = 10_000
/** How long a lease holds: upstream's nodeLeaseDurationSeconds. */
export const leaseDurationSeconds = 40
/** Namespace of node leases. */
const leaseNamespace = 'kube-node-lease'
/**
 * A group's heartbeats are spread over the period in this many portions: one a second. Each wakes the process and has the disk
 * written, which costs more than the beats of some nodes: 100 nodes take 0.85 % of a core with ten portions, 1.8 % with fifty.
 */
const portions = 10
/** Requests of one portion under way at a time. */
const concurrencyMax = 32
/** A request that is not answered by then is given up, since its connection may be dead: upstream's limit for heartbeats. */
const requestMaxMs = heartbeatMs
/** Wait before another try to register, which doubles each time up to the longest: upstream's. */
const registerRetryFirstMs = 200
const registerRetryMaxMs = 7_000

/** How a node is registered. */
export interface RegisterOptions {
  /** Told when a try has failed and another will follow. */
  readonly onFailure?: () => void
  /** Whether what the API refuses is tried again, too: who refuses may be on its way to knowing better. */
  readonly persists?: boolean
}

/**
 * Says for any number of nodes that they are alive: registers them, renews their leases every ten seconds and writes
 * their status when it has changed or five minutes have passed. One loop serves all nodes.
 */
export class NodeHeartbeat {
  readonly #client: Client
  readonly #environment: Environment
  readonly #nodes: readonly NodeDescription[]
  readonly #warned = new Set<string>()
  readonly #known = new Map<string, Node>()
  /** Statuses that say what there is to say, and until when that is enough: of most nodes nothing changes from beat to beat. */
  readonly #enough = new WeakMap<NodeStatus, number>()
  readonly #closing = new AbortController()
  #timer: Timer | undefined
  #work: Promise<void> = Promise.resolve()
  #closed = false

  constructor(client: Client, environment: Environment, descriptions: readonly NodeDescription[]) {
    this.#client = client
    this.#environment = environment
    this.#nodes = descriptions
  }

  /** Registers all nodes, then keeps them alive. Rejects where the API refuses one for good, unless it `persists`. */
  async start(options: RegisterOptions = {}): Promise<void> {
    await each(this.#nodes, (node) => this.#register(node, options))
    this.#schedule(0)
  }

  /** The node as it was last seen: at most a heartbeat ago while the API answers. */
  known(name: string): Node | undefined {
    return this.#known.get(name)
  }

  /** Goes silent: the nodes' leases run out. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    this.#closing.abort(new Error('the heartbeat has ended'))
    await this.#work
  }

  /** Makes requests that may take so long together: what hangs must not hold up the next heartbeat for longer than a lease holds. */
  async #inTime<T>(work: (options: { readonly signal?: AbortSignal }) => Promise<T>): Promise<T> {
    if (this.#client.staysInProcess?.(nodes) === true) return work({})
    const late = new AbortController()
    const timer = this.#environment.clock.setTimer(requestMaxMs, () =>
      late.abort(new Error(`no answer of the API within ${requestMaxMs / 1000} s`)),
    )
    try {
      return await work({ signal: AbortSignal.any([late.signal, this.#closing.signal]) })
    } finally {
      timer.cancel()
    }
  }

  #schedule(portion: number): void {
    if (this.#closed) return
    const { clock } = this.#environment
    const steps = Math.min(portions, Math.max(1, this.#nodes.length))
    const stepMs = heartbeatMs / steps
    const setAtMs = clock.monotonicMs()
    const beat = () => {
      // Whoever was held up, as a process that was stopped for a while is, catches up.
      const due = Math.min(steps, Math.max(1, Math.floor((clock.monotonicMs() - setAtMs) / stepMs)))
      this.#work = each(this.#portions(portion, due, steps), (node) => this.#beat(node))
      // The next portion waits for this one: a server that is slow gets fewer heartbeats, not more at once.
      void this.#work.then(() => this.#schedule((portion + due) % steps))
    }
    this.#timer = clock.setTimer(stepMs, beat, { housekeeping: true })
  }

  /** The nodes of `count` portions from the `first` on, of `steps` in all. */
  #portions(first: number, count: number, steps: number): readonly NodeDescription[] {
    const size = Math.ceil(this.#nodes.length / steps)
    const wanted = Array.from({ length: count }, (_, index) => ((first + index) % steps) * size)
    return wanted.flatMap((start) => this.#nodes.slice(start, start + size))
  }

  async #register(description: NodeDescription, { onFailure, persists = false }: RegisterOptions): Promise<void> {
    const { clock, logger } = this.#environment
    let told = ''
    for (let retryMs = registerRetryFirstMs; ; retryMs = Math.min(2 * retryMs, registerRetryMaxMs)) {
      try {
        const node = await this.#ensureNode(description)
        this.#known.set(description.name, node)
        await this.#renew(description, node)
        return
      } catch (error) {
        if (this.#closed || (!persists && isRefusal(error))) throw error
        const message = error instanceof Error ? error.message : String(error)
        if (message !== told) logger.warn('node not registered, will try again', { node: description.name, error })
        told = message
        onFailure?.()
        await sleep(clock, retryMs, this.#closing.signal)
      }
    }
  }

  /** Creates the node, or brings the one that is there up to date. */
  async #ensureNode(description: NodeDescription): Promise<Node> {
    const now = this.#environment.clock.now()
    try {
      const seen = await description.observe?.()
      const created = await this.#client.create(nodes, nodeObject(description, now, seen), {
        because: 'the node agent has started',
      })
      // A server that keeps status apart drops it on creation.
      return await this.#report(description, created)
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
    }
    const current = await this.#client.get(nodes, { name: description.name })
    return this.#report(description, await this.#label(description, current))
  }

  async #label(description: NodeDescription, current: Node): Promise<Node> {
    if (description.status !== undefined) return current
    const labels = nodeLabels(description.name, description.facts, description.labels)
    const missing = Object.entries(labels).some(([name, value]) => current.metadata.labels?.[name] !== value)
    if (!missing) return current
    const because = 'the node agent was started with other labels'
    const body = { metadata: { labels } }
    const cause = agentCause(current, because, undefined)
    return this.#client.patch(nodes, { name: description.name }, { type: 'merge', body }, cause)
  }

  async #report(description: NodeDescription, current: Node): Promise<Node> {
    const now = this.#environment.clock.now()
    const { status } = current
    const seen = await description.observe?.()
    if (seen === undefined && status !== undefined && now < (this.#enough.get(status) ?? 0)) return current
    const next = nodeStatus(description, status, now, seen)
    if (!isWorthReporting(status, next, now)) {
      if (status !== undefined) this.#enough.set(status, reportAgainMs(status))
      return current
    }
    const changed = Object.entries(next).filter(
      ([part, value]) => !deepEqual(status?.[part as keyof typeof next], value),
    )
    // Conditions of others must not be lost to a race.
    const { resourceVersion } = current.metadata
    const body = {
      metadata: { resourceVersion },
      status: { ...Object.fromEntries(changed), ...withoutGone(status, next) },
    }
    const because = changed.length === 0 ? 'the node is as it was' : describeStatusChange(status, next)
    const cause = agentCause(current, because, undefined)
    return this.#inTime((limit) => {
      const options = { subresource: 'status', ...cause, ...limit }
      return this.#client.patch(nodes, { name: description.name }, { type: 'merge', body }, options)
    })
  }

  async #beat(description: NodeDescription): Promise<void> {
    const { name } = description
    try {
      const node = await this.#inTime((limit) => this.#client.get(nodes, { name }, limit))
      this.#known.set(name, node)
      await this.#renew(description, node)
      await this.#report(description, node)
      this.#warned.delete(name)
    } catch (error) {
      // Someone else wrote just now: the next beat sees it.
      if (hasReason(error, 'Conflict') || this.#closed || this.#warned.has(name)) return
      this.#warned.add(name)
      this.#environment.logger.warn('node heartbeat failed', { node: name, error })
    }
  }

  async #renew({ name }: NodeDescription, node: Node): Promise<void> {
    const renewTime = formatMicroTime(this.#environment.clock.now())
    const key = { namespace: leaseNamespace, name }
    const body = { spec: { holderIdentity: name, leaseDurationSeconds, renewTime } }
    try {
      await this.#inTime((limit) => this.#client.patch(leases, key, { type: 'merge', body }, limit))
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
      await this.#inTime((limit) => this.#client.create(leases, leaseFor(name, node, renewTime), limit))
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  ['Forbidden', 'Invalid', 'Unauthorized'].some((reason) => hasReason(error, reason))

/** Patches what can be allocated so that nothing stays that the node has no more. */
function withoutGone({ allocatable: before = {} }: NodeStatus = {}, { allocatable: after = {} }: NodeStatus): object {
  const gone = Object.keys(before).filter((name) => after[name] === undefined)
  return gone.length === 0 ? {} : { allocatable: { ...after, ...Object.fromEntries(gone.map((name) => [name, null])) } }
}

function leaseFor(name: string, node: Node, renewTime: string): Lease {
  const { uid = '' } = node.metadata
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: leaseNamespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime },
  }
}

/** Calls `work` for each item, a bounded number at a time. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(concurrencyMax, items.length) }, worker))
}
