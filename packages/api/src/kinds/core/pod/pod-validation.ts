import {
  addErrors,
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
} from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { structValue } from '../../../internal-structs/struct-value.ts'
import { validateAnnotations, validateLabels } from '../../../object-meta-validation.ts'
import { checkFormat, checkUnderscoredSubdomain } from '../../../string-formats.ts'
import { checkPreemptionPolicy } from '../../scheduling/preemption-policy.ts'
import type { Pod } from './pod-schema.ts'
import type { HostAlias, PodDnsConfig, PodResourceClaim, PodSpec } from './pod-spec.ts'
import type { PodTemplateSpec } from './pod-template.ts'
import { simulatedUsageAnnotation, validateSimulatedUsage } from './simulated-usage.ts'
import { annotationErrors, mirrorAnnotation, profileMismatches } from './validation/annotations.ts'
import { checkGiven, checkRange, checkText, checkTextOrEmpty, int32Max } from './validation/checks.ts'
import { imageWhitespace, validateAllContainers } from './validation/containers.ts'
import { validateEnvFileVolumes } from './validation/env.ts'
import { osErrors } from './validation/os.ts'
import { validatePodResources } from './validation/pod-resources.ts'
import { claimNamesOf, validateResources } from './validation/resources.ts'
import {
  validateAffinity,
  validateReadinessGates,
  validateSchedulingGates,
  validateTolerations,
  validateTopologySpread,
} from './validation/scheduling.ts'
import { validatePodSecurity } from './validation/security.ts'
import { judgeVolumes } from './validation/volumes.ts'
import { hostProcessErrors } from './validation/windows.ts'

const noClaims: ReadonlySet<string> = new Set()

export interface PodSpecOptions {
  /** The spec is a pod's own, with its defaults filled in, rather than a template's. */
  readonly isPod?: boolean
}

/**
 * Checks a pod spec beyond its schema, with the words of core/validation ValidatePodSpec. Required fields and single
 * values are the schema's to check, and a missing one is passed over here; where upstream has words of its own for one,
 * its default is empty and it is checked here.
 */
export function validatePodSpec(spec: PodSpec, path: FieldPath, options: PodSpecOptions = {}): FieldError[] {
  const volumes = judgeVolumes(spec.volumes, path.field('volumes'))
  return [
    ...volumes.errors,
    ...validateResourceClaims(spec.resourceClaims, path.field('resourceClaims')),
    ...validateAllContainers(spec, path, volumes.good),
    ...validatePodResources(spec, claimNamesOf(spec), path.field('resources')),
    ...hostNetworkErrors(spec, options, path.field('containers')),
    ...validateLabels(spec.nodeSelector, path.field('nodeSelector')),
    ...validatePodSecurity(spec, path),
    ...validateAffinity(spec.affinity, path.field('affinity')),
    ...validateDns(spec, path.field('dnsConfig')),
    ...validateReadinessGates(spec.readinessGates, path.field('readinessGates')),
    ...validateSchedulingGates(spec.schedulingGates, path.field('schedulingGates')),
    ...validateTopologySpread(spec.topologySpreadConstraints, path.field('topologySpreadConstraints')),
    ...hostProcessErrors(spec, path),
    ...validateNames(spec, path),
    ...checkRange(spec.activeDeadlineSeconds, 1, int32Max, path.field('activeDeadlineSeconds')),
    ...validateTolerations(spec.tolerations, path.field('tolerations')),
    ...validateHostAliases(spec.hostAliases, path.field('hostAliases')),
    ...checkPreemptionPolicy(spec.preemptionPolicy, path.field('preemptionPolicy')),
    ...validateResources({ limits: spec.overhead }, noClaims, path.field('overhead')),
    ...osErrors(spec, path),
    ...validateEnvFileVolumes(spec, path),
  ]
}

/** Checks a template: its spec, and the labels and annotations it gives to pods. */
export function validatePodTemplateSpec(template: PodTemplateSpec, path: FieldPath): FieldError[] {
  const { metadata, spec } = template
  const specPath = path.field('spec')
  return [
    ...validateLabels(metadata?.labels, path.field('labels')),
    ...validateAnnotations(metadata?.annotations, path.field('annotations')),
    ...annotationErrors(metadata?.annotations, spec, path.field('annotations')),
    ...templateSpecErrors(spec, specPath),
    ...profileMismatches(metadata ?? {}, spec, specPath),
    ...(spec.ephemeralContainers?.length
      ? [forbiddenField(specPath.field('ephemeralContainers'), 'ephemeral containers not allowed in pod template')]
      : []),
  ]
}

/** Specs of templates without a fault that nobody can change any more: most updates leave the template as it is. */
const faultlessInTemplates = new WeakSet<PodSpec>()

function templateSpecErrors(spec: PodSpec, path: FieldPath): readonly FieldError[] {
  if (faultlessInTemplates.has(spec)) return []
  const errors = validatePodSpec(spec, path)
  if (errors.length === 0 && Object.isFrozen(spec)) faultlessInTemplates.add(spec)
  return errors
}

