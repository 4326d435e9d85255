import {
  type AllocationResult,
  type DeviceClass,
  deviceClasses,
  type KubernetesObject,
  type Node,
  type ResourceClaim,
  type ResourceSlice,
  resourceClaims,
  resourceSlices,
} from '@coracle/api'
import type * as selectorModule from '@coracle/api/devices'
import type { DeviceSelectorProgram } from '@coracle/api/devices'
import { BoundedMap, type Client, compareVersions, createInformer, type Informer, keyText } from '@coracle/client'
import type { Environment } from '@coracle/environment'
import type { ClusterEvent } from '../cluster-event.ts'
import { AllocatedDevices } from './allocated-devices.ts'
import type * as allocatorModule from './allocator.ts'
import type { Allocation, DeviceOffer } from './allocator.ts'
import { DevicePools, type PooledDevice } from './pools.ts'

/** What is said of claims before there is any class or slice. */
export const noDevices = 'there are no devices'

/** Selectors that are kept compiled; the least recently used gives way. */
export const selectorsMax = 256

type SelectorModule = Pick<typeof selectorModule, 'compileDeviceSelector' | 'selectorVariables'>
type Selected = ReturnType<DeviceOffer['selects']>

/** What only clusters with devices need. */
interface Loaded {
  readonly selectors: SelectorModule
  readonly allocator: Pick<typeof allocatorModule, 'allocate'>
}

/** What a claim is about to get. */
interface Pending {
  readonly allocation: AllocationResult
  /** The version of the claim that has it; undefined while it is not written. */
  readonly version: string | undefined
}

/** What is known of claims and devices. Beside what the API shows it holds what claims are about to get. */
export class DeviceCache implements DeviceOffer {
  readonly use = new AllocatedDevices()
  readonly #claims: Informer<ResourceClaim>
  readonly #slices: Informer<ResourceSlice>
  readonly #classes: Informer<DeviceClass>
  readonly #environment: Environment
  readonly #onEvent: (event: ClusterEvent) => void
  /** By uid of the claim, until the API shows it. */
  readonly #pending = new Map<string, Pending>()
  #pools: DevicePools | undefined
  #loaded: Loaded | undefined
  #isLoading = false
  readonly #selectors = new BoundedMap<string, DeviceSelectorProgram | { readonly problem: string }>(selectorsMax)
  #selected = new WeakMap<PooledDevice, Map<string, Selected>>()

  /** `onEvent` is told of every change. */
  constructor(client: Client, environment: Environment, onEvent: (event: ClusterEvent) => void) {
    this.#environment = environment
    this.#onEvent = onEvent
    this.#claims = createInformer(client, resourceClaims, {}, environment)
    this.#slices = createInformer(client, resourceSlices, {}, environment)
    this.#classes = createInformer(client, deviceClasses, {}, environment)
  }

