import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notFoundField,
  requiredField,
  tooManyField,
  unsupportedField,
} from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import {
  type Container,
  type ContainerPort,
  type EphemeralContainer,
  isSidecar,
  type VolumeDevice,
  type VolumeMount,
} from '../container.ts'
import { linuxSignals } from '../linux-signals.ts'
import type { PodSpec } from '../pod-spec.ts'
import type { ContainerResizePolicy, ContainerRestartRule } from '../resources.ts'
import type { Volume } from '../volume.ts'
import { checkLocalPath, checkNoBacksteps, checkPortNumber, checkText } from './checks.ts'
import { validateEnv, validateEnvFrom } from './env.ts'
import { type ProbeKind, validateLifecycle, validateProbe } from './probes.ts'
import { claimNamesOf, validateResources } from './resources.ts'
import { validateSecurityContext } from './security.ts'

/** What containers refer to in their pod, found once for all of them. */
interface PodParts {
  readonly spec: PodSpec
  readonly volumes: ReadonlyMap<string, Volume>
  readonly claims: ReadonlySet<string>
}

/** All three sorts of containers of a pod, and what must be unique among them. `path` is the spec's; they may mount `volumes`. */
export function validateAllContainers(
  spec: PodSpec,
  path: FieldPath,
  volumes: readonly Volume[] = spec.volumes ?? [],
): FieldError[] {
  const pod: PodParts = {
    spec,
    volumes: new Map(volumes.toReversed().map((each) => [each.name, each])),
    claims: claimNamesOf(spec),
  }
  return [
    ...validateContainers(pod, path.field('containers')),
    ...validateInitContainers(pod, path.field('initContainers')),
    ...validateEphemeralContainers(pod, path.field('ephemeralContainers')),
  ]
}

function validateContainers(pod: PodParts, path: FieldPath): FieldError[] {
  const { spec } = pod
  const containers = spec.containers ?? []
  // An absent list is the schema's to report.
  if (spec.containers?.length === 0) return [requiredField(path)]
  const names = new Set<string>()
  const errors = containers.flatMap((container, index) => {
    const containerPath = path.index(index)
    return [
      ...validateCommon(container, pod, containerPath),
      ...uniqueName(container, names, containerPath),
      ...validateHooks(container, spec, containerPath),
      ...restartErrors(container, containerPath),
    ]
  })
  return [...errors, ...hostPortConflicts(containers, path)]
}

function validateInitContainers(pod: PodParts, path: FieldPath): FieldError[] {
  const { spec } = pod
  const names = new Set((spec.containers ?? []).map(({ name = '' }) => name))
  return (spec.initContainers ?? []).flatMap((container, index) => {
    const containerPath = path.index(index)
    return [
      ...validateCommon(container, pod, containerPath),
      ...restartErrors(container, containerPath, { isInit: true }),
      ...uniqueName(container, names, containerPath, { isInit: true }),
      // They run one after the other, so each is on its own with its ports.
      ...hostPortConflicts([container], path),
      ...(isSidecar(container)
        ? validateHooks(container, spec, containerPath)
        : [...forbiddenHooks(container, containerPath), ...restartingResizes(container, containerPath)]),
    ]
  })
}

function validateEphemeralContainers(pod: PodParts, path: FieldPath): FieldError[] {
  const { spec } = pod
  const targets = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name = '' }) => name))
  const names = new Set(targets)
  return (spec.ephemeralContainers ?? []).flatMap((container, index) => {
    const containerPath = path.index(index)
    const target = container.targetContainerName
    return [
      ...validateCommon(container, pod, containerPath),
      ...imageWhitespace(container, containerPath),
      ...uniqueName(container, names, containerPath),
      ...(target && !targets.has(target) ? [notFoundField(containerPath.field('targetContainerName'), target)] : []),
      ...forbiddenForEphemeral(container, containerPath),
    ]
  })
}

/** Pods must name their images exactly; templates may be lax, since something may rewrite them. */
export function imageWhitespace(container: Container, path: FieldPath): FieldError[] {
  const { image = '' } = container
  if (image.trim() === image) return []
  return [invalidField(path.field('image'), image, 'must not have leading or trailing whitespace')]
}

/** What holds for every sort of container (validateContainerCommon). */
function validateCommon(container: Container, pod: PodParts, path: FieldPath): FieldError[] {
  const { spec, claims } = pod
  return [
    ...(container.image ? [] : [requiredField(path.field('image'))]),
    ...validatePorts(container.ports, path.field('ports')),
    ...validateEnv(container.env, path.field('env')),
    ...validateEnvFrom(container.envFrom, path.field('envFrom')),
    ...validateMounts(container, pod, path.field('volumeMounts')),
    ...validateDevices(container, pod, path.field('volumeDevices')),
    ...validateResources(container.resources, claims, path.field('resources')),
    ...validateResizePolicy(container.resizePolicy, spec, path.field('resizePolicy')),
    ...validateSecurityContext(container.securityContext, spec.hostUsers !== false, path.field('securityContext')),
  ]
}

