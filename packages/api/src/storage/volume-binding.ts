import type { Node } from '../kinds/core/node/node-schema.ts'
import { storageClassOfVolume } from '../kinds/core/persistent-volume/persistent-volume.ts'
import type { PersistentVolume } from '../kinds/core/persistent-volume/schema.ts'
import { storageClassOfClaim } from '../kinds/core/persistent-volume-claim/persistent-volume-claim.ts'
import type { PersistentVolumeClaim } from '../kinds/core/persistent-volume-claim/schema.ts'
import { type LabelSelectorMatcher, selectorFromLabelSelector } from '../label-selectors.ts'
import { type NodeMatcher, nodeTermMatcher } from '../placement/node-matcher.ts'
import { compareQuantity, parseQuantity, type Quantity } from '../quantity.ts'

/**
 * Whether the volume is kept for this claim: by name, and by identity where it names one (component-helpers'
 * IsVolumeBoundToClaim). Another claim that took the name of one that is gone is not meant.
 */
export function isClaimedBy({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { claimRef } = spec ?? {}
  if (claimRef?.name !== metadata.name || claimRef?.namespace !== metadata.namespace) return false
  return !claimRef?.uid || claimRef.uid === metadata.uid
}

/** From which nodes a volume can be used; undefined: from all. */
export function volumeNodeMatcher({ spec }: PersistentVolume): NodeMatcher | undefined {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms.map(nodeTermMatcher)
  return terms === undefined ? undefined : (node) => terms.some((matches) => matches(node))
}

/**
 * Why the claim cannot have the volume that it names, though nobody else has it; undefined where it can (upstream's
 * checkVolumeSatisfyClaim).
 */
export function whyVolumeMismatches(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) {
    return `the volume is marked for deletion ${JSON.stringify(volume.metadata.name)}`
  }
  if (compareQuantity(capacityOf(volume), requestOf(claim)) < 0) return 'requested PV is too small'
  if (storageClassOfVolume(volume) !== (storageClassOfClaim(claim) ?? '')) return 'storageClassName does not match'
  if (attributesClassOf(volume) !== attributesClassOf(claim)) return 'volumeAttributesClassName does not match'
  if (volumeModeOf(volume) !== volumeModeOf(claim)) return 'incompatible volumeMode'
  return hasAccessModes(volume, claim) ? undefined : 'incompatible accessMode'
}

/** With a file system, unless a volume or a claim says otherwise. */
export const volumeModeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string =>
  spec?.volumeMode || 'Filesystem'

/** Where a volume is looked for. */
export interface VolumeSearch {
  /** The node on which it is to be used. Undefined: its claim does not care, or has to wait for one to be chosen. */
  readonly node?: Node | undefined
  /** The claim waits for a node to be chosen: until then only a volume that is kept for it is its own. */
  readonly isDelayed?: boolean
  /** Volumes that have been chosen for other claims though it does not show yet, by name. */
  isTaken?(name: string): boolean
}

/**
 * The volume for a claim that names none: one that is kept for it, or the smallest of those that nobody has and that have what
 * it asks for (component-helpers' FindMatchingVolume). Without a node, one that offers fewer ways of access goes first, even before
 * one that is kept for the claim and offers more (findByClaim of upstream's binder). Undefined where there is none.
 */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  volumes: Iterable<PersistentVolume>,
  { node, isDelayed = false, isTaken = () => false }: VolumeSearch = {},
): PersistentVolume | undefined {
  const request = requestOf(claim)
  const wantedClass = storageClassOfClaim(claim) ?? ''
  const selector = selectorOf(claim)
  let best: PersistentVolume | undefined
  for (const volume of volumes) {
    const isKept = volume.spec?.claimRef !== undefined
    if (isKept && !isClaimedBy(volume, claim)) continue
    if (!isKept && (isDelayed || storageClassOfVolume(volume) !== wantedClass)) continue
    if (isTaken(volume.metadata.name ?? '') || !couldHold(volume, claim, request)) continue
    const isReachable = node === undefined || (volumeNodeMatcher(volume)?.(node) ?? true)
    // Who looks for a node leaves it to the binder whether the volume can be used as the claim asks (upstream's rule).
    if (isKept && node !== undefined) return isReachable ? volume : undefined
    if (!isKept && (volume.status?.phase !== 'Available' || !selector.matches(volume.metadata.labels))) continue
    if (!isReachable || !hasAccessModes(volume, claim)) continue
    if (best === undefined || goesBefore(volume, best, node === undefined)) best = volume
  }
  return best
}

/** What must hold of any volume, also of one that is kept for the claim. */
function couldHold(volume: PersistentVolume, claim: PersistentVolumeClaim, request: Quantity): boolean {
  return (
    volume.metadata.deletionTimestamp === undefined &&
    compareQuantity(capacityOf(volume), request) >= 0 &&
    volumeModeOf(volume) === volumeModeOf(claim) &&
    attributesClassOf(volume) === attributesClassOf(claim)
  )
}

function goesBefore(volume: PersistentVolume, other: PersistentVolume, byModes: boolean): boolean {
  const modes = byModes ? modesOf(volume) - modesOf(other) : 0
  if (modes !== 0) return modes < 0
  const isKept = volume.spec?.claimRef !== undefined
  if (isKept !== (other.spec?.claimRef !== undefined)) return isKept
  const size = compareQuantity(capacityOf(volume), capacityOf(other))
  return size < 0 || (size === 0 && (volume.metadata.name ?? '') < (other.metadata.name ?? ''))
}

/** In how many ways a volume can be accessed. */
const modesOf = ({ spec }: PersistentVolume): number => new Set(spec?.accessModes).size

function hasAccessModes({ spec }: PersistentVolume, { spec: wanted }: PersistentVolumeClaim): boolean {
  return (wanted?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode) === true)
}

const attributesClassOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string =>
  spec?.volumeAttributesClassName ?? ''

const everyVolume: Pick<LabelSelectorMatcher, 'matches'> = { matches: () => true }

const selectorOf = ({ spec }: PersistentVolumeClaim): Pick<LabelSelectorMatcher, 'matches'> =>
  spec?.selector === undefined ? everyVolume : selectorFromLabelSelector(spec.selector)

const nothing: Quantity = parseQuantity('0')

const requestOf = ({ spec }: PersistentVolumeClaim): Quantity =>
  parseQuantity(spec?.resources?.requests?.storage ?? '0')

/** Read once of each volume: a claim looks at all that nobody has. */
const capacities = new WeakMap<PersistentVolume, Quantity>()

function capacityOf(volume: PersistentVolume): Quantity {
  const known = capacities.get(volume)
  if (known !== undefined) return known
  const { storage } = volume.spec?.capacity ?? {}
  const capacity = storage === undefined ? nothing : parseQuantity(storage)
  capacities.set(volume, capacity)
  return capacity
}
