import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
  unsupportedField,
} from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import { structValue } from '../../../../internal-structs/struct-value.ts'
import type { PodSpec } from '../pod-spec.ts'
import {
  type AppArmorProfile,
  type PodSecurityContext,
  profileTypes,
  type SeccompProfile,
  type SecurityContext,
  type Sysctl,
} from '../security.ts'
import { checkLocalPath, checkRange, int32Max } from './checks.ts'
import { validateWindowsOptions } from './windows.ts'

/** A container's security settings (ValidateSecurityContext). `hostUsers` is false in a pod with users of its own. */
export function validateSecurityContext(
  context: SecurityContext | undefined,
  hostUsers: boolean,
  path: FieldPath,
): FieldError[] {
  if (context === undefined) return []
  return [
    ...checkRange(context.runAsUser, 0, int32Max, path.field('runAsUser')),
    ...checkRange(context.runAsGroup, 0, int32Max, path.field('runAsGroup')),
    ...(hostUsers && context.procMount === 'Unmasked'
      ? [invalidField(path.field('procMount'), 'Unmasked', '`hostUsers` must be false to use `Unmasked`')]
      : []),
    ...validateSeccomp(context.seccompProfile, path.field('seccompProfile')),
    ...escalationErrors(context, path),
    ...validateWindowsOptions(context.windowsOptions, path.field('windowsOptions')),
    ...validateAppArmor(context.appArmorProfile, path.field('appArmorProfile')),
  ]
}

/** The security settings of a pod (validatePodSpecSecurityContext), and what they rule out elsewhere in its spec. */
export function validatePodSecurity(spec: PodSpec, path: FieldPath): FieldError[] {
  const contextPath = path.field('securityContext')
  const context = spec.securityContext ?? {}
  return [
    ...validateIds(context, contextPath),
    ...(spec.shareProcessNamespace && spec.hostPID
      ? [
          invalidField(
            contextPath.field('shareProcessNamespace'),
            true,
            'ShareProcessNamespace and HostPID cannot both be enabled',
          ),
        ]
      : []),
    ...validateSysctls(context.sysctls, spec, contextPath.field('sysctls')),
    ...validateSeccomp(context.seccompProfile, contextPath.field('seccompProfile')),
    ...validateWindowsOptions(context.windowsOptions, contextPath.field('windowsOptions')),
    ...validateAppArmor(context.appArmorProfile, contextPath.field('appArmorProfile')),
    ...(context.seLinuxChangePolicy === undefined || context.seLinuxChangePolicy === 'Recursive'
      ? []
      : [unsupportedField(contextPath.field('seLinuxChangePolicy'), context.seLinuxChangePolicy, ['Recursive'])]),
    ...hostUsersErrors(spec, path),
  ]
}

function escalationErrors(context: SecurityContext, path: FieldPath): FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return []
  const errors: FieldError[] = []
  if (context.privileged) {
    errors.push(
      invalidField(
        path,
        structValue('core.SecurityContext', context),
        'cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      ),
    )
  }
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
    const rule = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'
    errors.push(invalidField(path, structValue('core.SecurityContext', context), rule))
  }
  return errors
}

function validateIds(context: PodSecurityContext, path: FieldPath): FieldError[] {
  return [
    ...checkRange(context.fsGroup, 0, int32Max, path.field('fsGroup')),
    ...checkRange(context.runAsUser, 0, int32Max, path.field('runAsUser')),
    ...checkRange(context.runAsGroup, 0, int32Max, path.field('runAsGroup')),
    ...(context.supplementalGroups ?? []).flatMap((id, index) =>
      checkRange(id, 0, int32Max, path.field('supplementalGroups').index(index)),
    ),
  ]
}

