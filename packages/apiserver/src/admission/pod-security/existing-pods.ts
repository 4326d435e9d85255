import { compareText, type Pod } from '@coracle/api'
import { type LevelVersion, levelText, podViolations, violationReasons } from '@coracle/api/pod-security'

/** So many pods of a namespace are looked at when it is to enforce another level. */
export const checkedPodsMax = 3000

/** What is to be told of the pods of a namespace that violate what it is to enforce: of those that violate the same, together. */
export function warningsOfExistingPods(
  namespace: string,
  pods: readonly Pod[],
  enforce: LevelVersion,
): readonly string[] {
  const checked = unlikeFirst(pods).slice(0, checkedPodsMax)
  const violating = Map.groupBy(checked, ({ metadata, spec }) =>
    violationReasons(podViolations(enforce, { annotations: metadata.annotations ?? {}, spec })),
  )
  violating.delete('')
  const unchecked =
    checked.length < pods.length
      ? [
          `new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`,
        ]
      : []
  if (violating.size === 0) return unchecked
  return [
    ...unchecked,
    `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${levelText(enforce)}"`,
    ...[...violating].map(([reasons, those]) => `${namesText(those)}: ${reasons}`).sort(compareText),
  ]
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
