import type { KubernetesObject } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { type AdmittedPod, createsPod, withSpec } from './pods.ts'

interface PriorityClass {
  readonly value: number
  readonly preemptionPolicy: string
}

const preempting = 'PreemptLowerPriority'

/** The classes of upstream's own components, there without being created. */
const systemClasses: Readonly<Record<string, PriorityClass>> = {
  'system-cluster-critical': { value: 2_000_000_000, preemptionPolicy: preempting },
  'system-node-critical': { value: 2_000_001_000, preemptionPolicy: preempting },
}

/** Turns a pod's priority class into its priority; without a class that is the global default, or 0. */
export function priority(registries: Registries): AdmissionPlugin {
  const classes = () => registries.byResource('scheduling.k8s.io', 'v1', 'priorityclasses')
  return {
    name: 'Priority',
    mutate(attributes, object) {
      if (!createsPod(attributes)) return object
      const pod = object as AdmittedPod
      const name = pod.spec.priorityClassName ?? ''
      const found = name === '' ? globalDefault(classes()?.storage.cache.values() ?? []) : classNamed(name)
      if (found === undefined) {
        throw forbiddenByAdmission(attributes, object, `no PriorityClass with name ${name} was found`)
      }
      const { value, preemptionPolicy, className } = found
      if (pod.spec.priority !== undefined && pod.spec.priority !== value) {
        throw forbiddenByAdmission(
          attributes,
          object,
          `the integer value of priority (${pod.spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
        )
      }
      return withSpec(pod, {
        priority: value,
        preemptionPolicy: pod.spec.preemptionPolicy ?? preemptionPolicy,
        ...(className === undefined ? {} : { priorityClassName: className }),
      })
    },
  }

  function classNamed(name: string): (PriorityClass & { readonly className?: string }) | undefined {
    const system = systemClasses[name]
    if (system !== undefined && Object.hasOwn(systemClasses, name)) return system
    const stored = classes()?.peek('', name)?.object
    return stored === undefined ? undefined : readClass(stored)
  }
}

/** The class that applies where none is named: of several the one with the least value, as upstream. */
function globalDefault(
  stored: Iterable<{ readonly object: KubernetesObject }>,
): PriorityClass & { readonly className?: string } {
  let found: (PriorityClass & { readonly className?: string }) | undefined
  for (const { object } of stored) {
    if ((object as unknown as { readonly globalDefault?: boolean }).globalDefault !== true) continue
    const each = readClass(object)
    if (found === undefined || each.value < found.value) found = { ...each, className: object.metadata.name ?? '' }
  }
  return found ?? { value: 0, preemptionPolicy: preempting }
}

function readClass(object: KubernetesObject): PriorityClass {
  const { value = 0, preemptionPolicy = preempting } = object as unknown as Partial<PriorityClass>
  return { value, preemptionPolicy }
}
