import { type KubernetesObject, type PriorityClass, priorityClasses, systemPriorities } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'
import type { AdmissionPlugin, AdmissionTarget } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { type AdmittedPod, withSpec, writesPod } from './pods.ts'
import { creates, storedObject, storedObjects, updates } from './stored-objects.ts'

const preempting = 'PreemptLowerPriority'

/** What a pod gets by its class. */
interface Priority {
  readonly value: number
  readonly preemptionPolicy: string
  /** The class, where the pod did not name it. */
  readonly className?: string
}

/**
 * Turns the priority class of a new pod into its priority; without a class that is the global default, or 0. Of classes, only
 * one may be the default.
 */
export function priority(registries: Registries): AdmissionPlugin {
  let followed: WatchCache | undefined
  /** The global default, until a class changes. */
  let known: { readonly class: PriorityClass | undefined } | undefined
  return {
    name: 'Priority',
    concerns: (target) => writesPod(target) || writesClass(target),
    mutate(attributes, object) {
      if (!writesPod(attributes)) return object
      const pod = object as AdmittedPod
      if (attributes.operation === 'UPDATE') return keepingPriority(pod, attributes.old as AdmittedPod)
      const name = pod.spec.priorityClassName ?? ''
      const found = name === '' ? defaultPriority() : priorityNamed(name)
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
      if (pod.spec.preemptionPolicy !== undefined && pod.spec.preemptionPolicy !== preemptionPolicy) {
        throw forbiddenByAdmission(
          attributes,
          object,
          `the string value of PreemptionPolicy (${pod.spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
        )
      }
      return withSpec(pod, {
        priority: value,
        preemptionPolicy,
        ...(className === undefined ? {} : { priorityClassName: className }),
      })
    },
    validate(attributes, object) {
      if (writesClass(attributes) && (object as PriorityClass).globalDefault === true) {
        const other = globalDefault()
        if (other === undefined || (attributes.operation === 'UPDATE' && other.metadata.name === attributes.name))
          return
        const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`
        throw forbiddenByAdmission(attributes, object, why)
      }
    },
  }

  /** The classes of the system are there even before they are stored. */
  function priorityNamed(name: string): Priority | undefined {
    const stored = storedObject(registries, priorityClasses, name)
    if (stored !== undefined) return priorityOf(stored)
    const value = Object.hasOwn(systemPriorities, name) ? systemPriorities[name] : undefined
    return value === undefined ? undefined : { value, preemptionPolicy: preempting }
  }

  function defaultPriority(): Priority {
    const found = globalDefault()
    if (found === undefined) return { value: 0, preemptionPolicy: preempting }
    return { ...priorityOf(found), className: found.metadata.name ?? '' }
  }

  /** The class that applies where none is named: of several the one with the least value, as upstream. Looked for when classes change. */
  function globalDefault(): PriorityClass | undefined {
    const cache = registries.of(priorityClasses)?.storage.cache
    if (cache === undefined || cache.size === 0) return undefined
    if (cache !== followed) {
      followed = cache
      known = undefined
      cache.onChange(() => {
        known = undefined
      })
    }
    known ??= { class: leastDefault(storedObjects(registries, priorityClasses)) }
    return known.class
  }
}

const leastDefault = (classes: readonly PriorityClass[]): PriorityClass | undefined =>
  classes
    .filter((each) => each.globalDefault === true)
    .reduce<PriorityClass | undefined>(
      (least, each) => (least === undefined || each.value < least.value ? each : least),
      undefined,
    )

/** What a pod was given stays when an update leaves it out, as one made from its manifest does. */
function keepingPriority(pod: AdmittedPod, { spec: old }: AdmittedPod): KubernetesObject {
  const { priority = old.priority, preemptionPolicy = old.preemptionPolicy } = pod.spec
  if (priority === pod.spec.priority && preemptionPolicy === pod.spec.preemptionPolicy) return pod
  return withSpec(pod, { priority, preemptionPolicy })
}

const writesClass = (target: AdmissionTarget): boolean =>
  creates(target, priorityClasses) || updates(target, priorityClasses)

const priorityOf = ({ value, preemptionPolicy = preempting }: PriorityClass): Priority => ({ value, preemptionPolicy })
