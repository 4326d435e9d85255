import { isJsonObject, setMember } from '../json.ts'
import type { CustomResourceScale } from '../kinds/apiextensions/custom-resource-definition-schema.ts'
import type { KubernetesObject } from '../meta.ts'
import type { ScaleMapping } from '../resource.ts'
import { fieldsOf, valueAt } from './custom-columns.ts'

/** Where a custom kind says that its counts are. */
export function customScale(paths: CustomResourceScale): ScaleMapping<KubernetesObject> {
  const wanted = fieldsOf(paths.specReplicasPath)
  const present = fieldsOf(paths.statusReplicasPath)
  const selector = fieldsOf(paths.labelSelectorPath ?? '')
  return {
    replicas: (object) => {
      const value = valueAt(object, wanted)
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0
    },
    missing: (object) => (valueAt(object, wanted) === undefined ? paths.specReplicasPath : undefined),
    statusReplicas: (object) => {
      const value = valueAt(object, present)
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0
    },
    selector: (object) => {
      const value = selector.length === 0 ? undefined : valueAt(object, selector)
      return typeof value === 'string' ? value : ''
    },
    withReplicas: (object, replicas) => withValueAt(object, wanted, replicas) as KubernetesObject,
  }
}

/** A copy with another value at a path; what is on the way and missing is made. */
function withValueAt(target: unknown, [first, ...rest]: readonly string[], value: unknown): unknown {
  if (first === undefined) return value
  const copy: Record<string, unknown> = { ...(isJsonObject(target) ? target : {}) }
  setMember(copy, first, withValueAt(valueAt(target, [first]), rest, value))
  return copy
}
