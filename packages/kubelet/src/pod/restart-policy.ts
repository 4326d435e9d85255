import { type Container, isSidecar, type PodSpec } from '@coracle/api'

/** Whether a regular container that ended with `exitCode` runs again: its own rules first, then its pod's (KEP-5307). */
export function restartsAfter(container: Container, spec: PodSpec, exitCode: number): boolean {
  for (const rule of container.restartPolicyRules ?? []) {
    const values = rule.exitCodes?.values ?? []
    if (rule.exitCodes?.operator === 'In' && values.includes(exitCode)) return true
    if (rule.exitCodes?.operator === 'NotIn' && !values.includes(exitCode)) return true
  }
  return isRestarted(container.restartPolicy ?? spec.restartPolicy ?? 'Always', exitCode)
}

/** Whether an init container that failed with `exitCode` is tried again. One that succeeded never is, unless a sidecar. */
export function initRestartsAfter(container: Container, spec: PodSpec, exitCode: number): boolean {
  if (isSidecar(container)) return true
  return exitCode !== 0 && restartsAfter(container, spec, exitCode)
}

/** Whether a container that the node agent itself has stopped starts again, however it ended. */
export function startsOver(container: Container, spec: PodSpec): boolean {
  return (container.restartPolicy ?? spec.restartPolicy) !== 'Never'
}

function isRestarted(policy: string, exitCode: number): boolean {
  if (policy === 'Always') return true
  return policy === 'OnFailure' && exitCode !== 0
}
