import type { Environment } from '@coracle/environment'
import type { AddressPool } from '../../addresses.ts'
import type { PodSandboxConfig } from '../runtime.ts'
import { newId } from './new-id.ts'
import type { RecordStore, SandboxRecord } from './record-store.ts'

/** The pod sandboxes of a node. Here they are no processes: a record on disk, and an address where the pod has one of its own. */
export class Sandboxes {
  readonly #environment: Environment
  readonly #records: RecordStore
  /** Undefined on hosts where all pods share an address. */
  readonly #addresses: AddressPool | undefined
  readonly #byId = new Map<string, SandboxRecord>()

  constructor(environment: Environment, records: RecordStore, addresses: AddressPool | undefined) {
    this.#environment = environment
    this.#records = records
    this.#addresses = addresses
  }

  /** Takes up those that an earlier node agent has recorded, with their addresses. */
  load(): void {
    for (const sandbox of this.#records.sandboxes()) {
      this.#byId.set(sandbox.id, sandbox)
      if (sandbox.ready) for (const address of sandbox.addresses) this.#addresses?.claim(address)
    }
  }

  get(id: string): SandboxRecord | undefined {
    return this.#byId.get(id)
  }

  /** A sandbox in which containers may run. Throws where there is none, or it was stopped. */
  ready(id: string): SandboxRecord {
    const sandbox = this.#byId.get(id)
    if (sandbox?.ready !== true) throw new Error(`sandbox ${id} is not ready`)
    return sandbox
  }

  /** Those of a pod, or of all pods. */
  list(podUid?: string): readonly SandboxRecord[] {
    const all = [...this.#byId.values()]
    return podUid === undefined ? all : all.filter((sandbox) => sandbox.podUid === podUid)
  }

  /** Records a new sandbox. Throws where the node has no address left for it. */
  create(config: PodSandboxConfig): SandboxRecord {
    const { podUid, podName, podNamespace, attempt, hostname } = config
    const sandbox: SandboxRecord = {
      id: newId(this.#environment.random),
      podUid,
      podName,
      podNamespace,
      attempt,
      hostname,
      ready: true,
      createdAtMs: this.#environment.clock.now(),
      addresses: config.hostNetwork ? [] : [this.#takeAddress(config.preferredAddress)],
    }
    this.#records.writeSandbox(sandbox)
    this.#byId.set(sandbox.id, sandbox)
    return sandbox
  }

  #takeAddress(preferred: string | undefined): string {
    if (this.#addresses === undefined) return '127.0.0.1'
    const address = this.#addresses.take(preferred)
    if (address === undefined) throw new Error('no free pod address is left on this node: delete pods that have ended')
    return address
  }

  /** Notes that a sandbox is no longer ready, and gives its address back. */
  stop(id: string): void {
    const sandbox = this.#byId.get(id)
    if (sandbox?.ready !== true) return
    const stopped = { ...sandbox, ready: false }
    this.#records.writeSandbox(stopped)
    this.#byId.set(id, stopped)
    for (const address of sandbox.addresses) this.#addresses?.release(address)
  }

  /** Forgets a sandbox, and with the last one of a pod the pod's logs and working directories. */
  remove(sandbox: SandboxRecord): void {
    this.#byId.delete(sandbox.id)
    this.#records.removeSandbox(sandbox)
    if (this.list(sandbox.podUid).length === 0) this.#records.removePod(sandbox)
  }
}
