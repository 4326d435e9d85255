import type { ContainerStats, ContainerStorage, PodSandboxStats } from '../runtime.ts'
import type { CriCalls } from './calls.ts'
import { ControlGroups } from './control-groups.ts'
import { containerStates } from './messages.ts'
import { labels, selectorOf } from './names.ts'
import type { SandboxStatuses } from './sandbox-statuses.ts'
import { SandboxTraffic } from './sandbox-traffic.ts'
import { containerStatsOf, podSandboxStatsOf } from './stats.ts'

/** What the sandboxes and containers of an agent use: what the runtime tells, completed from the kernel's own counters. */
export class Usage {
  readonly #calls: CriCalls
  readonly #agent: string
  readonly #sandboxes: SandboxStatuses
  readonly #controlGroups: ControlGroups
  readonly #traffic: SandboxTraffic

  constructor(calls: CriCalls, agent: string, sandboxes: SandboxStatuses) {
    this.#calls = calls
    this.#agent = agent
    this.#sandboxes = sandboxes
    this.#controlGroups = new ControlGroups(calls)
    this.#traffic = new SandboxTraffic(calls)
  }

  /** What containers use; those that do not run are left out. */
  async ofContainers(ids: readonly string[]): Promise<ReadonlyMap<string, ContainerStats>> {
    if (ids.length === 0) return new Map()
    const { stats } = await this.#calls.listContainerStats({ filter: this.#filter() })
    const wanted = new Set(ids)
    const found = new Map<string, ContainerStats>()
    for (const each of stats) {
      const id = each.attributes?.id ?? ''
      const used = wanted.has(id) ? containerStatsOf(each) : undefined
      if (used !== undefined) found.set(id, { ...(await this.#controlGroups.statsOf(id)), ...used })
    }
    return found
  }

  /** The disk that each container of a pod uses, all its runs together; `logDirectoryOf` says where the logs of the pod are. */
  async storageOf(podUid: string, logDirectoryOf: LogDirectoryOf): Promise<readonly ContainerStorage[]> {
    const filter = this.#filter(podUid)
    const [{ containers }, { stats }] = await Promise.all([
      this.#calls.listContainers({ filter }),
      this.#calls.listContainerStats({ filter }),
    ])
    const bytesOf = new Map(stats.map((each) => [each.attributes?.id, each.writableLayer?.usedBytes?.value]))
    const found = new Map<string, ContainerStorage>()
    for (const { id, metadata, labels: given, state } of containers) {
      const { [labels.podName]: podName = '', [labels.podNamespace]: podNamespace = '' } = given
      const name = metadata?.name ?? ''
      const layerBytes = state === containerStates.running ? bytesOf.get(id) : undefined
      if (found.has(name) && layerBytes === undefined) continue
      const logDirectory = logDirectoryOf({ podUid, podName, podNamespace }, name)
      found.set(name, { name, logDirectory, ...(layerBytes === undefined ? {} : { layerBytes }) })
    }
    return [...found.values()]
  }

  /** What sandboxes use beside their containers. */
  async ofSandboxes(): Promise<ReadonlyMap<string, PodSandboxStats>> {
    // Not all runtimes have this call. One that is away shows in the calls for containers.
    const { stats } = await this.#calls.listPodSandboxStats({ filter: this.#filter() }).catch(() => ({ stats: [] }))
    const found = new Map(stats.map((each) => [each.attributes?.id ?? '', podSandboxStatsOf(each)]))
    const sandboxes = await this.#sandboxes.list()
    const untold = sandboxes.filter(({ id, addresses }) => addresses.length > 0 && !found.get(id)?.interfaces)
    for (const { id } of untold) {
      const interfaces = await this.#traffic.interfacesOf(id)
      if (interfaces !== undefined) found.set(id, { ...found.get(id), interfaces })
    }
    return found
  }

  forgetContainer(id: string): void {
    this.#controlGroups.forget(id)
  }

  forgetSandbox(id: string): void {
    this.#traffic.forget(id)
  }

  #filter(podUid?: string) {
    return { labelSelector: selectorOf(this.#agent, podUid) }
  }
}

/** Where the logs of a pod's container are. */
type LogDirectoryOf = (
  pod: { readonly podUid: string; readonly podName: string; readonly podNamespace: string },
  containerName: string,
) => string
