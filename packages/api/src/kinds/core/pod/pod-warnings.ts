/** What is allowed in pods and templates of pods but hardly meant (api/pod GetWarningsForPod and GetWarningsForPodTemplate). */
import { FieldPath } from '../../../field-path.ts'
import type { KubernetesObject, ObjectMeta } from '../../../meta.ts'
import { parseQuantity, quantityMilli } from '../../../quantity.ts'
import { checkFormat } from '../../../string-formats.ts'
import { ipWarnings } from '../../address-warnings.ts'
import { nodeLabelDeprecation, nodeLabelWarnings, nodeTermWarnings } from '../node/deprecated-labels.ts'
import type { Affinity, PodAffinity } from './affinity.ts'
import { appArmorDeprecation, appArmorWarnings } from './app-armor-fields.ts'
import type { Container, ContainerPort } from './container.ts'
import type { EnvVar } from './env.ts'
import { overlappingPathWarnings } from './overlapping-paths.ts'
import { pairsMax } from './pairs.ts'
import type { Pod } from './pod-schema.ts'
import type { PodSpec } from './pod-spec.ts'
import type { PodTemplateSpec } from './pod-template.ts'
import type { ResourceRequirements } from './resources.ts'
import type { Volume } from './volume.ts'

/** Warnings for a new pod. Updates get none: people seldom make them. */
export function podWarnings(pod: Pod, old: Pod | undefined): readonly string[] {
  if (old !== undefined) return []
  const { spec, metadata } = pod
  const ofSpec = metadata.annotations === undefined ? warningsOfSpec(spec) : warningsOf(spec, metadata, FieldPath.root)
  return [...appArmorWarnings(pod), ...nameWarnings(pod, old, "the Pod's hostname"), ...ofSpec]
}

/** Warns of addresses in the status that are not written as usual. */
export function podStatusWarnings({ status: { podIPs = [], hostIPs = [] } = {} }: Pod): readonly string[] {
  return [
    ...podIPs.flatMap(({ ip }, index) => ipWarnings(ip, podIpsPath.index(index).field('ip'))),
    ...hostIPs.flatMap(({ ip }, index) => ipWarnings(ip, hostIpsPath.index(index).field('ip'))),
  ]
}

const podIpsPath = FieldPath.of('status', 'podIPs')
const hostIpsPath = FieldPath.of('status', 'hostIPs')

const knownOfSpecs = new WeakMap<PodSpec, readonly string[]>()

/** Those of a pod without annotations. Pods of a template share their spec, so that they are found once for all of them. */
function warningsOfSpec(spec: PodSpec): readonly string[] {
  const known = knownOfSpecs.get(spec)
  if (known !== undefined) return known
  const found = warningsOf(spec, {}, FieldPath.root)
  knownOfSpecs.set(spec, found)
  return found
}

/** The same of a template at `path`, whenever the desired state of what it belongs to changes. */
export function podTemplateWarnings(
  template: PodTemplateSpec,
  path: FieldPath,
  { metadata }: KubernetesObject,
  old: KubernetesObject | undefined,
): readonly string[] {
  if (old !== undefined && old.metadata.generation === metadata.generation) return []
  const { spec, metadata: ofTemplate = {} } = template
  return [...warningsOf(spec, ofTemplate, path), ...appArmorWarningsOfTemplate(spec, ofTemplate, path)]
}

