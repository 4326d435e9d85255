import { type Pod, parseTime } from '@coracle/api'

/** What is to be done with the pods of a node that must be empty. */
export interface DrainPlan {
  readonly evict: readonly Pod[]
  /** What a person should know of it, in kubectl's words. */
  readonly warnings: readonly string[]
  /** Why it may not be done; then nothing is. */
  readonly refusals: readonly string[]
}

/** What the person who drains has agreed to lose. */
export interface DrainConsent {
  /** Pods that nobody makes again. */
  readonly force: boolean
  /** Pods of daemon sets stay where they are. */
  readonly ignoreDaemonSets: boolean
  /** What stands in volumes that go with their pods. */
  readonly deleteEmptyDirData: boolean
  /** Whether a pod has been on its way out for so long that it is left alone. */
  readonly isOverdue: (pod: Pod) => boolean
  /** Whether the daemon set that a pod names is there. */
  readonly hasDaemonSet: (pod: Pod) => boolean
}

type Verdict =
  | 'evict'
  | 'stay'
  | { readonly warning: string; readonly so: 'evict' | 'stay' }
  | { readonly refusal: string }

/**
 * When a pod that is being deleted is overdue for who waits for it no longer than `limitSeconds`; undefined where it is not being
 * deleted, or is waited for however long it takes (0). Whole seconds are counted, as in kubectl.
 */
export function overdueAtMs({ metadata: { deletionTimestamp } }: Pod, limitSeconds: number): number | undefined {
  if (deletionTimestamp === undefined || limitSeconds <= 0) return undefined
  return parseTime(deletionTimestamp) + (limitSeconds + 1) * 1000
}

/** Decides for each pod of a node. Pure: the same pods and the same consent give the same plan. */
export function planDrain(pods: readonly Pod[], consent: DrainConsent): DrainPlan {
  const evict: Pod[] = []
  const warnings = new Map<string, string[]>()
  const refusals = new Map<string, string[]>()
  for (const pod of pods) {
    const { refusal, warning, doesGo } = verdictOf(pod, consent)
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`
    if (refusal !== undefined) refusals.set(refusal, [...(refusals.get(refusal) ?? []), name])
    if (warning !== undefined) warnings.set(warning, [...(warnings.get(warning) ?? []), name])
    if (doesGo) evict.push(pod)
  }
  return {
    evict,
    warnings: texts(warnings),
    refusals: texts(refusals).map((text) => `cannot delete ${text}`),
  }
}

const texts = (grouped: ReadonlyMap<string, readonly string[]>): readonly string[] =>
  [...grouped].map(([text, names]) => `${text}: ${names.join(', ')}`)

/** The rules in kubectl's order; the first that keeps the pod has the last word. */
function verdictOf(pod: Pod, consent: DrainConsent) {
  let warning: string | undefined
  for (const rule of [ofOverdue, ofDaemonSet, ofMirror, withLocalStorage, withoutController]) {
    const verdict = rule(pod, consent)
    if (verdict === 'stay') return { warning: undefined, doesGo: false }
    if (verdict === 'evict') continue
    if ('refusal' in verdict) return { refusal: verdict.refusal, doesGo: false }
    warning = verdict.warning
    if (verdict.so === 'stay') return { warning, doesGo: false }
  }
  return { warning, doesGo: true }
}

const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

const controllerOf = ({ metadata }: Pod) => metadata.ownerReferences?.find(({ controller }) => controller === true)

function ofOverdue(pod: Pod, { isOverdue }: DrainConsent): Verdict {
  return isOverdue(pod) ? 'stay' : 'evict'
}

function ofDaemonSet(pod: Pod, { force, ignoreDaemonSets, hasDaemonSet }: DrainConsent): Verdict {
  const owner = controllerOf(pod)
  if (owner?.kind !== 'DaemonSet' || isFinished(pod)) return 'evict'
  if (!hasDaemonSet(pod)) {
    const text = `DaemonSet-managed Pods whose daemonset.apps ${JSON.stringify(owner.name)} is not found`
    return force ? { warning: `deleting ${text}`, so: 'evict' } : { refusal: text }
  }
  if (!ignoreDaemonSets) return { refusal: 'DaemonSet-managed Pods (use --ignore-daemonsets to ignore)' }
  return { warning: 'ignoring DaemonSet-managed Pods', so: 'stay' }
}

/** Pods that a node agent has from a file: nobody can evict them. */
function ofMirror({ metadata }: Pod): Verdict {
  return metadata.annotations?.['kubernetes.io/config.mirror'] === undefined ? 'evict' : 'stay'
}

function withLocalStorage(pod: Pod, { deleteEmptyDirData }: DrainConsent): Verdict {
  const hasEmptyDir = pod.spec.volumes?.some(({ emptyDir }) => emptyDir !== undefined) === true
  if (!hasEmptyDir || isFinished(pod)) return 'evict'
  return deleteEmptyDirData
    ? { warning: 'deleting Pods with local storage', so: 'evict' }
    : { refusal: 'Pods with local storage (use --delete-emptydir-data to override)' }
}

function withoutController(pod: Pod, { force }: DrainConsent): Verdict {
  if (controllerOf(pod) !== undefined || isFinished(pod)) return 'evict'
  return force
    ? { warning: 'deleting Pods that declare no controller', so: 'evict' }
    : { refusal: 'Pods that declare no controller (use --force to override)' }
}
