import {
  claimsOfPod,
  isClaimedBy,
  type KubernetesObject,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type StorageClass,
  whyVolumeMismatches,
} from '@coracle/api'
import type { Finding } from '@coracle/why'
import { hasEnded } from '../view.ts'
import { eventSays, isGoing, type Oracle, podNamed, says, unless, type World } from './oracle.ts'

const ofClaim =
  (check: (claim: PersistentVolumeClaim, finding: Finding, world: World) => string | undefined): Oracle =>
  (finding, object, world) =>
    check(object as PersistentVolumeClaim, finding, world)

const ofVolume =
  (check: (volume: PersistentVolume, finding: Finding, world: World) => string | undefined): Oracle =>
  (finding, object, world) =>
    check(object as PersistentVolume, finding, world)

const claimNamed = ({ view }: World, namespace: string | undefined, name: string) =>
  view.find('PersistentVolumeClaim', namespace, name) as PersistentVolumeClaim | undefined

const volumeNamed = ({ view }: World, name: string) =>
  view.find('PersistentVolume', undefined, name) as PersistentVolume | undefined

const classOf = ({ spec }: PersistentVolumeClaim, { view }: World): StorageClass | undefined =>
  [...view.all()].find(
    ({ kind, metadata }) => kind === 'StorageClass' && metadata.name === spec?.storageClassName,
  ) as unknown as StorageClass | undefined

const isPending = ({ status }: PersistentVolumeClaim): boolean => (status?.phase ?? 'Pending') === 'Pending'

/** Pods that use a claim and have not ended. */
const usersOf = ({ metadata }: KubernetesObject, { view }: World): readonly Pod[] =>
  view
    .list<Pod>('Pod')
    .filter(
      (pod) =>
        pod.metadata.namespace === metadata.namespace &&
        !hasEnded(pod) &&
        claimsOfPod(pod).includes(metadata.name ?? ''),
    )

/** The claims that a finding about a pod names at its end are the pod's own. */
function ownClaims({ because }: Finding, pod: Pod): readonly string[] {
  const told = (/: (\S.*)$|no claim (\S.*) in namespace/.exec(because) ?? [])
    .slice(1)
    .find((text) => text !== undefined)
  return (told ?? '').split(', ').filter((name) => claimsOfPod(pod).includes(name))
}

const claimUnbound: Oracle = (finding, object, world) => {
  const pod = object as Pod
  if ((pod.spec.nodeName ?? '') !== '') return `it is on ${pod.spec.nodeName}`
  if (/node|persistentvolumeclaim/i.test(finding.because)) return says('PodScheduled', 'False')(finding, pod, world)
  const names = ownClaims(finding, pod)
  const bound = names.filter((name) => claimNamed(world, pod.metadata.namespace, name)?.status?.phase === 'Bound')
  return names.length === 0 ? 'it uses no such claim' : unless(bound.length === 0, `bound is ${bound.join(', ')}`)
}

const claimMissing: Oracle = (finding, object, world) => {
  const names = ownClaims(finding, object as Pod)
  const there = names.filter((name) => claimNamed(world, object.metadata.namespace, name) !== undefined)
  return names.length === 0 ? 'it uses no such claim' : unless(there.length === 0, `there is ${there.join(', ')}`)
}

/** Whether a claim waits to be bound by its class, of that mode. */
function waitsFor(claim: PersistentVolumeClaim, world: World, mode: 'Immediate' | 'WaitForFirstConsumer') {
  const storageClass = classOf(claim, world)
  if (!isPending(claim)) return `it is ${claim.status?.phase}`
  if (storageClass === undefined) return `there is no class ${claim.spec?.storageClassName}`
  return unless(
    (storageClass.volumeBindingMode ?? 'Immediate') === mode,
    `its class binds ${storageClass.volumeBindingMode}`,
  )
}

const selectedNode = ({ metadata }: PersistentVolumeClaim): string | undefined =>
  metadata.annotations?.['volume.kubernetes.io/selected-node']

