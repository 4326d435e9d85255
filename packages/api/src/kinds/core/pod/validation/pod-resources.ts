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
  // Not even an empty list.
  const claims =
    resources.claims === undefined
      ? []
      : [forbiddenField(path.field('claims'), 'claims may not be set for Resources at pod-level')]
  return [
    ...claims,
    ...validateResources(resources, claimNames, path, podResourceName),
    ...aggregateErrors('requests', spec, isPodLevelResource, path.field('requests')),
    ...aggregateErrors('limits', spec, isHugePages, path.field('limits')),
    ...limitErrors(spec, path.field('containers')),
  ]
}

function podResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = resourceName(name, path)
  return errors.length > 0 || isPodLevelResource(name) ? errors : [unsupportedField(path, name, podLevelResources)]
}

/**
 * All containers together may not have more than the pod as a whole, of what it says: neither requests, nor limits of huge pages, which
 * are not promised twice.
 */
function aggregateErrors(
  what: 'requests' | 'limits',
  spec: PodSpec,
  concerns: (name: string) => boolean,
  path: FieldPath,
): FieldError[] {
  const wholes = spec.resources?.[what] ?? {}
  const totals = what === 'requests' ? aggregateRequests(spec) : aggregateLimits(spec)
  return Object.entries(totals).flatMap(([name, total]) => {
    const whole = wholes[name]
    if (whole === undefined || !concerns(name) || !isQuantity(whole)) return []
    if (compareQuantity(total, whole) <= 0) return []
    const rule = `must be greater than or equal to aggregate container ${what} of ${total}`
    return [invalidField(path.key(name), whole, rule)]
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
