import {
  type KubernetesObject,
  limitRanges,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
} from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionAttributes, AdmissionPlugin, AdmissionTarget } from './admission.ts'
import { aggregated, forbiddenByAdmission } from './forbidden.ts'
import { claimLimitProblems, podLimitProblems, withDefaultResources } from './limits.ts'
import { creates, resizesPod, storedObjects, updates } from './stored-objects.ts'

/** Gives containers what the limit ranges of their namespace say, and holds pods and claims to them. */
export function limitRanger(registries: Registries): AdmissionPlugin {
  const rangesFor = ({ namespace }: AdmissionAttributes) => storedObjects(registries, limitRanges, namespace)
  return {
    name: 'LimitRanger',
    concerns: (target) => concernsPod(target) || writesClaim(target),
    mutate(attributes, object) {
      if (!creates(attributes, pods) && !resizesPod(attributes)) return object
      const ranges = rangesFor(attributes)
      return ranges.length === 0 ? object : withDefaultResources(object as Pod, ranges)
    },
    validate(attributes, object) {
      const problemsOf = checkOf(attributes, object)
      if (problemsOf === undefined) return
      for (const range of rangesFor(attributes)) {
        const problems = problemsOf(range)
        if (problems.length > 0) throw forbiddenByAdmission(attributes, object, aggregated(problems))
      }
    },
  }
}

const concernsPod = (target: AdmissionTarget): boolean => creates(target, pods) || resizesPod(target)

const writesClaim = (target: AdmissionTarget): boolean =>
  creates(target, persistentVolumeClaims) || updates(target, persistentVolumeClaims)

/** How limits apply to what a request writes; undefined where they do not. What is on its way out may go. */
function checkOf(attributes: AdmissionAttributes, object: KubernetesObject | undefined) {
  if (concernsPod(attributes)) return podLimitProblems(object as Pod)
  const isEnding = attributes.old?.metadata.deletionTimestamp !== undefined
  return isEnding ? undefined : claimLimitProblems(object as PersistentVolumeClaim)
}
