import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Pod } from '@coracle/api'
import { aborted, type Environment } from '@coracle/environment'
import { usesClusterDns } from '../isolation/dns-config.ts'
import { podUidOf } from '../pod/pod-name.ts'
import type { Mount, Runtime } from '../runtimes/runtime.ts'
import { processHostsFile, sharedHosts } from './hosts-file.ts'
import { type PodNames, podNames } from './pod-names.ts'
import type { OpenServiceNames, ServiceNames } from './service-names.ts'
import { writeInPlace } from './write-in-place.ts'

const hostsPath = '/etc/hosts'
/** Beside the volumes of the pod, none of which can be called so. */
const fileName = 'etc.hosts'
/** A file of the node that is larger is no part of those of pods: each would be as large. */
export const nodeHostsBytesMax = 1024 * 1024

export interface HostsFilesParts {
  readonly environment: Environment
  readonly runtime: Pick<Runtime, 'listPodSandboxes'>
  /** Below it is a directory for each pod, by its uid. */
  readonly directory: string
  readonly clusterDomain: string
  /** Absent: nobody knows names of services. */
  readonly openServiceNames?: OpenServiceNames
  /** The pods of this node that have not ended. */
  readonly pods: () => readonly Pod[]
  /** The hosts file of the node. */
  readonly nodeHosts?: string
}

/** The file of a pod. */
interface PodHosts {
  readonly path: string
  readonly names: PodNames & { readonly hostNetwork: boolean }
  readonly addresses: readonly string[]
  /** Whose services it knows. Undefined: none. */
  readonly namespace: string | undefined
}

/** What pods have in common, and what it was made of. */
interface Shared {
  readonly nodeHosts: string
  readonly services: string
  readonly text: string
}

/**
 * The hosts files of pods whose processes share the network of their node: each is its pod's own, is mounted in its containers, and follows
 * services for as long as the pod runs. They are written one after the other, and only where something has changed.
 */
export class HostsFiles {
  readonly #parts: HostsFilesParts
  /** By the uid of the pod. */
  readonly #files = new Map<string, PodHosts>()
  /** By the namespace whose services are in it. */
  readonly #shared = new Map<string | undefined, Shared>()
  #opening: Promise<void> | undefined
  #services: ServiceNames | undefined
  #unsubscribe: (() => void) | undefined
  #last: Promise<unknown> = Promise.resolve()
  #isDue = false
  #isStopped = false
  #toldOfNodeHosts = false

  constructor(parts: HostsFilesParts) {
    this.#parts = parts
  }

