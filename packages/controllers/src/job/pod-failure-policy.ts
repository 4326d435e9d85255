/** What follows from the failure of a pod, by the Job's rules: https://kep.k8s.io/3329. */
import type { ContainerStatus, Job, Pod, PodFailurePolicyRule } from '@coracle/api'

/** The first rule that applies to a pod: its action, and for FailJob what the Job is to say. */
export interface FailureVerdict {
  readonly action: string
  readonly message: string
}

/** Undefined where no rule applies: the failure is counted. */
export function judgeFailure({ spec }: Job, pod: Pod): FailureVerdict | undefined {
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const reason = reasonOf(rule, pod)
    if (reason !== undefined) {
      return { action: rule.action, message: `${reason} matching ${rule.action} rule at index ${index}` }
    }
  }
  return undefined
}

function reasonOf({ onExitCodes, onPodConditions = [] }: PodFailurePolicyRule, pod: Pod): string | undefined {
  const { namespace, name } = pod.metadata
  if (onExitCodes !== undefined) {
    const { containerName, operator, values } = onExitCodes
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {}
    const found = [...containerStatuses, ...initContainerStatuses].find((status) => {
      const code = exitCodeOf(status)
      if (code === undefined || code === 0 || (containerName !== undefined && containerName !== status.name))
        return false
      return values.includes(code) === (operator === 'In')
    })
    if (found === undefined) return undefined
    return `Container ${found.name} for pod ${namespace}/${name} failed with exit code ${exitCodeOf(found)}`
  }
  const conditions = pod.status?.conditions ?? []
  const found = conditions.find(({ type, status }) =>
    onPodConditions.some((pattern) => pattern.type === type && (pattern.status ?? 'True') === status),
  )
  return found === undefined ? undefined : `Pod ${namespace}/${name} has condition ${found.type}`
}

const exitCodeOf = ({ state }: ContainerStatus): number | undefined => state?.terminated?.exitCode