/** Containers without a name share the empty one; init containers only with others. */
function uniqueName(
  { name = '' }: Container,
  names: Set<string>,
  path: FieldPath,
  { isInit = false } = {},
): FieldError[] {
  if (names.has(name)) return [duplicateField(path.field('name'), name)]
  if (name !== '' || !isInit) names.add(name)
  return []
}

const probeKinds: readonly ProbeKind[] = ['livenessProbe', 'readinessProbe', 'startupProbe']

function validateHooks(container: Container, spec: PodSpec, path: FieldPath): FieldError[] {
  const { lifecycle } = container
  const errors = probeKinds.flatMap((kind) => {
    const probe = container[kind]
    return probe ? validateProbe(kind, probe, path.field(kind)) : []
  })
  if (lifecycle === undefined) return errors
  const lifecyclePath = path.field('lifecycle')
  return [
    ...validateLifecycle(lifecycle, spec.terminationGracePeriodSeconds, lifecyclePath),
    ...stopSignalErrors(container, spec, lifecyclePath.field('stopSignal')),
    ...errors,
  ]
}

const windowsSignals = ['SIGKILL', 'SIGTERM']

/** What a signal is depends on the operating system, so the pod has to name it. */
function stopSignalErrors(container: Container, spec: PodSpec, path: FieldPath): FieldError[] {
  const signal = container.lifecycle?.stopSignal
  if (signal === undefined) return []
  const os = spec.os?.name
  if (os === undefined) return [forbiddenField(path, 'may not be set for containers with empty `spec.os.name`')]
  // Another system is refused as such.
  if (os !== 'linux' && os !== 'windows') return []
  const known = os === 'windows' ? windowsSignals : linuxSignals()
  return known.includes(signal) ? [] : [unsupportedField(path, signal, known)]
}

function forbiddenHooks(container: Container, path: FieldPath): FieldError[] {
  return (['lifecycle', ...probeKinds] as const)
    .filter((name) => container[name] !== undefined)
    .map((name) => forbiddenField(path.field(name), 'may not be set for init containers without restartPolicy=Always'))
}

/** A container that ends before the others start has nothing to restart for a resize. */
function restartingResizes({ resizePolicy = [] }: Container, path: FieldPath): FieldError[] {
  const rule = "must not be set to 'RestartContainer' for non-sidecar initContainers"
  return resizePolicy.flatMap(({ restartPolicy }, index) =>
    restartPolicy === 'RestartContainer'
      ? [invalidField(path.field('resizePolicy').index(index).field('restartPolicy'), restartPolicy, rule)]
      : [],
  )
}

const restartPolicies: readonly string[] = ['Always', 'Never', 'OnFailure']
/** Rules that a container may have about its restarts, and exit codes in one of them. */
const restartRulesMax = 20
const exitCodesMax = 255

/** A container's own policy, and its rules for certain exit codes: https://kep.k8s.io/5307. */
function restartErrors(
  { restartPolicy, restartPolicyRules = [] }: Container,
  path: FieldPath,
  { isInit = false } = {},
): FieldError[] {
  const [policyPath, rulesPath] = [path.field('restartPolicy'), path.field('restartPolicyRules')]
  const errors: FieldError[] = []
  if (restartPolicy !== undefined && !restartPolicies.includes(restartPolicy)) {
    errors.push(unsupportedField(policyPath, restartPolicy, restartPolicies))
  }
  if (restartPolicy === undefined && restartPolicyRules.length > 0) {
    errors.push(requiredField(policyPath, 'must specify restartPolicy when restart rules are used'))
    if (isInit) return errors
  }
  if (restartPolicyRules.length > restartRulesMax) {
    errors.push(tooManyField(rulesPath, restartPolicyRules.length, restartRulesMax))
  }
  return [...errors, ...restartPolicyRules.flatMap((rule, index) => restartRuleErrors(rule, rulesPath.index(index)))]
}

const restartActions = ['Restart', 'RestartAllContainers']
const exitCodeOperators = ['In', 'NotIn']

function restartRuleErrors({ action, exitCodes }: ContainerRestartRule, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (!restartActions.includes(action)) errors.push(unsupportedField(path.field('action'), action, restartActions))
  const codesPath = path.field('exitCodes')
  if (exitCodes === undefined) return [...errors, requiredField(codesPath, 'must be specified')]
  const { operator, values = [] } = exitCodes
  if (!exitCodeOperators.includes(operator)) {
    errors.push(unsupportedField(codesPath.field('operator'), operator, exitCodeOperators))
  }
  if (values.length > exitCodesMax) errors.push(tooManyField(codesPath.field('values'), values.length, exitCodesMax))
  return errors
}