  /**
   * The mounts of a container with its pod's file, which holds what is known now; as they are where one is in its place, and where the pod has
   * neither services nor names that it adds: that of the node is good for it. Waits until services are known, and rejects where the signal is
   * aborted before; where it is not to wait for them, they come when they are known.
   */
  async withHosts(
    mounts: readonly Mount[],
    pod: Pod,
    addresses: readonly string[],
    signal: AbortSignal,
    { waits = true }: { readonly waits?: boolean } = {},
  ): Promise<readonly Mount[]> {
    if (mounts.some(({ containerPath }) => resolve('/', containerPath) === hostsPath)) return mounts
    const file = this.#fileOf(pod, addresses)
    if (file.namespace === undefined && file.names.hostAliases.length === 0) return mounts
    if (file.namespace !== undefined && this.#services === undefined) {
      const opened = this.#open()
      if (waits) await Promise.race([opened, aborted(signal)])
      else void opened.then(() => this.#rewrite()).catch(() => {})
      signal.throwIfAborted()
    }
    await this.#inTurn(async () => {
      await mkdir(dirname(file.path), { recursive: true, mode: 0o700 })
      await this.#write(file, await this.#sharedWith(file), true)
      this.#files.set(podUidOf(pod), file)
    })
    return [...mounts, { name: 'etc-hosts', containerPath: hostsPath, hostPath: file.path }]
  }

  /** Has files that an earlier life has made be true again. Never rejects. */
  async takeUp(): Promise<void> {
    const { runtime, pods, environment } = this.#parts
    try {
      const sandboxes = await runtime.listPodSandboxes()
      for (const pod of pods()) {
        const uid = podUidOf(pod)
        const sandbox = sandboxes.find(({ podUid, ready }) => podUid === uid && ready)
        if (sandbox === undefined) continue
        const file = this.#fileOf(pod, sandbox.addresses)
        if ((await stat(file.path).catch(() => undefined)) === undefined) continue
        if (file.namespace !== undefined) await this.#open()
        if (!this.#files.has(uid)) this.#files.set(uid, file)
      }
      this.#rewrite()
    } catch (error) {
      if (!this.#isStopped) environment.logger.warn('hosts files of pods that run are not followed up', { error })
    }
  }

  /** Writes nothing any more. Resolves when what is under way is done. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#unsubscribe?.()
    await this.#last
  }

  #fileOf(pod: Pod, addresses: readonly string[]): PodHosts {
    const { directory, clusterDomain, openServiceNames } = this.#parts
    return {
      path: join(directory, podUidOf(pod), fileName),
      names: { ...podNames(pod, clusterDomain), hostNetwork: pod.spec.hostNetwork === true },
      addresses,
      namespace: openServiceNames !== undefined && usesClusterDns(pod) ? (pod.metadata.namespace ?? '') : undefined,
    }
  }

  #open(): Promise<void> {
    this.#opening ??= this.#follow().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #follow(): Promise<void> {
    const services = await this.#parts.openServiceNames?.()
    if (this.#isStopped) return
    this.#services = services
    this.#unsubscribe = services?.subscribe(() => this.#rewrite())
  }

  /** Writes the files that are not as they should be, once for all who ask before it begins. */
  #rewrite(): void {
    if (this.#isDue) return
    this.#isDue = true
    void this.#inTurn(async () => {
      this.#isDue = false
      this.#shared.clear()
      const running = new Set(this.#parts.pods().map(podUidOf))
      const made = new Map<string | undefined, string>()
      for (const [uid, file] of this.#files) {
        if (!running.has(uid)) {
          this.#files.delete(uid)
          continue
        }
        const shared = made.get(file.namespace) ?? (await this.#sharedWith(file))
        made.set(file.namespace, shared)
        await this.#rewriteOne(uid, file, shared)
      }
    })
  }

  async #rewriteOne(uid: string, file: PodHosts, shared: string): Promise<void> {
    try {
      await this.#write(file, shared, false)
    } catch (error) {
      // Its pod is gone.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#files.delete(uid)
      else this.#parts.environment.logger.warn('a hosts file was not written', { path: file.path, error })
    }
  }

  async #write(file: PodHosts, shared: string, create: boolean): Promise<void> {
    await writeInPlace(file.path, processHostsFile(file.names, file.addresses, shared), { create })
  }

  async #sharedWith({ namespace }: PodHosts): Promise<string> {
    const nodeHosts = await this.#nodeHosts()
    const services = namespace === undefined ? '' : (this.#services?.lines(namespace) ?? '')
    const known = this.#shared.get(namespace)
    if (known?.nodeHosts === nodeHosts && known.services === services) return known.text
    const text = sharedHosts(nodeHosts, services)
    this.#shared.set(namespace, { nodeHosts, services, text })
    return text
  }

  async #nodeHosts(): Promise<string> {
    const { nodeHosts = hostsPath, environment } = this.#parts
    const size = await stat(nodeHosts).then(
      (found) => found.size,
      () => 0,
    )
    if (size <= nodeHostsBytesMax) return readFile(nodeHosts, 'utf8').catch(() => '')
    if (!this.#toldOfNodeHosts) {
      this.#toldOfNodeHosts = true
      environment.logger.warn('the hosts file of the node is too large for those of pods: they do without its names', {
        path: nodeHosts,
      })
    }
    return ''
  }

  /** Work with files, one after the other. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#parts.environment.clock.hold(this.#last.then(work))
    this.#last = done.catch(() => {})
    return done
  }
}
