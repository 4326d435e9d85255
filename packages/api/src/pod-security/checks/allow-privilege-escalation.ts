import { type Check, exceptOnWindows, namesOfContainers, type PodCheck } from '../check.ts'
import { containersText } from '../wording.ts'

const check: PodCheck = (pod) => {
  const bad = namesOfContainers(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  if (bad.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersText(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

/** Nobody gains more rights than their parent process has, as by set-user-ID files. */
export const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  versions: [
    { since: 8, check },
    { since: 25, check: exceptOnWindows(check) },
  ],
}
