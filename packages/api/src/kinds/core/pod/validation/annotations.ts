/** What annotations of pods and of their templates may say: some are the old names of fields. */
import { type FieldError, forbiddenField, invalidField } from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import type { ObjectMeta } from '../../../../meta.ts'
import type { PodSpec } from '../pod-spec.ts'
import type { Toleration } from '../scheduling.ts'
import type { AppArmorProfile, SeccompProfile } from '../security.ts'
import { checkLocalPath, int32Max } from './checks.ts'
import { validateTolerations } from './scheduling.ts'

type Annotations = Readonly<Record<string, string>>

const noAnnotations: Annotations = {}

/** Marks pods that a node agent has from a file. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'
const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost'
const tolerationsAnnotation = 'scheduler.alpha.kubernetes.io/tolerations'
const seccompAnnotation = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompPrefix = 'container.seccomp.security.alpha.kubernetes.io/'
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const localhostPrefix = 'localhost/'
const int32Min = -(2 ** 31)
const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const

/** core/validation ValidatePodSpecificAnnotations. */
export function annotationErrors(annotations: Annotations | undefined, spec: PodSpec, path: FieldPath): FieldError[] {
  if (annotations === undefined) return []
  const errors: FieldError[] = []
  const mirror = annotations[mirrorAnnotation]
  if (mirror !== undefined && !spec.nodeName) {
    const rule = 'must set spec.nodeName if mirror pod annotation is set'
    errors.push(invalidField(path.key(mirrorAnnotation), mirror, rule))
  }
  errors.push(...tolerationErrors(annotations[tolerationsAnnotation], path))
  const cost = annotations[deletionCostAnnotation]
  if (cost !== undefined && !isDeletionCost(cost)) {
    errors.push(invalidField(path.key(deletionCostAnnotation), cost, 'must be a 32bit integer'))
  }
  let names: ReadonlySet<string> | undefined
  for (const [key, value] of Object.entries(annotations)) {
    if (key === seccompAnnotation || key.startsWith(seccompPrefix))
      errors.push(...seccompErrors(value, path.field(key)))
    if (!key.startsWith(appArmorPrefix)) continue
    names ??= new Set(containerLists.flatMap((list) => (spec[list] ?? []).map(({ name }) => name)))
    errors.push(...appArmorErrors(key.slice(appArmorPrefix.length), value, names, path.key(key)))
  }
  return errors
}

/** A list of tolerations as JSON. */
function tolerationErrors(text: string | undefined, path: FieldPath): FieldError[] {
  if (!text) return []
  let tolerations: unknown
  try {
    tolerations = JSON.parse(text)
  } catch (error) {
    return [invalidField(path, tolerationsAnnotation, error instanceof Error ? error.message : String(error))]
  }
  if (!Array.isArray(tolerations)) return []
  const listed = tolerations.filter((each): each is Toleration => typeof each === 'object' && each !== null)
  return validateTolerations(listed, path.field(tolerationsAnnotation))
}

/** A number of 32 bits without a plus sign or leading zeros. */
function isDeletionCost(text: string): boolean {
  if (!/^(?:0|-\d+|[1-9]\d*)$/.test(text)) return false
  const cost = Number(text)
  return cost >= int32Min && cost <= int32Max
}

function seccompErrors(profile: string, path: FieldPath): FieldError[] {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return []
  if (profile.startsWith(localhostPrefix)) return checkLocalPath(profile.slice(localhostPrefix.length), path)
  return [invalidField(path, profile, 'must be a valid seccomp profile')]
}

function appArmorErrors(container: string, profile: string, names: ReadonlySet<string>, path: FieldPath): FieldError[] {
  const errors = names.has(container) ? [] : [invalidField(path, container, 'container not found')]
  if (['', 'runtime/default', 'unconfined'].includes(profile) || profile.startsWith(localhostPrefix)) return errors
  return [...errors, invalidField(path, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)]
}

