import {
  ApiError,
  compareQuantity,
  deepEqual,
  type Node,
  type Pod,
  podRequests,
  quantitiesOf,
  wholeAmount,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { nodeOf } from './node-of-pod.ts'
import { resizesPod } from './stored-objects.ts'

/** A pod that is on a node gets no resources that this node could not give if it were empty, and those of Linux alone give others at all. */
export function podResize(registries: Registries): AdmissionPlugin {
  return {
    name: 'PodResizeValidator',
    concerns: resizesPod,
    validate(attributes, object) {
      const [pod, old] = [object as Pod, attributes.old as Pod]
      if (!pod.spec.nodeName || deepEqual(pod.spec, old.spec)) return
      const node = nodeOf(registries, attributes, pod)
      const system = node.metadata.labels?.['kubernetes.io/os'] ?? 'linux'
      if (system !== 'linux') {
        const why = `pod resize is only supported on linux nodes, node ${JSON.stringify(node.metadata.name)} is ${JSON.stringify(system)}`
        throw refusal(attributes, pod, why, 'UnsupportedPlatform')
      }
      const shortages = shortagesOf(pod, node)
      if (shortages.length === 0) return
      const why = `node didn't have enough allocatable resources: ${shortages.join('; ')}`
      throw refusal(attributes, pod, why, 'NodeCapacity')
    },
  }
}

function shortagesOf({ spec }: Pod, { status }: Node): readonly string[] {
  const [requests, allocatable] = [podRequests(spec), quantitiesOf(status?.allocatable)]
  return ['cpu', 'memory'].flatMap((name) => {
    const requested = requests.get(name)
    const offered = allocatable.get(name)
    if (requested === undefined || compareQuantity(requested, offered ?? '0') <= 0) return []
    const most = offered === undefined ? 0 : wholeAmount(name, offered)
    return [`${name}, requested: ${wholeAmount(name, requested)}, allocatable: ${most}`]
  })
}

function refusal(attributes: AdmissionAttributes, pod: Pod, why: string, cause: string): ApiError {
  const { code, reason, message, status } = forbiddenByAdmission(attributes, pod, why)
  return new ApiError(code, reason, message, { ...status.details, causes: [{ reason: cause }] })
}
