import { type Check, namesOfContainers, type PodCheck } from '../check.ts'
import { settersText } from '../wording.ts'

const check: PodCheck = (pod) => {
  const bad = namesOfContainers(pod, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true)
  const setters = settersText(pod.spec.securityContext?.windowsOptions?.hostProcess === true, bad)
  if (setters === '') return undefined
  return { reason: 'hostProcess', detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` }
}

export const windowsHostProcess: Check = {
  id: 'windowsHostProcess',
  level: 'baseline',
  versions: [{ since: 0, check }],
}
