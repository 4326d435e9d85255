import { type FieldError, forbiddenField, invalidField, unsupportedField } from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import { compareQuantity, isQuantity } from '../../../../quantity.ts'
import { aggregateLimits, aggregateRequests } from '../pod-level-resources.ts'
import type { PodSpec } from '../pod-spec.ts'
import { isHugePages, isPodLevelResource, podLevelResources } from '../resource-names.ts'
import { resourceName, validateResources } from './resources.ts'

/** Resources of the pod as a whole, and how those of its containers fit into them: https://kep.k8s.io/2837. */
export function validatePodResources(spec: PodSpec, claimNames: ReadonlySet<string>, path: FieldPath): FieldError[] {
  const { resources } = spec
  if (resources === undefined) return []
  if (spec.os?.name === 'windows') return [forbiddenField(path, 'may not be set for a windows pod')]
  const claims = resources.claims?.length
    ? [forbiddenField(path.field('claims'), 'claims may not be set for Resources at pod-level')]
    : []
  return [
    ...claims,
    ...validateResources(resources, claimNames, path, podResourceName),
    ...requestErrors(spec, path.field('requests')),
    ...hugePageErrors(spec, path.field('limits')),
    ...limitErrors(spec, path.field('containers')),
  ]
}

function podResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = resourceName(name, path)
  return errors.length > 0 || isPodLevelResource(name) ? errors : [unsupportedField(path, name, podLevelResources)]
}

/** All containers together may not request more than the pod, of what the pod requests as a whole. */
function requestErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  const requests = spec.resources?.requests ?? {}
  return Object.entries(aggregateRequests(spec)).flatMap(([name, total]) => {
    const whole = requests[name]
    if (whole === undefined || !isPodLevelResource(name) || !isQuantity(whole)) return []
    if (compareQuantity(total, whole) <= 0) return []
    const rule = `must be greater than or equal to aggregate container requests of ${total}`
    return [invalidField(path.key(name), whole, rule)]
  })
}

/** Huge pages are not promised twice: those of all containers fit into what the pod may have. */
function hugePageErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  const limits = spec.resources?.limits ?? {}
  return Object.entries(aggregateLimits(spec)).flatMap(([name, total]) => {
    const whole = limits[name]
    if (whole === undefined || !isHugePages(name) || !isQuantity(whole)) return []
    if (compareQuantity(total, whole) <= 0) return []
    return [
      invalidField(path.key(name), whole, `must be greater than or equal to aggregate container limits of ${total}`),
    ]
  })
}

/** No container may be limited to more than the pod. */
function limitErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  const limits = spec.resources?.limits ?? {}
  return (spec.containers ?? []).flatMap(({ resources }, index) =>
    Object.entries(resources?.limits ?? {}).flatMap(([name, limit]) => {
      const whole = limits[name]
      if (whole === undefined || !isQuantity(whole) || !isQuantity(limit)) return []
      if (compareQuantity(limit, whole) <= 0) return []
      const limitPath = path.index(index).key(name).field('limits')
      return [invalidField(limitPath, limit, `must be less than or equal to pod limits of ${whole}`)]
    }),
  )
}
