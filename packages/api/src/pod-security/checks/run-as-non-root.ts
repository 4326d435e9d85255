import { type Check, exceptInUserNamespaces, namesOfContainers, type PodCheck } from '../check.ts'
import { containersText, settersText } from '../wording.ts'

const reason = 'runAsNonRoot != true'

const check: PodCheck = (pod) => {
  const ofPod = pod.spec.securityContext?.runAsNonRoot
  const denying = namesOfContainers(pod, ({ securityContext }) => securityContext?.runAsNonRoot === false)
  const setters = settersText(ofPod === false, denying)
  if (setters !== '') return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` }
  if (ofPod === true) return undefined
  const silent = namesOfContainers(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  if (silent.length === 0) return undefined
  return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` }
}

export const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  level: 'restricted',
  versions: [
    { since: 0, check },
    { since: 35, check: exceptInUserNamespaces(check) },
  ],
}
