import { type Check, containersOf, type PodCheck } from '../check.ts'
import { distinct, plural } from '../wording.ts'
import { forbiddenProfiles } from './seccomp-profiles.ts'

/** How profiles were named before 1.19, when fields came for them. */
const podAnnotation = 'seccomp.security.alpha.kubernetes.io/pod'
const containerAnnotationPrefix = 'container.seccomp.security.alpha.kubernetes.io/'

const checkAnnotations: PodCheck = (pod) => {
  const keys = [podAnnotation, ...containersOf(pod).map(({ name }) => containerAnnotationPrefix + name)]
  const bad = keys.flatMap((key) => {
    const value = pod.annotations[key]
    return value === undefined || isAllowedValue(value) ? [] : [`${key}=${JSON.stringify(value)}`]
  })
  if (bad.length === 0) return undefined
  const shown = distinct(bad)
  return {
    reason: 'seccompProfile',
    detail: `forbidden ${plural('annotation', 'annotations', shown)} ${shown.join(', ')}`,
  }
}

function isAllowedValue(value: string): boolean {
  return value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')
}

/** Nobody does without the filter of system calls that they name. */
export const seccompProfileBaseline: Check = {
  id: 'seccompProfile_baseline',
  level: 'baseline',
  versions: [
    { since: 0, check: checkAnnotations },
    { since: 19, check: forbiddenProfiles },
  ],
}
