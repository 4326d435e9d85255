import { deepEqual, isSidecar, type Pod, pods } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { nodeOf } from './node-of-pod.ts'
import { resizesPod, updates } from './stored-objects.ts'

/** What a pod on a node is changed to that not every version of the node agent can do has to be declared by its node (KEP-5328). */
export function nodeDeclaredFeatureValidator(registries: Registries): AdmissionPlugin {
  return {
    name: 'NodeDeclaredFeatureValidator',
    concerns: (target) => updates(target, pods) || resizesPod(target),
    validate(attributes, object) {
      const [pod, old] = [object as Pod, attributes.old as Pod]
      if (!pod.spec.nodeName || pod.spec === old.spec) return
      const required = requiredFeatures(pod, old)
      if (required.length === 0) return
      const node = nodeOf(registries, attributes, pod)
      const missing = required.filter((feature) => node.status?.declaredFeatures?.includes(feature) !== true)
      if (missing.length === 0) return
      const why = `pod update requires features ${missing.join(', ')} which are not available on node ${JSON.stringify(pod.spec.nodeName)}`
      throw forbiddenByAdmission(attributes, object, why)
    },
  }
}

/** What the node agent has to be capable of for the change, by upstream's names, in its order. */
function requiredFeatures({ spec }: Pod, { spec: before }: Pod): readonly string[] {
  const ofPod = !deepEqual(spec.resources, before.resources)
  const ofInitContainer = (before.initContainers ?? []).some(
    (old, index) => !isSidecar(old) && !deepEqual(old.resources ?? {}, spec.initContainers?.[index]?.resources ?? {}),
  )
  return [
    ...(ofPod ? ['InPlacePodLevelResourcesVerticalScaling'] : []),
    ...(ofInitContainer ? ['InPlacePodVerticalScalingInitContainers'] : []),
  ]
}
