import { type Container, claimNameOfPod, type Pod, type ResourceClaim } from '@coracle/api'
import { podUidOf } from '../../pod/pod-name.ts'
import type { ClaimedDevices } from '../claimed-devices.ts'
import { ClaimRecords } from './claim-records.ts'
import type { DeviceDriver, PreparedDevice } from './device-driver.ts'

export interface ClaimPreparerOptions {
  /** The file that says which pods have which devices. */
  readonly path: string
  readonly driver: (name: string) => Pick<DeviceDriver, 'prepare' | 'unprepare'> | undefined
}

/**
 * Has drivers prepare the devices of claims before a pod of the node uses them, and take them back when the last such pod has ended. It is on
 * disk that a pod may have a claim before any driver hears of it. An agent that starts anew asks drivers again, as upstream's: after the
 * node has started anew nothing is prepared.
 */
export class ClaimPreparer implements ClaimedDevices {
  readonly #options: ClaimPreparerOptions
  readonly #records: ClaimRecords
  /** Claims that this agent has had prepared, by uid. */
  readonly #prepared = new Set<string>()
  /** What is done for each claim, one thing after the other. None rejects. */
  readonly #turns = new Map<string, Promise<void>>()

  constructor(options: ClaimPreparerOptions) {
    this.#options = options
    this.#records = new ClaimRecords(options.path)
  }

  async prepare(pod: Pod, claims: readonly ResourceClaim[]): Promise<void> {
    await this.#records.load()
    for (const claim of claims) await this.#inTurn(claim.metadata.uid ?? '', () => this.#prepare(podUidOf(pod), claim))
  }

  async cdiNames(pod: Pod, container: Container): Promise<readonly string[]> {
    const wanted = requestsOf(pod, container)
    if (wanted.length === 0) return []
    await this.#records.load()
    const { namespace = '' } = pod.metadata
    return wanted.flatMap(({ claim, request }) => {
      const record = this.#records.all().find((each) => each.namespace === namespace && each.name === claim)
      if (record === undefined)
        throw new Error(`unable to get claim info for ResourceClaim ${claim} in namespace ${namespace}`)
      const devices = Object.values(record.devices).flatMap((each) => each ?? [])
      return devices.filter((device) => isFor(device, request)).flatMap(({ cdiDeviceIds }) => cdiDeviceIds)
    })
  }

  async unprepare(podUid: string): Promise<void> {
    await this.#records.load()
    const claims = this.#records.all().filter(({ podUids }) => podUids.includes(podUid))
    for (const { uid } of claims) await this.#inTurn(uid, () => this.#unprepare(podUid, uid))
  }

  async podUids(): Promise<readonly string[]> {
    await this.#records.load()
    return [...new Set(this.#records.all().flatMap(({ podUids }) => podUids))]
  }

  async #prepare(podUid: string, claim: ResourceClaim): Promise<void> {
    const { namespace = '', name = '', uid = '' } = claim.metadata
    const results = claim.status?.allocation?.devices?.results
    if (claim.status?.allocation === undefined) throw new Error(`ResourceClaim ${name}: not allocated`)
    const drivers = [...new Set((results ?? []).map(({ driver }) => driver))]
    for (const driver of drivers) this.#driverFor(driver, name)
    const former = this.#records
      .all()
      .find((each) => each.namespace === namespace && each.name === name && each.uid !== uid)
    if (former !== undefined)
      throw new Error(
        `old ResourceClaim with same name ${name} and different UID ${former.uid} still exists (previous pod force-deleted?!)`,
      )
    const known = this.#records.get(uid)
    const podUids = [...new Set([...(known?.podUids ?? []), podUid])]
    const devices = known?.devices ?? Object.fromEntries(drivers.map((driver) => [driver, null]))
    const record = { namespace, name, uid, podUids, devices }
    if (known?.podUids.includes(podUid) !== true) await this.#records.set(record)
    if (this.#prepared.has(uid)) return
    const prepared: Record<string, readonly PreparedDevice[]> = {}
    for (const driver of drivers) prepared[driver] = await this.#driverFor(driver, name).prepare(record)
    await this.#records.set({ ...record, devices: prepared })
    this.#prepared.add(uid)
  }

  /** Others that have the claim keep it. */
  async #unprepare(podUid: string, uid: string): Promise<void> {
    const record = this.#records.get(uid)
    if (record === undefined || !record.podUids.includes(podUid)) return
    const podUids = record.podUids.filter((each) => each !== podUid)
    if (podUids.length > 0) return this.#records.set({ ...record, podUids })
    this.#prepared.delete(uid)
    for (const driver of Object.keys(record.devices)) await this.#driverFor(driver, record.name).unprepare(record)
    await this.#records.delete(uid)
  }

  #driverFor(driver: string, claim: string): Pick<DeviceDriver, 'prepare' | 'unprepare'> {
    const found = this.#options.driver(driver)
    if (found === undefined) throw new Error(`ResourceClaim ${claim}: DRA driver ${driver} is not registered`)
    return found
  }

  async #inTurn(uid: string, work: () => Promise<void>): Promise<void> {
    const mine = (this.#turns.get(uid) ?? Promise.resolve()).then(work)
    const quiet = mine.catch(() => {})
    this.#turns.set(uid, quiet)
    try {
      await mine
    } finally {
      if (this.#turns.get(uid) === quiet) this.#turns.delete(uid)
    }
  }
}

/** What of which claims a container is to have: all of a claim where the request is empty. */
function requestsOf(pod: Pod, container: Container): readonly { readonly claim: string; readonly request: string }[] {
  const asked = container.resources?.claims ?? []
  return (pod.spec.resourceClaims ?? []).flatMap((podClaim) => {
    const known = claimNameOfPod(pod, podClaim)
    if (typeof known === 'string') return []
    const own = asked.filter(({ name }) => name === podClaim.name)
    return own.map(({ request = '' }) => ({ claim: known.name, request }))
  })
}

const isFor = ({ requestNames }: PreparedDevice, request: string): boolean =>
  request === '' || requestNames.length === 0 || requestNames.includes(request)
