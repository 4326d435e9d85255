import { limitRanges, type PersistentVolumeClaim, type Pod, persistentVolumeClaims, pods } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { Registries } from '../registries.ts'
import type { AdmissionAttributes, AdmissionPlugin, AdmissionTarget } from './admission.ts'
import { aggregated, forbiddenByAdmission } from './forbidden.ts'
import { creates, resizesPod, storedObjects, updates } from './stored-objects.ts'

/**
 * Gives containers what the limit ranges of their namespace say, and holds pods and claims to them. What they mean is loaded with the first
 * write that one of them is about: many clusters have none.
 */
export function limitRanger(registries: Registries, clock: Clock): AdmissionPlugin {
  const rangesFor = ({ namespace }: AdmissionAttributes) => storedObjects(registries, limitRanges, namespace)
  // Time stands still meanwhile where it is virtual.
  const loadLimits = () => clock.hold(import('./limits.ts'))
  return {
    name: 'LimitRanger',
    concerns: (target) => concernsPod(target) || writesClaim(target),
    mutate(attributes, object) {
      if (!concernsPod(attributes) || isGoing(attributes)) return object
      const ranges = rangesFor(attributes)
      if (ranges.length === 0) return object
      return loadLimits().then(({ withDefaultResources }) => withDefaultResources(object as Pod, ranges))
    },
    validate(attributes, object) {
      if (isGoing(attributes)) return
      const isOfPod = concernsPod(attributes)
      const ranges = rangesFor(attributes)
      if (ranges.length === 0) return
      return loadLimits().then(({ podLimitProblems, claimLimitProblems }) => {
        const problemsOf = isOfPod
          ? podLimitProblems(object as Pod)
          : claimLimitProblems(object as PersistentVolumeClaim)
        for (const range of ranges) {
          const problems = problemsOf(range)
          if (problems.length > 0) throw forbiddenByAdmission(attributes, object, aggregated(problems))
        }
      })
    },
  }
}

/** What is on its way out may go. */
const isGoing = ({ old }: AdmissionAttributes): boolean => old?.metadata.deletionTimestamp !== undefined

const concernsPod = (target: AdmissionTarget): boolean => creates(target, pods) || resizesPod(target)

const writesClaim = (target: AdmissionTarget): boolean =>
  creates(target, persistentVolumeClaims) || updates(target, persistentVolumeClaims)
