import type { Container } from './container.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ContainerRestartRule } from './resources.ts'

type Restartable = Pick<Container, 'restartPolicy' | 'restartPolicyRules'>

/** The first of a container's rules that an exit code matches (KEP-5307). */
export function restartRuleFor(
  { restartPolicyRules = [] }: Restartable,
  exitCode: number,
): ContainerRestartRule | undefined {
  return restartPolicyRules.find(({ exitCodes: { operator, values = [] } = { operator: '' } }) => {
    if (operator === 'In') return values.includes(exitCode)
    return operator === 'NotIn' && !values.includes(exitCode)
  })
}

/** Whether a container that ended with `exitCode` runs again: its rules count before its own policy, and that before its pod's. */
export function restartsAfter(container: Restartable, spec: Pick<PodSpec, 'restartPolicy'>, exitCode: number): boolean {
  if (restartRuleFor(container, exitCode) !== undefined) return true
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always'
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}

/** Whether all containers of a pod start anew when this one ends with `exitCode` (KEP-5532). */
export function restartsAllAfter(container: Restartable, exitCode: number): boolean {
  return restartRuleFor(container, exitCode)?.action === 'RestartAllContainers'
}

/** Whether there is a way for a container to have all of its pod start anew. */
export function mayRestartAll({ initContainers = [], containers = [] }: Partial<PodSpec>): boolean {
  return [...initContainers, ...containers].some(
    ({ restartPolicyRules }) => restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers') === true,
  )
}
