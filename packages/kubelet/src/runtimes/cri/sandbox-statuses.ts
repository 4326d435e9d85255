import type { Decoded } from '@coracle/environment/grpc'
import { type PodSandboxStatus, RuntimeUnavailableError } from '../runtime.ts'
import { type CriCalls, isNotFound } from './calls.ts'
import { type listPodSandboxResponse, sandboxReady } from './messages.ts'
import { selectorOf } from './names.ts'

const nanosPerMs = 1_000_000

type ListedSandbox = Decoded<typeof listPodSandboxResponse>['items'][number]

/** Reads the statuses of an agent's sandboxes. Lists have no addresses: those are asked for once for each sandbox, and remembered. */
export class SandboxStatuses {
  readonly #calls: Pick<CriCalls, 'listPodSandbox' | 'podSandboxStatus'>
  readonly #agent: string
  /** Of sandboxes that are ready. */
  readonly #addresses = new Map<string, readonly string[]>()

  constructor(calls: Pick<CriCalls, 'listPodSandbox' | 'podSandboxStatus'>, agent: string) {
    this.#calls = calls
    this.#agent = agent
  }

  /** The sandboxes of a pod, or all that are the agent's. */
  async list(podUid?: string): Promise<readonly PodSandboxStatus[]> {
    const all = await Promise.all((await this.listed(podUid)).map((item) => this.#statusOf(item, podUid === undefined)))
    return all.filter((sandbox) => sandbox !== undefined)
  }

  /** The same as the runtime lists them, without addresses. */
  async listed(podUid?: string): Promise<readonly ListedSandbox[]> {
    const { items } = await this.#calls.listPodSandbox({ filter: { labelSelector: selectorOf(this.#agent, podUid) } })
    return items
  }

  async addressesOf(id: string): Promise<readonly string[]> {
    const known = this.#addresses.get(id)
    if (known !== undefined) return known
    const { status } = await this.#calls.podSandboxStatus({ podSandboxId: id })
    const { ip = '', additionalIps = [] } = status?.network ?? {}
    const addresses = [ip, ...additionalIps.map((each) => each.ip)].filter((each) => each !== '')
    this.#addresses.set(id, addresses)
    return addresses
  }

  /** Forgets the addresses of a sandbox, which has been stopped. */
  forget(id: string): void {
    this.#addresses.delete(id)
  }

  /**
   * Undefined where the sandbox has gone since it was listed. One of many is shown without its addresses where the runtime cannot tell them: it
   * must not hide the others.
   */
  async #statusOf(
    { id, metadata, state, createdAt }: ListedSandbox,
    isOneOfMany: boolean,
  ): Promise<PodSandboxStatus | undefined> {
    const ready = state === sandboxReady
    const addresses = () => (isOneOfMany ? this.addressesOf(id).catch(noneIfOdd) : this.addressesOf(id))
    try {
      return {
        id,
        podUid: metadata?.uid ?? '',
        podName: metadata?.name ?? '',
        podNamespace: metadata?.namespace ?? '',
        attempt: metadata?.attempt ?? 0,
        ready,
        createdAtMs: createdAt / nanosPerMs,
        addresses: ready ? await addresses() : [],
      }
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
}

/** Of a sandbox among many, of which the runtime can tell nothing now. */
function noneIfOdd(error: unknown): readonly string[] {
  if (isNotFound(error) || error instanceof RuntimeUnavailableError) throw error
  return []
}