  /** Resolves when all that there is has been seen. */
  async start(): Promise<void> {
    this.#claims.addHandler({
      add: (claim) => this.#claimChanged(claim),
      update: (old, claim) => this.#claimChanged(claim, old),
      delete: (old) => {
        this.#pending.delete(old.metadata.uid ?? '')
        this.use.set(old.metadata.uid ?? '', undefined)
        this.#onEvent({ type: 'resource-claim-changed', old })
      },
    })
    const changed = (): void => {
      this.#pools = undefined
      this.#load()
      this.#onEvent({ type: 'devices-changed' })
    }
    for (const informer of [this.#slices, this.#classes] as unknown as readonly Informer<KubernetesObject>[]) {
      informer.addHandler({ add: changed, update: changed, delete: changed })
    }
    for (const informer of this.#informers) informer.start()
    await Promise.all(this.#informers.map((informer) => informer.waitForSync()))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.stop()))
  }

  /** Whether devices can be looked for: what finds them is loaded with the first class or slice. */
  get isReady(): boolean {
    return this.#loaded !== undefined
  }

  /** Finds devices that can be used on the node, for all of these claims together. */
  allocate(claims: readonly ResourceClaim[], node: Node): Allocation {
    if (claims.length === 0) return { results: [] }
    return this.#loaded?.allocator.allocate(claims, node, this) ?? { reason: noDevices }
  }

  claim(namespace: string | undefined, name: string): ResourceClaim | undefined {
    return this.#claims.get(keyText(namespace, name))
  }

  deviceClass(name: string): DeviceClass | undefined {
    return this.#classes.get(name)
  }

  devicesOn(node: Node): readonly PooledDevice[] {
    this.#pools ??= new DevicePools(this.#slices.list())
    return this.#pools.devicesOn(node)
  }

  selects(expression: string, device: PooledDevice): Selected {
    const known = this.#selected.get(device) ?? new Map<string, Selected>()
    const outcome = known.get(expression) ?? this.#ask(expression, device)
    known.set(expression, outcome)
    this.#selected.set(device, known)
    return outcome
  }

  /** Whether the claim is about to get devices. */
  isPending({ metadata: { uid = '' } }: ResourceClaim): boolean {
    return this.#pending.has(uid)
  }

  /** From here on the devices are the claim's, until the API shows what has become of it, or it is taken back. */
  assume({ metadata: { uid = '' } }: ResourceClaim, allocation: AllocationResult): void {
    this.#pending.set(uid, { allocation, version: undefined })
    this.use.set(uid, allocation)
  }

  /** The API has what was assumed of the claim: it is not taken back any more, and stays until the API shows that version or a later one. */
  written({ metadata: { uid = '', resourceVersion } }: ResourceClaim): void {
    const pending = this.#pending.get(uid)
    if (pending !== undefined) this.#pending.set(uid, { ...pending, version: resourceVersion })
  }

  restore({ metadata: { uid = '', namespace, name = '' } }: ResourceClaim): void {
    if (this.#pending.get(uid)?.version !== undefined || !this.#pending.delete(uid)) return
    const shown = this.claim(namespace, name)
    this.use.set(uid, shown?.metadata.uid === uid ? shown.status?.allocation : undefined)
  }

  #claimChanged(claim: ResourceClaim, old?: ResourceClaim): void {
    const { uid = '' } = claim.metadata
    const { allocation } = claim.status ?? {}
    const { version } = this.#pending.get(uid) ?? {}
    if (allocation !== undefined || (version !== undefined && isAtLeast(claim, version))) this.#pending.delete(uid)
    if (!this.#pending.has(uid)) this.use.set(uid, allocation)
    this.#onEvent({ type: 'resource-claim-changed', claim, ...(old === undefined ? {} : { old }) })
  }

  #load(): void {
    if (this.#isLoading) return
    this.#isLoading = true
    // Time stands still meanwhile where it is virtual.
    const loading = Promise.all([import('@coracle/api/devices'), import('./allocator.ts')])
    void this.#environment.clock.hold(loading).then(
      ([selectors, allocator]) => {
        this.#loaded = { selectors, allocator }
        this.#onEvent({ type: 'devices-changed' })
      },
      (error: unknown) => {
        this.#isLoading = false
        this.#environment.logger.error('what finds devices cannot be loaded', { error })
      },
    )
  }

  #ask(expression: string, { driver, device }: PooledDevice): Selected {
    if (this.#loaded === undefined) return { error: 'selectors are being loaded' }
    const { selectors } = this.#loaded
    const known = this.#selectors.get(expression) ?? this.#compile(expression, selectors)
    if ('problem' in known) return { error: known.problem }
    try {
      return known.matches(selectors.selectorVariables(driver, device))
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) }
    }
  }

  #compile(
    expression: string,
    { compileDeviceSelector }: SelectorModule,
  ): DeviceSelectorProgram | { readonly problem: string } {
    const compiled = compileDeviceSelector(expression)
    const kept = 'problem' in compiled ? compiled : compiled.selector
    this.#selectors.set(expression, kept)
    return kept
  }

  get #informers(): readonly Informer<never>[] {
    return [this.#claims, this.#slices, this.#classes] as unknown as readonly Informer<never>[]
  }
}

const isAtLeast = ({ metadata: { resourceVersion = '' } }: ResourceClaim, version: string): boolean =>
  compareVersions(resourceVersion, version) >= 0