/** Findings about claims and volumes, and about the claims of pods, by their reasons. */
export const volumeOracles: Readonly<Record<string, Oracle>> = {
  ClaimUnbound: claimUnbound,
  ClaimMissing: claimMissing,
  VolumeNodeMismatch: says('PodScheduled', 'False'),
  NoVolumeFound: says('PodScheduled', 'False'),
  VolumeLimitReached: says('PodScheduled', 'False'),

  ClaimInUse: ofClaim((claim, { because }, world) => {
    const named = /pod (\S+) (?:uses|and)/.exec(because)?.[1]
    const isUsed = usersOf(claim, world).some(({ metadata }) => metadata.name === named)
    return unless(isGoing(claim) && isUsed, 'it does not go, or that pod does not use it')
  }),
  VolumeLost: ofClaim((claim) => unless(claim.status?.phase === 'Lost', `it is ${claim.status?.phase}`)),
  StorageClassMissing: ofClaim((claim, _, world) =>
    unless(isPending(claim) && classOf(claim, world) === undefined, 'it is bound, or its class is there'),
  ),
  VolumeMissing: ofClaim((claim, _, world) =>
    unless(volumeNamed(world, claim.spec?.volumeName ?? '') === undefined, 'that volume is there'),
  ),
  VolumeTaken: ofClaim((claim, _, world) => {
    const volume = volumeNamed(world, claim.spec?.volumeName ?? '')
    const isTaken = volume?.spec?.claimRef !== undefined && !isClaimedBy(volume, claim)
    return unless(isTaken, 'that volume is not for another claim')
  }),
  VolumeMismatch: ofClaim((claim, { because }, world) => {
    const volume = volumeNamed(world, claim.spec?.volumeName ?? '')
    const mismatch = volume === undefined ? undefined : whyVolumeMismatches(volume, claim)
    return unless(mismatch !== undefined && because.endsWith(mismatch), `it fits, or: ${mismatch}`)
  }),
  WaitsForFirstConsumer: ofClaim(
    (claim, _, world) =>
      waitsFor(claim, world, 'WaitForFirstConsumer') ??
      unless(usersOf(claim, world).length === 0, 'there is a pod that uses it'),
  ),
  WaitsForPodScheduled: ofClaim((claim, { because }, world) => {
    const pod = podNamed(world, claim.metadata.namespace, /pod (\S+) has none yet$/.exec(because)?.[1])
    if (selectedNode(claim) !== undefined) return `node ${selectedNode(claim)} is selected`
    if (pod === undefined || !usersOf(claim, world).includes(pod)) return 'no such pod uses it'
    return (
      waitsFor(claim, world, 'WaitForFirstConsumer') ?? unless((pod.spec.nodeName ?? '') === '', 'that pod has a node')
    )
  }),
  WaitsForProvisioner: ofClaim((claim, _, world) => {
    const isDelayed = classOf(claim, world)?.volumeBindingMode === 'WaitForFirstConsumer'
    if (isDelayed && selectedNode(claim) === undefined) return 'no node is selected'
    return unless(isPending(claim) && classOf(claim, world) !== undefined, 'it is bound, or has no class')
  }),
  ProvisioningFailed: eventSays,
  BindingUnderWay: ofClaim((claim, { because }, world) => {
    const volume = volumeNamed(world, /^volume (\S+) is (?:free|kept)/.exec(because)?.[1] ?? '')
    const fits = volume !== undefined && whyVolumeMismatches(volume, claim) === undefined
    return unless(
      isPending(claim) && fits && (volume.spec?.claimRef === undefined || isClaimedBy(volume, claim)),
      'it is bound, or that volume is not free',
    )
  }),
  NoVolumeFits: ofClaim((claim, _, { view }) => {
    const fitting = view
      .list<PersistentVolume>('PersistentVolume')
      .filter((volume) => volume.spec?.claimRef === undefined && whyVolumeMismatches(volume, claim) === undefined)
    return unless(isPending(claim) && fitting.length === 0, `${fitting[0]?.metadata.name} fits`)
  }),

  VolumeInUse: (finding, object, world) => {
    if (object.kind === 'Pod') return says('PodScheduled', 'False')(finding, object, world)
    const volume = object as PersistentVolume
    const claim = claimNamed(world, volume.spec?.claimRef?.namespace, volume.spec?.claimRef?.name ?? '')
    const isBound = claim !== undefined && isClaimedBy(volume, claim)
    return unless(isGoing(volume) && isBound, 'it does not go, or its claim is gone')
  },
  VolumeReleased: ofVolume(({ status, spec }) =>
    unless(status?.phase === 'Released' && spec?.persistentVolumeReclaimPolicy === 'Retain', `it is ${status?.phase}`),
  ),
  ReclaimFailed: ofVolume(({ status }) => unless(status?.phase === 'Failed', `it is ${status?.phase}`)),
}
