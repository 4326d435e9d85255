import { compareText, type Pod } from '@coracle/api'
import { type LevelVersion, levelText, podViolations, violationReasons } from '@coracle/api/pod-security'
import type { Clock } from '@coracle/environment'

/** So many pods of a namespace are looked at when it is to enforce another level. */
export const checkedPodsMax = 3000
/** So long the request that changes the namespace waits for that. */
export const checkMsMax = 1000

/** What is to be told of the pods of a namespace that violate what it is to enforce: of those that violate the same, together. */
export function warningsOfExistingPods(
  namespace: string,
  pods: readonly Pod[],
  enforce: LevelVersion,
  clock: Pick<Clock, 'now'>,
): readonly string[] {
  const { violating, checked } = violatingPods(pods, enforce, clock)
  const unchecked =
    checked < pods.length
      ? [`new PodSecurity enforce level only checked against the first ${checked} of ${pods.length} existing pods`]
      : []
  if (violating.size === 0) return unchecked
  return [
    ...unchecked,
    `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${levelText(enforce)}"`,
    ...[...violating].map(([reasons, those]) => `${namesText(those)}: ${reasons}`).sort(compareText),
  ]
}

interface Checked {
  /** Pods that violate the level, by their reasons. */
  readonly violating: ReadonlyMap<string, readonly Pod[]>
  /** How many pods were looked at. */
  readonly checked: number
}

function violatingPods(pods: readonly Pod[], enforce: LevelVersion, clock: Pick<Clock, 'now'>): Checked {
  const deadlineMs = clock.now() + checkMsMax
  const violating = new Map<string, Pod[]>()
  let checked = 0
  for (const pod of unlikeFirst(pods).slice(0, checkedPodsMax)) {
    const { metadata, spec } = pod
    const reasons = violationReasons(podViolations(enforce, { annotations: metadata.annotations ?? {}, spec }))
    const alike = violating.get(reasons)
    if (alike !== undefined) alike.push(pod)
    else if (reasons !== '') violating.set(reasons, [pod])
    checked += 1
    if (clock.now() >= deadlineMs) break
  }
  return { violating, checked }
}

/** One pod of each controller before all others: those of one controller are much alike. */
function unlikeFirst(pods: readonly Pod[]): readonly Pod[] {
  const seen = new Set<string>()
  const alike = new Set<Pod>()
  for (const pod of pods) {
    const uid = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid
    if (uid === undefined) continue
    if (seen.has(uid)) alike.add(pod)
    seen.add(uid)
  }
  return [...pods.filter((pod) => !alike.has(pod)), ...alike]
}

function namesText(pods: readonly Pod[]): string {
  const [first = ''] = pods.map(({ metadata }) => metadata.name ?? '').sort(compareText)
  if (pods.length === 1) return first
  return pods.length === 2 ? `${first} (and 1 other pod)` : `${first} (and ${pods.length - 1} other pods)`
}
