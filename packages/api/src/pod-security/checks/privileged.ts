import { type Check, namesOfContainers, type PodCheck } from '../check.ts'
import { containersText } from '../wording.ts'

const check: PodCheck = (pod) => {
  const bad = namesOfContainers(pod, ({ securityContext }) => securityContext?.privileged === true)
  if (bad.length === 0) return undefined
  return { reason: 'privileged', detail: `${containersText(bad)} must not set securityContext.privileged=true` }
}

export const privileged: Check = { id: 'privileged', level: 'baseline', versions: [{ since: 0, check }] }
