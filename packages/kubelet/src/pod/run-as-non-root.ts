import type { Container, Pod } from '@coracle/api'
import { podText } from './pod-name.ts'

/**
 * Throws an Error in upstream's words where a container asks to be run as root and not to be. What it says itself goes before what its
 * pod says.
 */
export function checkRunAsNonRoot(pod: Pod, { name, securityContext: own = {} }: Container): void {
  const { securityContext: shared = {} } = pod.spec
  const runAsNonRoot = own.runAsNonRoot ?? shared.runAsNonRoot
  const runAsUser = own.runAsUser ?? shared.runAsUser
  if (runAsNonRoot !== true || runAsUser !== 0) return
  throw new Error(`container's runAsUser breaks non-root policy (pod: "${podText(pod)}", container: ${name})`)
}
