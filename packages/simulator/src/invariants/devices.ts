import { deviceId, type Pod, type ResourceClaim } from '@coracle/api'
import { type Change, hasEnded, type Invariant, labelOf, type View } from '../view.ts'

/** What is promised of devices and the claims to them. */
export const deviceInvariants: readonly Invariant[] = [
  { name: 'no device is allocated twice', check: sharedDevice },
  { name: 'a claim keeps its devices while it is used', check: exchangedDevices },
  { name: 'in the end claims are used by the pods that have them', finally: unreserved },
]

const claims = (view: View) => view.list<ResourceClaim>('ResourceClaim')

/** The devices that a claim has for itself. */
const devicesOf = ({ status }: ResourceClaim): readonly string[] =>
  (status?.allocation?.devices?.results ?? [])
    .filter(({ adminAccess, shareID }) => adminAccess !== true && shareID === undefined)
    .map(deviceId)

function sharedDevice({ object }: Change, view: View): string | undefined {
  if (object?.kind !== 'ResourceClaim') return undefined
  const own = devicesOf(object as ResourceClaim)
  const twice = own.find((device, index) => own.indexOf(device) !== index)
  if (twice !== undefined) return `${labelOf(object)} has ${twice} twice`
  for (const other of claims(view)) {
    if (other.metadata.uid === object.metadata.uid) continue
    const device = devicesOf(other).find((each) => own.includes(each))
    if (device !== undefined) return `${labelOf(object)} and ${labelOf(other)} have ${device}`
  }
  return undefined
}

function exchangedDevices({ old, object }: Change): string | undefined {
  if (old?.kind !== 'ResourceClaim' || object === undefined || old.metadata.uid !== object.metadata.uid)
    return undefined
  const [before, after] = [old as ResourceClaim, object as ResourceClaim]
  if ((after.status?.reservedFor ?? []).length === 0 || (before.status?.reservedFor ?? []).length === 0)
    return undefined
  const [had, has] = [devicesOf(before).join(), devicesOf(after).join()]
  return had === has ? undefined : `${labelOf(object)} had ${had}, and has ${has || 'none'}`
}

/** A pod on a node holds each of its claims, and a claim is held by nobody who is not there. */
function unreserved(view: View): readonly string[] {
  const byName = new Map(claims(view).map((claim) => [`${claim.metadata.namespace}/${claim.metadata.name}`, claim]))
  const running = view.list<Pod>('Pod').filter((pod) => pod.spec.nodeName !== undefined && !hasEnded(pod))
  const lacking = running.flatMap((pod) =>
    (pod.spec.resourceClaims ?? []).flatMap(({ name, resourceClaimName }) => {
      const made = pod.status?.resourceClaimStatuses?.find((each) => each.name === name)?.resourceClaimName
      const claim = byName.get(`${pod.metadata.namespace}/${resourceClaimName ?? made}`)
      const isHeld = claim?.status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid) === true
      return isHeld ? [] : [`${labelOf(pod)} runs without its claim ${name}`]
    }),
  )
  const stale = claims(view).flatMap((claim) =>
    (claim.status?.reservedFor ?? [])
      .filter(({ uid }) => view.byUid(uid) === undefined)
      .map(({ name }) => `${labelOf(claim)} is kept for pod ${name}, which is gone`),
  )
  return [...lacking, ...stale]
}
