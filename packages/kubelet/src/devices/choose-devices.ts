import type { DeviceHealth } from './device-plugin.ts'

/** What there is to choose from. */
export interface DeviceChoice {
  readonly resource: string
  /** Undefined where no plugin offers the resource. */
  readonly devices: DeviceHealth | undefined
  /** What somebody else has. */
  readonly inUse: ReadonlySet<string>
  /** What init containers of the pod had, which have ended by then. */
  readonly reusable: readonly string[]
}

/** The devices that a container can still get, and those that it gets in any case. Throws what upstream's kubelet says where there are too few. Pure. */
export function offeredDevices(
  { resource, devices, inUse, reusable }: DeviceChoice,
  count: number,
): { readonly taken: readonly string[]; readonly available: readonly string[] } {
  if (devices === undefined) throw new Error(`cannot allocate unregistered device ${resource}`)
  const healthy = [...devices].flatMap(([id, isHealthy]) => (isHealthy ? [id] : []))
  if (healthy.length === 0) throw new Error(`no healthy devices present; cannot allocate unhealthy devices ${resource}`)
  const taken = reusable.slice(0, count)
  const available = healthy.filter((id) => !inUse.has(id))
  const needed = count - taken.length
  if (available.length < needed) {
    const amounts = `Requested: ${needed}, Available: ${available.length}`
    throw new Error(`requested number of devices unavailable for ${resource}. ${amounts}`)
  }
  return { taken, available }
}

/** So many devices: those that are taken, then those that its plugin prefers, then others in its order. Pure. */
export function chosenDevices(
  { taken, available }: ReturnType<typeof offeredDevices>,
  preferred: readonly string[],
  count: number,
): readonly string[] {
  const offered = new Set(available)
  return [...new Set([...taken, ...preferred.filter((id) => offered.has(id)), ...available])].slice(0, count)
}
