import { type Check, exceptOnWindows, namesOfContainers, type PodCheck } from '../check.ts'
import { containersText } from '../wording.ts'
import { forbiddenProfiles } from './seccomp-profiles.ts'

const check: PodCheck = (pod) => {
  const forbidden = forbiddenProfiles(pod)
  if (forbidden !== undefined || pod.spec.securityContext?.seccompProfile !== undefined) return forbidden
  const silent = namesOfContainers(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined)
  if (silent.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containersText(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  }
}

/** Everybody names a filter of system calls. */
export const seccompProfileRestricted: Check = {
  id: 'seccompProfile_restricted',
  level: 'restricted',
  versions: [
    { since: 19, check, overrides: ['seccompProfile_baseline'] },
    { since: 25, check: exceptOnWindows(check), overrides: ['seccompProfile_baseline'] },
  ],
}
