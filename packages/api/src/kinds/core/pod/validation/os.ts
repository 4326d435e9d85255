import { type FieldError, forbiddenField, unsupportedField } from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import type { PodSpec } from '../pod-spec.ts'
import type { PodSecurityContext, SecurityContext } from '../security.ts'

/** Fields that mean nothing on the operating system the pod names (validateLinux, validateWindows). */
export function osErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  const name: string | undefined = spec.os?.name
  switch (name) {
    case 'linux':
      return linuxErrors(spec, path)
    case 'windows':
      return windowsErrors(spec, path)
    case undefined:
      return []
    default:
      // An empty name is said to be missing. Upstream names the whole field of one that is wrong.
      return name === '' ? [] : [unsupportedField(path.field('os'), name, operatingSystems)]
  }
}

const operatingSystems = ['linux', 'windows']

const linuxWhy = 'windows options cannot be set for a linux pod'
const windowsWhy = 'cannot be set for a windows pod'

const windowsSpecFields = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'] as const
/** Those that are set where they are false, too. */
const isPointer: ReadonlySet<string> = new Set(['hostUsers', 'shareProcessNamespace'])
const windowsPodFields: readonly (keyof PodSecurityContext)[] = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
]
const windowsContainerFields: readonly (keyof SecurityContext)[] = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
]

function linuxErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  return [
    ...forbidden(spec.securityContext, ['windowsOptions'], linuxWhy, path.field('securityContext')),
    ...containerContexts(spec, path).flatMap(([context, contextPath]) =>
      forbidden(context, ['windowsOptions'], linuxWhy, contextPath),
    ),
  ]
}

function windowsErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  const specFields = windowsSpecFields.filter(
    (name) => spec[name] === true || (spec[name] === false && isPointer.has(name)),
  )
  return [
    ...specFields.map((name) => forbiddenField(path.field(name), windowsWhy)),
    ...forbidden(spec.securityContext, windowsPodFields, windowsWhy, path.field('securityContext')),
    ...containerContexts(spec, path).flatMap(([context, contextPath]) =>
      forbidden(context, windowsContainerFields, windowsWhy, contextPath),
    ),
  ]
}

function forbidden<T extends object>(
  object: T | undefined,
  fields: readonly (keyof T & string)[],
  why: string,
  path: FieldPath,
): FieldError[] {
  return fields.filter((name) => object?.[name] !== undefined).map((name) => forbiddenField(path.field(name), why))
}

function containerContexts(
  spec: PodSpec,
  path: FieldPath,
): readonly (readonly [SecurityContext | undefined, FieldPath])[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map(
      ({ securityContext }, index) =>
        [securityContext, path.field(list).index(index).field('securityContext')] as const,
    ),
  )
}
