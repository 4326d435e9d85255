import type { Container, Pod } from '@coracle/api'
import type { Image } from '../runtimes/runtime.ts'
import { podText } from './pod-name.ts'

/**
 * Throws an Error in upstream's words where a container asks to be run as root and not to be, or might be run as root for what its image
 * says. What it says itself goes before what its pod says. Without an image nobody knows what that says.
 */
export function checkRunAsNonRoot(pod: Pod, { name, securityContext: own = {} }: Container, image?: Image): void {
  const { securityContext: shared = {} } = pod.spec
  const runAsNonRoot = own.runAsNonRoot ?? shared.runAsNonRoot
  const runAsUser = own.runAsUser ?? shared.runAsUser
  if (runAsNonRoot !== true) return
  const about = `(pod: "${podText(pod)}", container: ${name})`
  if (runAsUser === 0) throw new Error(`container's runAsUser breaks non-root policy ${about}`)
  if (runAsUser !== undefined || image === undefined) return
  if (image.username !== undefined) {
    throw new Error(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root ${about}`,
    )
  }
  if ((image.uid ?? 0) === 0) throw new Error(`container has runAsNonRoot and image will run as root ${about}`)
}