/** Warns of a new object whose name is less than a DNS label although `usedIn` wants one. */
export function nameWarnings(
  { metadata: { name } }: KubernetesObject,
  old: KubernetesObject | undefined,
  usedIn: "the Pod's hostname" | 'Pod names and hostnames',
): readonly string[] {
  const problems = name && old === undefined ? checkFormat('dns1123-label', name) : []
  if (problems.length === 0) return []
  return [
    `metadata.name: this is used in ${usedIn}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
  ]
}

function warningsOf(spec: PodSpec, metadata: ObjectMeta, path: FieldPath): readonly string[] {
  const at = path.field('spec')
  const containers = containersOf(spec, at)
  const { imagePullSecrets = [], hostAliases = [], terminationGracePeriodSeconds = 0 } = spec
  const aliasPath = (index: number) => at.field('hostAliases').index(index).field('ip')
  const secretPath = (index: number) => at.field('imagePullSecrets').index(index).field('name')
  return [
    ...nodeLabelWarnings(Object.keys(spec.nodeSelector ?? {}), (key) => at.field('nodeSelector').key(key)),
    ...nodeAffinityWarnings(spec.affinity ?? {}, at.field('affinity').field('nodeAffinity')),
    ...spreadWarnings(spec, at.field('topologySpreadConstraints')),
    ...annotationWarnings(metadata, path.field('metadata').field('annotations')),
    ...(spec.volumes ?? []).flatMap((volume, index) => volumeWarnings(volume, at.field('volumes').index(index))),
    ...overlappingPathWarnings(spec.volumes ?? []),
    ...repeated(hostAliases.map(({ ip }) => ip)).map(
      ({ value, index }) => `${aliasPath(index)}: duplicate ip "${value}"`,
    ),
    ...repeated(imagePullSecrets.map(({ name = '' }) => name)).map(
      ({ value, index }) => `${secretPath(index)}: duplicate name "${value}"`,
    ),
    ...imagePullSecrets.flatMap(({ name }, index) => (name ? [] : [`${secretPath(index)}: invalid empty name ""`])),
    ...fractions(spec.overhead, at.field('overhead')),
    ...seccompWarnings(spec, metadata, path),
    ...containers.flatMap(([container, place]) => [
      ...resourceWarnings(container.resources ?? {}, place.field('resources')),
      ...hiddenVariables(container.env ?? [], place.field('env')),
    ]),
    ...portWarnings(containers),
    ...portNameWarnings(containers),
    ...(terminationGracePeriodSeconds < 0
      ? [
          `${at.field('terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...podAffinityWarnings(spec.affinity?.podAffinity ?? {}, at.field('affinity').field('podAffinity')),
    ...podAffinityWarnings(spec.affinity?.podAntiAffinity ?? {}, at.field('affinity').field('podAntiAffinity')),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((ip, index) =>
      ipWarnings(ip, at.field('dnsConfig').field('nameservers').index(index)),
    ),
    ...hostAliases.flatMap(({ ip }, index) => ipWarnings(ip, aliasPath(index))),
  ]
}

type PlacedContainer = readonly [container: Container, path: FieldPath]

function containersOf(spec: PodSpec, path: FieldPath): readonly PlacedContainer[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, index): PlacedContainer => [container, path.field(list).index(index)]),
  )
}

/** The values that were there before, and where they are again. */
function repeated(values: readonly string[]): readonly { readonly value: string; readonly index: number }[] {
  const seen = new Set<string>()
  return values.flatMap((value, index) => {
    const isNew = !seen.has(value)
    seen.add(value)
    return isNew ? [] : [{ value, index }]
  })
}

function nodeAffinityWarnings({ nodeAffinity = {} }: Affinity, path: FieldPath): readonly string[] {
  const required = path.field('requiredDuringSchedulingIgnoredDuringExecution').field('nodeSelectorTerms')
  const preferred = path.field('preferredDuringSchedulingIgnoredDuringExecution')
  return [
    ...(nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).flatMap((term, index) =>
      nodeTermWarnings(term, required.index(index), { checksValues: false }),
    ),
    ...(nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ preference }, index) =>
      nodeTermWarnings(preference, preferred.index(index).field('preference'), { checksValues: true }),
    ),
  ]
}

const nullSelector = (path: FieldPath): string =>
  `${path.field('labelSelector')}: a null labelSelector results in matching no pod`

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, path: FieldPath): readonly string[] {
  return topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, index) => {
    const at = path.index(index)
    const deprecation = nodeLabelDeprecation(topologyKey)
    return [
      ...(deprecation === undefined ? [] : [`${at.field('topologyKey')}: ${topologyKey} is ${deprecation}`]),
      ...(labelSelector === undefined ? [nullSelector(at)] : []),
    ]
  })
}

