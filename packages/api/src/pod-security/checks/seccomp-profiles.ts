import { containersOf, type PodCheck } from '../check.ts'
import { distinct, quoted, settersText } from '../wording.ts'

/** Profiles that let all system calls through. */
export const forbiddenProfiles: PodCheck = (pod) => {
  const ofPod = forbiddenType(pod.spec.securityContext)
  const ofContainers = containersOf(pod).flatMap(({ name, securityContext }) => {
    const type = forbiddenType(securityContext)
    return type === undefined ? [] : [{ name, type }]
  })
  const types = distinct([...(ofPod === undefined ? [] : [ofPod]), ...ofContainers.map(({ type }) => type)])
  if (types.length === 0) return undefined
  const setters = settersText(
    ofPod !== undefined,
    ofContainers.map(({ name }) => name),
  )
  return {
    reason: 'seccompProfile',
    detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  }
}

function forbiddenType(
  context: { readonly seccompProfile?: { readonly type: string } | undefined } | undefined,
): string | undefined {
  const type = context?.seccompProfile?.type
  return type === 'RuntimeDefault' || type === 'Localhost' ? undefined : type
}
