import type { SeLinuxOptions } from '../../kinds/core/pod/security.ts'
import { type Check, containersOf, type PodCheck } from '../check.ts'
import { distinct, plural, quoted, settersText } from '../wording.ts'

/** Only some types may be set, and neither users nor roles. */
function check(allowedTypes: readonly string[]): PodCheck {
  const isBad = ({ type = '', user = '', role = '' }: SeLinuxOptions): boolean =>
    !allowedTypes.includes(type) || user !== '' || role !== ''
  return (pod) => {
    const ofPod = [pod.spec.securityContext?.seLinuxOptions ?? {}].filter(isBad)
    const ofContainers = containersOf(pod).flatMap(({ name, securityContext }) => {
      const options = securityContext?.seLinuxOptions ?? {}
      return isBad(options) ? [{ name, options }] : []
    })
    const bad = [...ofPod, ...ofContainers.map(({ options }) => options)]
    if (bad.length === 0) return undefined
    const types = distinct(bad.flatMap(({ type = '' }) => (allowedTypes.includes(type) ? [] : [type])))
    const data = [
      ...(types.length === 0 ? [] : [`${plural('type', 'types', types)} ${quoted(types)}`]),
      ...(bad.some(({ user = '' }) => user !== '') ? ['user may not be set'] : []),
      ...(bad.some(({ role = '' }) => role !== '') ? ['role may not be set'] : []),
    ]
    const setters = settersText(
      ofPod.length > 0,
      ofContainers.map(({ name }) => name),
    )
    return {
      reason: 'seLinuxOptions',
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    }
  }
}

const types = ['', 'container_t', 'container_init_t', 'container_kvm_t']

export const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  level: 'baseline',
  versions: [
    { since: 0, check: check(types) },
    { since: 31, check: check([...types, 'container_engine_t']) },
  ],
}