const forbiddenEphemeralFields = [
  'ports',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
] as const

function forbiddenForEphemeral(container: EphemeralContainer, path: FieldPath): FieldError[] {
  const why = 'cannot be set for an Ephemeral Container'
  const hasResources = Object.values(container.resources ?? {}).some((each) => each !== undefined)
  const fields: string[] = forbiddenEphemeralFields.filter((name) => container[name] !== undefined)
  if (hasResources) fields.push('resources')
  const mounts = (container.volumeMounts ?? []).flatMap((mount, index) =>
    (['subPath', 'subPathExpr'] as const)
      .filter((name) => mount[name])
      .map((name) => forbiddenField(path.field('volumeMounts').index(index).field(name), why)),
  )
  return [...fields.map((name) => forbiddenField(path.field(name), why)), ...mounts]
}

function validatePorts(ports: readonly ContainerPort[] | undefined, path: FieldPath): FieldError[] {
  const names = new Set<string>()
  return (ports ?? []).flatMap((port, index) => {
    const portPath = path.index(index)
    return [
      ...portNameErrors(port.name, names, portPath.field('name')),
      ...(port.containerPort === 0 ? [requiredField(portPath.field('containerPort'))] : []),
      ...(port.containerPort ? checkPortNumber(port.containerPort, portPath.field('containerPort')) : []),
      ...(port.hostPort ? checkPortNumber(port.hostPort, portPath.field('hostPort')) : []),
    ]
  })
}

function portNameErrors(name: string | undefined, names: Set<string>, path: FieldPath): FieldError[] {
  const errors = checkText('iana-service-name', name, path)
  if (!name || errors.length > 0) return errors
  if (names.has(name)) return [duplicateField(path, name)]
  names.add(name)
  return []
}

/** Two ports cannot have the same port of the node. */
function hostPortConflicts(containers: readonly Container[], path: FieldPath): FieldError[] {
  const taken = new Set<string>()
  return containers.flatMap(({ ports = [] }, index) =>
    ports.flatMap((port, portIndex) => {
      if (!port.hostPort) return []
      const key = `${port.protocol ?? 'TCP'}/${port.hostIP ?? ''}/${port.hostPort}`
      if (taken.has(key))
        return [duplicateField(path.index(index).field('ports').index(portIndex).field('hostPort'), key)]
      taken.add(key)
      return []
    }),
  )
}

function validateMounts(container: Container, { volumes }: PodParts, path: FieldPath): FieldError[] {
  if (container.volumeMounts === undefined) return []
  const devices = container.volumeDevices ?? []
  const deviceNames = new Set(devices.map((each) => each.name))
  const devicePaths = new Set(devices.map((each) => each.devicePath))
  const mountPaths = new Set<string>()
  return container.volumeMounts.flatMap((mount, index) => {
    const mountPath = path.index(index)
    const errors: FieldError[] = []
    if (mount.name === '') errors.push(requiredField(mountPath.field('name')))
    if (!volumes.has(mount.name)) errors.push(notFoundField(mountPath.field('name'), mount.name))
    if (mount.mountPath === '') errors.push(requiredField(mountPath.field('mountPath')))
    if (mountPaths.has(mount.mountPath)) {
      errors.push(invalidField(mountPath.field('mountPath'), mount.mountPath, 'must be unique'))
    }
    mountPaths.add(mount.mountPath)
    if (deviceNames.has(mount.name)) {
      errors.push(invalidField(mountPath.field('name'), mount.name, 'must not already exist in volumeDevices'))
    }
    if (devicePaths.has(mount.mountPath)) {
      const rule = 'must not already exist as a path in volumeDevices'
      errors.push(invalidField(mountPath.field('mountPath'), mount.mountPath, rule))
    }
    return [...errors, ...subPathErrors(mount, path, mountPath), ...propagationErrors(mount, container, path)]
  })
}

/** Upstream leaves the index out of some of these paths, and so do we. */
function subPathErrors({ subPath, subPathExpr }: VolumeMount, listPath: FieldPath, path: FieldPath): FieldError[] {
  const errors = subPath ? checkLocalPath(subPath, listPath.field('subPath')) : []
  if (!subPathExpr) return errors
  if (subPath) {
    errors.push(invalidField(path.field('subPathExpr'), subPathExpr, 'subPathExpr and subPath are mutually exclusive'))
  }
  return [...errors, ...checkLocalPath(subPathExpr, listPath.field('subPathExpr'))]
}

const recursiveReadOnlyModes: readonly string[] = ['Disabled', 'Enabled', 'IfPossible']
const mountPropagations: readonly string[] = ['Bidirectional', 'HostToContainer', 'None']

