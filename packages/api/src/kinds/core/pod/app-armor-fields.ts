import { deepEqual } from '../../../equality.ts'
import { FieldPath } from '../../../field-path.ts'
import type { Pod } from './pod-schema.ts'
import type { AppArmorProfile } from './security.ts'

const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const localhostPrefix = 'localhost/'

/**
 * The pod with the AppArmor profiles that its annotations name, as containers had them before there was a field, in the fields of
 * containers that say nothing there (registry/core/pod applyAppArmorVersionSkew).
 */
export function withAppArmorFields(pod: Pod): Pod {
  const { annotations } = pod.metadata
  if (annotations === undefined || pod.spec.os?.name === 'windows') return pod
  if (!Object.keys(annotations).some((key) => key.startsWith(annotationPrefix))) return pod
  const ofPod = pod.spec.securityContext?.appArmorProfile
  const withField = <C extends NonNullable<Pod['spec']['ephemeralContainers']>[number]>(container: C): C => {
    const profile = profileOf(annotations[annotationPrefix + container.name])
    if (profile === undefined || container.securityContext?.appArmorProfile !== undefined) return container
    if (deepEqual(profile, ofPod)) return container
    fromAnnotations.add(profile)
    return { ...container, securityContext: { ...container.securityContext, appArmorProfile: profile } }
  }
  const { containers, initContainers } = pod.spec
  return {
    ...pod,
    spec: {
      ...pod.spec,
      containers: containers.map(withField),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withField) }),
    },
  }
}

/** Profiles that are in fields because annotations name them. */
const fromAnnotations = new WeakSet<AppArmorProfile>()

/** Warns of annotations of a new pod that gave a container its profile, or ought to have and could not. */
export function appArmorWarnings({ metadata: { annotations = {} }, spec }: Pod): readonly string[] {
  if (spec.os?.name === 'windows') return []
  return [...(spec.initContainers ?? []), ...(spec.containers ?? [])].flatMap(({ name, securityContext }) => {
    const key = annotationPrefix + name
    const annotation = annotations[key]
    if (annotation === undefined) return []
    const profile = securityContext?.appArmorProfile
    const isTold = profile === undefined ? profileOf(annotation) === undefined : fromAnnotations.has(profile)
    if (!isTold) return []
    return [appArmorDeprecation(FieldPath.of('metadata', 'annotations').key(key))]
  })
}

/** What is said of an annotation that is a field by now. */
export const appArmorDeprecation = (path: FieldPath): string =>
  `${path}: deprecated since v1.30; use the "appArmorProfile" field instead`

/** The profile that the value of an annotation means; undefined for one that means none. */
function profileOf(annotation: string | undefined): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  if (annotation === undefined || !annotation.startsWith(localhostPrefix)) return undefined
  const localhostProfile = annotation.slice(localhostPrefix.length)
  const isWrong = localhostProfile === '' || localhostProfile.trim() !== localhostProfile
  return isWrong ? undefined : { type: 'Localhost', localhostProfile }
}
