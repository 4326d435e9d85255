import { type Check, exceptInUserNamespaces, namesOfContainers, type PodCheck } from '../check.ts'
import { settersText } from '../wording.ts'

const check: PodCheck = (pod) => {
  const bad = namesOfContainers(pod, ({ securityContext }) => securityContext?.runAsUser === 0)
  const setters = settersText(pod.spec.securityContext?.runAsUser === 0, bad)
  return setters === '' ? undefined : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` }
}

export const runAsUser: Check = {
  id: 'runAsUser',
  level: 'restricted',
  versions: [
    { since: 23, check },
    { since: 35, check: exceptInUserNamespaces(check) },
  ],
}