/** Where a profile is given by an annotation and by a field, both must say the same. */
export function profileMismatches(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  spec: PodSpec,
  path: FieldPath,
): FieldError[] {
  if (annotations === undefined) return []
  const contextPath = (list: (typeof containerLists)[number], index: number): FieldPath =>
    path.field(list).index(index).field('securityContext')
  const ofContainers = containerLists.flatMap((list) =>
    (spec[list] ?? []).flatMap(({ name, securityContext }, index) =>
      seccompMismatch(
        annotations[seccompPrefix + name],
        securityContext?.seccompProfile,
        contextPath(list, index).field('seccompProfile'),
      ),
    ),
  )
  const ofAppArmor = containerLists.flatMap((list) =>
    (spec[list] ?? []).flatMap(({ name, securityContext }, index) =>
      appArmorMismatch(
        annotations[appArmorPrefix + name],
        securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile,
        contextPath(list, index).field('appArmorProfile'),
      ),
    ),
  )
  return [
    ...seccompMismatch(
      annotations[seccompAnnotation],
      spec.securityContext?.seccompProfile,
      path.field('securityContext').field('seccompProfile'),
    ),
    ...ofContainers,
    ...(spec.os?.name === 'windows' ? [] : ofAppArmor),
  ]
}

/** The values of annotations that mean the same as a type of profile. */
const sameSeccomp: Readonly<Record<string, readonly string[]>> = {
  RuntimeDefault: ['runtime/default', 'docker/default'],
  Unconfined: ['unconfined'],
}
const sameAppArmor: Readonly<Record<string, readonly string[]>> = {
  RuntimeDefault: ['runtime/default'],
  Unconfined: ['unconfined'],
}

const seccompMismatch = (
  annotation: string | undefined,
  profile: SeccompProfile | undefined,
  path: FieldPath,
): FieldError[] => mismatch('seccomp', sameSeccomp, annotation, profile, path)

const appArmorMismatch = (
  annotation: string | undefined,
  profile: AppArmorProfile | undefined,
  path: FieldPath,
): FieldError[] => mismatch('apparmor', sameAppArmor, annotation, profile, path)

function mismatch(
  what: 'seccomp' | 'apparmor',
  same: Readonly<Record<string, readonly string[]>>,
  annotation: string | undefined,
  profile: SeccompProfile | AppArmorProfile | undefined,
  path: FieldPath,
): FieldError[] {
  if (annotation === undefined || profile === undefined) return []
  const otherType = forbiddenField(path.field('type'), `${what} type in annotation and field must match`)
  if (profile.type !== 'Localhost') {
    const values = same[profile.type]
    return values === undefined || values.includes(annotation) ? [] : [otherType]
  }
  if (!annotation.startsWith(localhostPrefix)) return [otherType]
  if (annotation.slice(localhostPrefix.length) === profile.localhostProfile) return []
  return [forbiddenField(path.field('localhostProfile'), `${what} profile in annotation and field must match`)]
}

/** core/validation ValidatePodSpecificAnnotationUpdates: what an update may not do to them. */
export function annotationUpdateErrors(
  annotations: Annotations = noAnnotations,
  old: Annotations = noAnnotations,
  path: FieldPath,
): FieldError[] {
  if (annotations === old) return []
  const fixed = (key: string): string | undefined => {
    if (key.startsWith(appArmorPrefix)) return 'AppArmor annotations'
    return key === mirrorAnnotation ? 'mirror pod annotation' : undefined
  }
  const errors: FieldError[] = []
  for (const [key, before] of Object.entries(old)) {
    const what = fixed(key)
    if (what === undefined || annotations[key] === before) continue
    errors.push(forbiddenField(path.key(key), `may not remove or update ${what}`))
  }
  for (const key of Object.keys(annotations)) {
    const what = fixed(key)
    if (what !== undefined && old[key] === undefined) errors.push(forbiddenField(path.key(key), `may not add ${what}`))
  }
  return errors
}