function podAffinityWarnings(affinity: PodAffinity, path: FieldPath): readonly string[] {
  const required = path.field('requiredDuringSchedulingIgnoredDuringExecution')
  const preferred = path.field('preferredDuringSchedulingIgnoredDuringExecution')
  return [
    ...(affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ labelSelector }, index) =>
      labelSelector === undefined ? [nullSelector(required.index(index))] : [],
    ),
    ...(affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ podAffinityTerm }, index) =>
      podAffinityTerm.labelSelector === undefined
        ? [nullSelector(preferred.index(index).field('podAffinityTerm'))]
        : [],
    ),
  ]
}

const deprecatedAnnotations: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
}

function annotationWarnings({ annotations = {} }: ObjectMeta, path: FieldPath): readonly string[] {
  return Object.entries(deprecatedAnnotations).flatMap(([key, message]) =>
    annotations[key] === undefined ? [] : [`${path.key(key)}: ${message}`],
  )
}

/** Kinds of volumes of which the API still knows, by their fields, and what became of them. */
const formerVolumes: Readonly<Record<string, readonly [path: string, message: string]>> = {
  photonPersistentDisk: ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  gitRepo: ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  scaleIO: ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  flocker: ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  storageos: ['storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  quobyte: ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  glusterfs: ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  cephfs: ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  rbd: ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
}

/** Warns of a volume of a former kind: of a pod, or one that stands for itself. Those of `passedOver` get no warning there. */
export function formerVolumeWarnings(
  volume: object,
  path: FieldPath,
  passedOver: readonly string[] = [],
): readonly string[] {
  return Object.entries(formerVolumes).flatMap(([field, [name, message]]) =>
    Object.hasOwn(volume, field) && !passedOver.includes(field) ? [`${path.field(name)}: ${message}`] : [],
  )
}

function volumeWarnings(volume: Volume, path: FieldPath): readonly string[] {
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec
  const at = path.field('ephemeral').field('volumeClaimTemplate').field('spec').field('resources')
  return [...formerVolumeWarnings(volume, path), ...(claim === undefined ? [] : storageWarnings(claim.resources, at))]
}

/** Warns of amounts of storage that are no whole bytes. */
export function storageWarnings(
  { requests, limits }: Pick<ResourceRequirements, 'requests' | 'limits'> = {},
  path: FieldPath,
): readonly string[] {
  return [
    ...fractions(requests, path.field('requests'), ['storage']),
    ...fractions(limits, path.field('limits'), ['storage']),
  ]
}

function resourceWarnings({ limits, requests }: ResourceRequirements, path: FieldPath): readonly string[] {
  return ['memory', 'ephemeral-storage'].flatMap((resource) => [
    ...fractions(limits, path.field('limits'), [resource]),
    ...fractions(requests, path.field('requests'), [resource]),
  ])
}

function fractions(
  amounts: Readonly<Record<string, string>> = {},
  path: FieldPath,
  resources: readonly string[] = ['memory', 'ephemeral-storage'],
): readonly string[] {
  return resources.flatMap((resource) => {
    const amount = amounts[resource]
    if (amount === undefined || quantityMilli(parseQuantity(amount)) % 1000 === 0) return []
    return [`${path.key(resource)}: fractional byte value "${amount}" is invalid, must be an integer`]
  })
}

const seccompAnnotation = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/'

function seccompWarnings(spec: PodSpec, { annotations = {} }: ObjectMeta, path: FieldPath): readonly string[] {
  const warn = (key: string, profile: unknown) =>
    annotations[key] === undefined || profile !== undefined
      ? []
      : [
          `${path.field('metadata').field('annotations').key(key)}: non-functional in v1.27+; use the "seccompProfile" field instead`,
        ]
  return [
    ...warn(seccompAnnotation, spec.securityContext?.seccompProfile),
    ...containersOf(spec, path).flatMap(([{ name, securityContext }]) =>
      warn(`${seccompContainerPrefix}${name}`, securityContext?.seccompProfile),
    ),
  ]
}

const appArmorAnnotations: Readonly<Record<string, string>> = {
  RuntimeDefault: 'runtime/default',
  Unconfined: 'unconfined',
}
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

/** Of templates: a pod gets its fields by its annotations, see `appArmorWarnings`. */
function appArmorWarningsOfTemplate(
  spec: PodSpec,
  { annotations = {} }: ObjectMeta,
  path: FieldPath,
): readonly string[] {
  const profile = spec.securityContext?.appArmorProfile
  const ofPod =
    profile?.type === 'Localhost'
      ? `localhost/${profile.localhostProfile ?? ''}`
      : appArmorAnnotations[profile?.type ?? '']
  return containersOf(spec, path).flatMap(([{ name, securityContext }]) => {
    const key = `${appArmorPrefix}${name}`
    const annotation = annotations[key]
    if (annotation === undefined || annotation === ofPod || securityContext?.appArmorProfile !== undefined) return []
    return [appArmorDeprecation(path.field('metadata').field('annotations').key(key))]
  })
}

/** A later variable of the same name wins. That is only meant where its value builds on the earlier one. */
function hiddenVariables(env: readonly EnvVar[], path: FieldPath): readonly string[] {
  const seen = new Set<string>()
  return env.flatMap((variable, index) => {
    const isRepeated = seen.has(variable.name)
    seen.add(variable.name)
    if (!isRepeated || buildsOnEarlier(variable)) return []
    return [
      `${path.index(index)}: hides previous definition of ${JSON.stringify(variable.name)}, which may be dropped when using apply`,
    ]
  })
}

function buildsOnEarlier({ name, value = '', valueFrom }: EnvVar): boolean {
  const reference = `$(${name})`
  return valueFrom === undefined && value !== reference && value.includes(reference)
}

interface PlacedPort {
  readonly port: ContainerPort
  readonly path: FieldPath
}

const portsOf = (containers: readonly PlacedContainer[]): readonly PlacedPort[] =>
  containers.flatMap(([{ ports = [] }, path]) =>
    ports.map((port, index) => ({ port, path: path.field('ports').index(index) })),
  )

/** The containers of a pod share its addresses, and so its ports. */
function portWarnings(containers: readonly PlacedContainer[]): readonly string[] {
  const byNumber = new Map<string, PlacedPort[]>()
  let pairs = 0
  return portsOf(containers).flatMap((placed) => {
    const { port, path } = placed
    const { containerPort, hostIP = '', hostPort = 0, protocol = 'TCP', name = '' } = port
    const shown = `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`
    const key = `${containerPort}/${protocol}`
    const alike = byNumber.get(key) ?? []
    const earlier = alike.slice(0, pairsMax - pairs)
    pairs += earlier.length
    byNumber.set(key, alike)
    alike.push(placed)
    return [
      ...(hostIP !== '' && hostPort === 0 ? [`${path}: hostIP set without hostPort: ${shown}`] : []),
      ...earlier.flatMap((other) => {
        const problem = conflictOf(port, other.port)
        return problem === undefined ? [] : [`${path}: ${problem} port definition with ${other.path}`]
      }),
    ]
  })
}

function conflictOf(port: ContainerPort, other: ContainerPort): string | undefined {
  const [{ hostIP = '', hostPort = 0 }, { hostIP: otherIp = '', hostPort: otherPort = 0 }] = [port, other]
  if (hostIP === otherIp && hostPort === otherPort) return 'duplicate'
  if (hostPort === 0 || otherPort === 0) return 'overlapping'
  // One is on every address of the node, the other on one of them.
  return hostPort === otherPort && (hostIP === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined
}

function portNameWarnings(containers: readonly PlacedContainer[]): readonly string[] {
  const first = new Map<string, FieldPath>()
  return portsOf(containers).flatMap(({ port: { name = '' }, path }) => {
    const other = first.get(name)
    if (name === '') return []
    if (other === undefined) first.set(name, path)
    return other === undefined
      ? []
      : [
          `${path}: duplicate port name "${name}" with ${other}, services and probes that select ports by name will use ${other}`,
        ]
  })
}
