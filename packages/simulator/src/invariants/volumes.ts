import type { PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet } from '@coracle/api'
import { type Change, hasEnded, type Invariant, labelOf, type View } from '../view.ts'
import { isHeldUpBefore } from './held-up.ts'

/** What is promised of volumes and the claims to them. */
export const volumeInvariants: readonly Invariant[] = [
  { name: 'a volume is bound to one claim', check: sharedVolume },
  { name: 'a claim is bound to one volume', check: secondVolume },
  { name: 'a claim stays bound to its volume', check: exchangedVolume },
  { name: 'a claim that a pod uses stays', check: claimTakenAway },
  { name: 'a volume that a claim has stays', check: volumeTakenAway },
  { name: 'in the end claims and volumes name each other', finally: unmatched },
  { name: 'in the end claims and volumes are protected', finally: unprotected },
  { name: 'in the end every pod of a stateful set has its claims', finally: missingClaims },
]

const claims = (view: View) => view.list<PersistentVolumeClaim>('PersistentVolumeClaim')
const volumes = (view: View) => view.list<PersistentVolume>('PersistentVolume')
const isBound = ({ status }: PersistentVolumeClaim | PersistentVolume): boolean => status?.phase === 'Bound'

function sharedVolume({ object }: Change, view: View): string | undefined {
  if (object?.kind !== 'PersistentVolumeClaim' || !isBound(object)) return undefined
  const { volumeName } = (object as PersistentVolumeClaim).spec ?? {}
  const other = claims(view).find(
    (each) => each.metadata.uid !== object.metadata.uid && isBound(each) && each.spec?.volumeName === volumeName,
  )
  return other === undefined ? undefined : `${labelOf(object)} and ${labelOf(other)} are bound to ${volumeName}`
}

function secondVolume({ object }: Change, view: View): string | undefined {
  if (object?.kind !== 'PersistentVolume' || !isBound(object)) return undefined
  const uid = (object as PersistentVolume).spec?.claimRef?.uid
  const other = volumes(view).find(
    (each) => each.metadata.uid !== object.metadata.uid && isBound(each) && each.spec?.claimRef?.uid === uid,
  )
  return other === undefined ? undefined : `${labelOf(object)} and ${labelOf(other)} are bound to one claim`
}

function exchangedVolume({ old, object }: Change): string | undefined {
  if (old === undefined || object?.kind !== 'PersistentVolumeClaim' || !isBound(old)) return undefined
  if (old.metadata.uid !== object.metadata.uid) return undefined
  const [before, after] = [old, object].map((each) => (each as PersistentVolumeClaim).spec?.volumeName)
  return before === after ? undefined : `${labelOf(object)} was bound to ${before}, and is to ${after}`
}

/** Judged by what whoever lets it go may have seen: a pod that has just come to a node may be too new. */
function claimTakenAway({ old, object }: Change, view: View): string | undefined {
  if (old?.kind !== 'PersistentVolumeClaim' || object !== undefined || !view.isCalm) return undefined
  const { namespace, name } = old.metadata
  const user = view
    .list<Pod>('Pod')
    .find(
      (pod) =>
        pod.metadata.namespace === namespace &&
        pod.spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name) === true &&
        view.recent<Pod>(pod.metadata.uid ?? '').every((each) => each.spec.nodeName !== undefined && !hasEnded(each)),
    )
  return user === undefined ? undefined : `${labelOf(old)} is gone, and ${labelOf(user)} uses it`
}

function volumeTakenAway({ old, object }: Change, view: View): string | undefined {
  if (old?.kind !== 'PersistentVolume' || object !== undefined || !view.isCalm || !isBound(old)) return undefined
  const claim = view.byUid((old as PersistentVolume).spec?.claimRef?.uid ?? '')
  return claim === undefined ? undefined : `${labelOf(old)} is gone, and ${labelOf(claim)} is bound to it`
}

function unmatched(view: View): readonly string[] {
  const byName = new Map(volumes(view).map((volume) => [volume.metadata.name, volume]))
  return claims(view)
    .filter(isBound)
    .filter((claim) => {
      const volume = byName.get(claim.spec?.volumeName)
      return volume === undefined || !isBound(volume) || volume.spec?.claimRef?.uid !== claim.metadata.uid
    })
    .map((claim) => `${labelOf(claim)} is bound to ${claim.spec?.volumeName}, which is not bound to it`)
}

function unprotected(view: View): readonly string[] {
  const lacking = (finalizer: string) => (each: PersistentVolumeClaim | PersistentVolume) =>
    each.metadata.deletionTimestamp === undefined && each.metadata.finalizers?.includes(finalizer) !== true
  return [
    ...claims(view).filter(lacking('kubernetes.io/pvc-protection')),
    ...volumes(view).filter(lacking('kubernetes.io/pv-protection')),
  ].map((each) => `${labelOf(each)} may go at any time`)
}

function missingClaims(view: View): readonly string[] {
  return view.list<StatefulSet>('StatefulSet').flatMap((set) =>
    view.podsOf(set.metadata.uid ?? '').flatMap((pod) =>
      (set.spec.volumeClaimTemplates ?? []).flatMap((template) => {
        const name = `${template.metadata?.name}-${pod.metadata.name}`
        const claim = view.find('PersistentVolumeClaim', set.metadata.namespace, name)
        const isAsItMustBe =
          claim === undefined ? isHeldUpBefore(pod, set, view) : isBound(claim as PersistentVolumeClaim)
        return isAsItMustBe ? [] : [`${labelOf(pod)} has no claim ${name} that is bound`]
      }),
    ),
  )
}