const sysctlNameMax = 253
const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlName = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`
const sysctlPattern = new RegExp(sysctlName)

function validateSysctls(sysctls: readonly Sysctl[] | undefined, spec: PodSpec, path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return (sysctls ?? []).flatMap(({ name }, index) => {
    if (!name) return []
    const namePath = path.index(index).field('name')
    const errors: FieldError[] = []
    if (name.length > sysctlNameMax || !sysctlPattern.test(name)) {
      errors.push(
        invalidField(namePath, name, `must have at most ${sysctlNameMax} characters and match regex ${sysctlName}`),
      )
    } else if (seen.has(name)) errors.push(duplicateField(namePath, name))
    seen.add(name)
    return [...errors, ...hostSysctlErrors(name, spec, namePath)]
  })
}

/** A parameter of a namespace that the pod shares with the node would change the node. */
function hostSysctlErrors(name: string, spec: PodSpec, path: FieldPath): FieldError[] {
  const dotted = name.replaceAll('/', '.')
  if (spec.hostNetwork && dotted.startsWith('net.')) {
    return [invalidField(path, name, "may not be specified when 'hostNetwork' is true")]
  }
  const isIpc =
    dotted.startsWith('kernel.shm') ||
    dotted.startsWith('kernel.msg') ||
    dotted === 'kernel.sem' ||
    dotted.startsWith('fs.mqueue.')
  return spec.hostIPC && isIpc ? [invalidField(path, name, "may not be specified when 'hostIPC' is true")] : []
}

function validateSeccomp(profile: SeccompProfile | undefined, path: FieldPath): FieldError[] {
  if (profile === undefined) return []
  const file = profile.localhostProfile
  const filePath = path.field('localhostProfile')
  if (profile.type !== 'Localhost') {
    const errors = typeErrors(profile.type, 'seccompProfile', path)
    if (file === undefined) return errors
    return [
      ...errors,
      invalidField(
        filePath,
        structValue('core.SeccompProfile', profile),
        'can only be set when seccomp type is Localhost',
      ),
    ]
  }
  if (file === undefined) return [requiredField(filePath, 'must be set when seccomp type is Localhost')]
  return checkLocalPath(file, filePath)
}

function typeErrors(type: string, of: string, path: FieldPath): FieldError[] {
  if (type === '') return [requiredField(path.field('type'), `type is required when ${of} is set`)]
  const known: readonly string[] = profileTypes
  return known.includes(type) ? [] : [unsupportedField(path.field('type'), type, known)]
}

/** The longest path that Linux takes. */
const pathMax = 4095

function validateAppArmor(profile: AppArmorProfile | undefined, path: FieldPath): FieldError[] {
  if (profile === undefined) return []
  const name = profile.localhostProfile
  const namePath = path.field('localhostProfile')
  if (profile.type !== 'Localhost') {
    const errors = typeErrors(profile.type, 'appArmorProfile', path)
    // Of a type that is none nothing more is said.
    if (name === undefined || errors.length > 0) return errors
    return [invalidField(namePath, name, 'can only be set when AppArmor type is Localhost')]
  }
  if (name === undefined) return [requiredField(namePath, 'must be set when AppArmor type is Localhost')]
  return [
    ...(name === '' ? [requiredField(namePath, 'must be set when AppArmor type is Localhost')] : []),
    ...(name.trim() === name ? [] : [invalidField(namePath, name, 'must not be padded with whitespace')]),
    ...(Buffer.byteLength(name) > pathMax ? [tooLongField(namePath, pathMax)] : []),
  ]
}

/** A pod with users of its own cannot share the namespaces of the node. */
function hostUsersErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  if (spec.hostUsers !== false) return []
  const why = 'when `hostUsers` is false'
  // Upstream writes two of the fields so.
  const shownNames = { hostNetwork: 'hostNetwork', hostPID: 'HostPID', hostIPC: 'HostIPC' } as const
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name] === true)
  const withDevices = (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ volumeDevices = [] }, index) =>
      volumeDevices.length === 0 ? [] : [path.field(list).index(index).field('volumeDevices')],
    ),
  )
  return [...shared.map((name) => path.field(shownNames[name])), ...withDevices].map((at) => forbiddenField(at, why))
}
