import { compareText, deepEqual, isExtendedResource, type Pod, type Toleration } from '@coracle/api'
import type { AdmissionPlugin } from './admission.ts'
import { type AdmittedPod, withSpec, writesPod } from './pods.ts'

/**
 * A pod that asks for an extended resource tolerates the taint of the same name: nodes that have such a resource can be kept for those
 * who need it.
 */
export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  mutate(attributes, object) {
    if (!writesPod(attributes)) return object
    const { spec } = object as Pod
    const asked = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}).filter(isExtendedResource),
    )
    const before = spec.tolerations ?? []
    const after = [...new Set(asked)].sort(compareText).reduce(tolerating, before)
    return after === before ? object : withSpec(object as AdmittedPod, { tolerations: after })
  },
}

function tolerating(tolerations: readonly Toleration[], key: string): readonly Toleration[] {
  const wanted: Toleration = { key, operator: 'Exists', effect: 'NoSchedule' }
  const isSame = ({ tolerationSeconds: _, ...toleration }: Toleration) => deepEqual(toleration, wanted)
  if (!tolerations.some(isSame)) return [...tolerations, wanted]
  // Such a taint is tolerated for good.
  return tolerations.map((each) => (isSame(each) ? wanted : each))
}