function propagationErrors(mount: VolumeMount, container: Container, listPath: FieldPath): FieldError[] {
  const { mountPropagation = 'None', recursiveReadOnly = 'Disabled', readOnly } = mount
  const errors: FieldError[] = []
  if (!mountPropagations.includes(mountPropagation)) {
    errors.push(unsupportedField(listPath.field('mountPropagation'), mountPropagation, mountPropagations))
  }
  if (mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
    const rule = 'Bidirectional mount propagation is available only to privileged containers'
    errors.push(forbiddenField(listPath.field('mountPropagation'), rule))
  }
  if (recursiveReadOnly === 'Disabled') return errors
  const path = listPath.field('recursiveReadOnly')
  if (!recursiveReadOnlyModes.includes(recursiveReadOnly)) {
    return [...errors, unsupportedField(path, recursiveReadOnly, recursiveReadOnlyModes)]
  }
  if (!readOnly) errors.push(forbiddenField(path, 'may only be specified when readOnly is true'))
  if (mountPropagation !== 'None') {
    errors.push(forbiddenField(path, 'may only be specified when mountPropagation is None or not specified'))
  }
  return errors
}

function validateDevices(container: Container, { volumes }: PodParts, path: FieldPath): FieldError[] {
  if (container.volumeDevices === undefined) return []
  const mounts = container.volumeMounts ?? []
  const mounted = {
    names: new Set(mounts.map((each) => each.name)),
    paths: new Set(mounts.map((each) => each.mountPath)),
  }
  const [names, devicePaths] = [new Set<string>(), new Set<string>()]
  return container.volumeDevices.flatMap((device, index) => {
    const { name, devicePath } = device
    const errors = name === '' ? [requiredField(path.index(index).field('name'))] : []
    if (names.has(name)) errors.push(invalidField(path.index(index).field('name'), name, 'must be unique'))
    if (name !== '') names.add(name)
    return [
      ...errors,
      ...deviceVolumeErrors(device, volumes, path.index(index).field('name')),
      ...devicePathErrors(devicePath, devicePaths, path.index(index).field('devicePath')),
      ...deviceMountErrors(device, mounted, path.index(index)),
    ]
  })
}

/** A path that leads upwards does not count as taken. */
function devicePathErrors(devicePath: string, taken: Set<string>, path: FieldPath): FieldError[] {
  const errors = devicePath === '' ? [requiredField(path)] : []
  if (taken.has(devicePath)) errors.push(invalidField(path, devicePath, 'must be unique'))
  if (checkNoBacksteps(devicePath, path).length > 0) {
    return [...errors, invalidField(path, devicePath, "can not contain backsteps ('..')")]
  }
  taken.add(devicePath)
  return errors
}

function deviceVolumeErrors({ name }: VolumeDevice, volumes: PodParts['volumes'], path: FieldPath): FieldError[] {
  const volume = volumes.get(name)
  if (volume === undefined) return [notFoundField(path, name)]
  if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined) return []
  const rule = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
  return [invalidField(path, name, rule)]
}

function deviceMountErrors(
  device: VolumeDevice,
  mounted: { readonly names: ReadonlySet<string>; readonly paths: ReadonlySet<string> },
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (mounted.names.has(device.name)) {
    errors.push(invalidField(path.field('name'), device.name, 'must not already exist in volumeMounts'))
  }
  if (mounted.paths.has(device.devicePath)) {
    const rule = 'must not already exist as a path in volumeMounts'
    errors.push(invalidField(path.field('devicePath'), device.devicePath, rule))
  }
  return errors
}

const resizableResources: readonly string[] = ['cpu', 'memory']
const resizeRestarts: readonly string[] = ['NotRequired', 'RestartContainer']

/** Upstream names the list in most of these. */
function validateResizePolicy(
  policies: readonly ContainerResizePolicy[] | undefined,
  spec: PodSpec,
  path: FieldPath,
): FieldError[] {
  const seen = new Set<string>()
  return (policies ?? []).flatMap(({ resourceName = '', restartPolicy = '' }, index) => {
    const errors: FieldError[] = []
    if (seen.has(resourceName)) errors.push(duplicateField(path.index(index), resourceName))
    seen.add(resourceName)
    if (!resourceName) errors.push(requiredField(path))
    else if (!resizableResources.includes(resourceName)) {
      errors.push(unsupportedField(path, resourceName, resizableResources))
    }
    if (!restartPolicy) errors.push(requiredField(path))
    else if (!resizeRestarts.includes(restartPolicy)) {
      errors.push(unsupportedField(path, restartPolicy, resizeRestarts))
    }
    if (spec.restartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      errors.push(invalidField(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
    }
    return errors
  })
}