/** Checks a whole pod: its spec, and what holds for pods but not for templates. */
export function validatePod(pod: Pod): readonly FieldError[] {
  const { annotations } = pod.metadata
  const errors = [
    ...annotationErrors(annotations, pod.spec, FieldPath.of('metadata', 'annotations')),
    ...ownSpecErrors(pod.spec),
    ...madeClaimErrors(pod),
    ...mirroredClaimErrors(pod),
  ]
  if (annotations === undefined || !Object.hasOwn(annotations, simulatedUsageAnnotation)) return errors
  const containers = [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])].map(({ name }) => name)
  return [...errors, ...validateSimulatedUsage(pod.metadata, containers)]
}

/** Frozen specs that were found valid. */
const validSpecs = new WeakSet<PodSpec>()

/** Validates a spec once: the pods of a controller share theirs. */
function ownSpecErrors(spec: PodSpec): readonly FieldError[] {
  if (validSpecs.has(spec)) return []
  const path = FieldPath.of('spec')
  const errors = [
    ...validatePodSpec(spec, path, { isPod: true }),
    ...projectedTokenErrors(spec, path),
    ...(spec.containers ?? []).flatMap((each, index) => imageWhitespace(each, path.field('containers').index(index))),
    ...(spec.initContainers ?? []).flatMap((each, index) =>
      imageWhitespace(each, path.field('initContainers').index(index)),
    ),
    ...(spec.nodeName && spec.schedulingGates?.length
      ? [forbiddenField(path.field('nodeName'), 'cannot be set until all schedulingGates have been cleared')]
      : []),
  ]
  if (errors.length === 0 && Object.isFrozen(spec)) validSpecs.add(spec)
  return errors
}

/** What may not be there when a pod is created, but may be later. */
export function validatePodCreate({ metadata, spec }: Pod): FieldError[] {
  const path = FieldPath.of('spec')
  return [
    ...(spec.ephemeralContainers?.length
      ? [forbiddenField(path.field('ephemeralContainers'), 'cannot be set on create')]
      : []),
    ...profileMismatches(metadata, spec, path),
  ]
}

/** Claims that are made for a pod are named after it and the volume: names that fit, and that no other volume of it has. */
function madeClaimErrors({ metadata: { name = '' }, spec: { volumes = [] } }: Pod): FieldError[] {
  const made = volumes.filter(({ ephemeral }) => ephemeral !== undefined)
  if (name === '' || made.length === 0) return []
  const names = new Set(made.map((volume) => `${name}-${volume.name}`))
  const path = FieldPath.of('spec', 'volumes')
  return volumes.flatMap((volume, index) => {
    const claim = `${name}-${volume.name}`
    const errors =
      volume.ephemeral === undefined || !volume.name
        ? []
        : checkFormat('dns1123-subdomain', claim).map((problem) =>
            invalidField(path.index(index).field('name'), volume.name, `PVC name ${JSON.stringify(claim)}: ${problem}`),
          )
    const used = volume.persistentVolumeClaim?.claimName
    if (used === undefined || !names.has(used)) return errors
    const rule = 'must not reference a PVC that gets created for an ephemeral volume'
    return [...errors, invalidField(path.index(index).field('persistentVolumeClaim').field('claimName'), used, rule)]
  })
}

/** Claims are made and given by the server, which a pod of a file knows nothing of. */
function mirroredClaimErrors({ metadata: { annotations }, spec: { resourceClaims = [] } }: Pod): FieldError[] {
  if (annotations?.[mirrorAnnotation] === undefined) return []
  return resourceClaims.map(() => forbiddenField(FieldPath.root.key(''), 'static pods do not support resource claims'))
}

function projectedTokenErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  if (spec.serviceAccountName) return []
  return (spec.volumes ?? []).flatMap((volume, index) =>
    (volume.projected?.sources ?? []).flatMap((source, sourceIndex) => {
      if (source.serviceAccountToken === undefined) return []
      const sources = path.field('volumes').index(index).field('projected').field('sources')
      const tokenPath = sources.index(sourceIndex).field('serviceAccountToken')
      return [forbiddenField(tokenPath, 'must not be specified when serviceAccountName is not set')]
    }),
  )
}

function validateNames(spec: PodSpec, path: FieldPath): FieldError[] {
  const { hostnameOverride } = spec
  const overridePath = path.field('hostnameOverride')
  return [
    ...checkText('dns1123-subdomain', spec.serviceAccountName, path.field('serviceAccountName')),
    ...checkText('dns1123-subdomain', spec.nodeName, path.field('nodeName')),
    ...checkText('dns1123-label', spec.hostname, path.field('hostname')),
    ...checkText('dns1123-label', spec.subdomain, path.field('subdomain')),
    ...checkGiven('dns1123-subdomain', hostnameOverride, overridePath),
    ...hostnameOverrideErrors(spec, overridePath),
    ...checkText('dns1123-subdomain', spec.priorityClassName, path.field('priorityClassName')),
    ...(spec.runtimeClassName === undefined
      ? []
      : checkTextOrEmpty('dns1123-subdomain', spec.runtimeClassName, path.field('runtimeClassName'))),
  ]
}

/** The longest host name that Linux takes. */
const hostnameMax = 64

function hostnameOverrideErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  const { hostnameOverride } = spec
  if (hostnameOverride === undefined) return []
  const errors = hostnameOverride.length > hostnameMax ? [tooLongField(path, hostnameMax)] : []
  if (spec.setHostnameAsFQDN) errors.push(forbiddenField(path, 'may not be specified when setHostnameAsFQDN is true'))
  if (spec.hostNetwork) errors.push(forbiddenField(path, 'may not be specified when hostNetwork is true'))
  return errors
}

function validateHostAliases(aliases: readonly HostAlias[] | undefined, path: FieldPath): FieldError[] {
  return (aliases ?? []).flatMap(({ ip, hostnames = [] }, index) => [
    ...checkTextOrEmpty('ip', ip, path.index(index).field('ip')),
    ...hostnames.flatMap((name, nameIndex) =>
      checkTextOrEmpty('dns1123-subdomain', name, path.index(index).field('hostnames').index(nameIndex)),
    ),
  ])
}

/** On the node's network ports are the node's. A template may leave that to the pods made from it. */
function hostNetworkErrors(spec: PodSpec, { isPod = false }: PodSpecOptions, path: FieldPath): FieldError[] {
  if (!spec.hostNetwork) return []
  return (spec.containers ?? []).flatMap(({ ports = [] }, index) =>
    ports.flatMap(({ hostPort = 0, containerPort = 0 }, portIndex) => {
      if (hostPort === containerPort || (hostPort === 0 && !isPod)) return []
      const portPath = path.index(index).field('ports').index(portIndex).field('hostPort')
      return [invalidField(portPath, hostPort, 'must match `containerPort` when `hostNetwork` is true')]
    }),
  )
}

/** What the resolvers of Linux take. */
const nameserversMax = 3
const searchPathsMax = 32
const searchListCharactersMax = 2048

function validateDns({ dnsPolicy, dnsConfig }: PodSpec, path: FieldPath): FieldError[] {
  if (dnsPolicy === 'None' && dnsConfig === undefined) {
    return [requiredField(path, 'must provide `dnsConfig` when `dnsPolicy` is None')]
  }
  if (dnsConfig === undefined) return []
  if (dnsPolicy === 'None' && !dnsConfig.nameservers?.length) {
    const rule = 'must provide at least one DNS nameserver when `dnsPolicy` is None'
    return [requiredField(path.field('nameservers'), rule)]
  }
  return validateDnsConfig(dnsConfig, path)
}

function validateDnsConfig(
  { nameservers = [], searches = [], options = [] }: PodDnsConfig,
  path: FieldPath,
): FieldError[] {
  const [serversPath, searchesPath] = [path.field('nameservers'), path.field('searches')]
  const errors: FieldError[] = []
  if (nameservers.length > nameserversMax) {
    errors.push(invalidField(serversPath, nameservers, `must not have more than ${nameserversMax} nameservers`))
  }
  for (const [index, server] of nameservers.entries()) {
    addErrors(errors, checkTextOrEmpty('ip', server, serversPath.index(index)))
  }
  if (searches.length > searchPathsMax) {
    errors.push(invalidField(searchesPath, searches, `must not have more than ${searchPathsMax} search paths`))
  }
  if (searches.join(' ').length > searchListCharactersMax) {
    const rule = `must not have more than ${searchListCharactersMax} characters (including spaces) in the search list`
    errors.push(invalidField(searchesPath, searches, rule))
  }
  for (const [index, search] of searches.entries()) addErrors(errors, searchErrors(search, searchesPath.index(index)))
  const unnamed = options.flatMap(({ name }, index) =>
    name ? [] : [requiredField(path.field('options').index(index), 'must not be empty')],
  )
  return [...errors, ...unnamed]
}

/** A lone dot, a trailing one, and underscores are fine. */
function searchErrors(search: string, path: FieldPath): FieldError[] {
  if (search === '.') return []
  const name = search.replace(/\.$/, '')
  return checkUnderscoredSubdomain(name).map((why) => invalidField(path, name, why))
}

function validateResourceClaims(claims: readonly PodResourceClaim[] | undefined, path: FieldPath): FieldError[] {
  const names = new Set<string>()
  return (claims ?? []).flatMap((claim, index) => {
    const [claimPath, { name, resourceClaimName, resourceClaimTemplateName }] = [path.index(index), claim]
    const errors: FieldError[] = []
    if (name && names.has(name)) errors.push(duplicateField(claimPath.field('name'), name))
    else errors.push(...checkText('dns1123-label', name, claimPath.field('name')))
    names.add(name)
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const rule = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
      errors.push(invalidField(claimPath, structValue('core.PodResourceClaim', claim), rule))
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      const rule = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
      errors.push(invalidField(claimPath, structValue('core.PodResourceClaim', claim), rule))
    }
    return [
      ...errors,
      ...checkGiven('dns1123-subdomain', resourceClaimName, claimPath.field('resourceClaimName')),
      ...checkGiven('dns1123-subdomain', resourceClaimTemplateName, claimPath.field('resourceClaimTemplateName')),
    ]
  })
}
