/** Upstream's ValidateNode and ValidateNodeUpdate (pkg/apis/core/validation). */

import {
  addErrors,
  duplicateField,
  type FieldError,
  forbiddenField,
  internalField,
  invalidField,
  requiredField,
  unsupportedField,
} from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { structValue } from '../../../internal-structs/struct-value.ts'
import { isJsonObject } from '../../../json.ts'
import { jsonSyntaxError } from '../../../json-syntax/json-syntax.ts'
import { parseQuantity } from '../../../quantity.ts'
import type { StringFormat } from '../../../schema/schema.ts'
import { checkFormat } from '../../../string-formats.ts'
import { checkStrictCidr, looseCidrFamily } from '../../addresses.ts'
import type { ResourceList } from '../common.ts'
import { isExtended, isObjectCount } from '../pod/validation/resources.ts'
import type { Node } from './node-schema.ts'
import { type NodeConfigSource, type Taint, taintEffects } from './node-spec.ts'
import type { NodeAddress } from './node-status.ts'

/** What is wrong with a node, whatever it was before. */
export function validateNode(node: Node): readonly FieldError[] {
  const { spec, status } = node
  return [
    ...annotationErrors(node),
    // Upstream looks for the taints in the metadata, where they once were; messages still say so.
    ...validateTaints(spec?.taints ?? [], FieldPath.of('metadata', 'taints')),
    ...validateNodeStatus(node),
    ...swapErrors(status?.nodeInfo?.swap?.capacity),
    ...validatePodCidrs(spec?.podCIDRs ?? [], FieldPath.of('spec', 'podCIDRs')),
  ]
}

/** What is wrong with what a node says it has. */
export function validateNodeStatus({ status }: Node): readonly FieldError[] {
  const path = FieldPath.of('status')
  return [
    ...validateAmounts(status?.capacity ?? {}, path.field('capacity')),
    ...validateAmounts(status?.allocatable ?? {}, path.field('allocatable')),
    ...validateFeatures(status?.declaredFeatures ?? [], path.field('declaredFeatures')),
  ]
}

const featureName = /^[A-Z][a-zA-Z0-9]*(?:\/[a-zA-Z][a-zA-Z0-9]*)*$/
const featureNameLengthMax = 253

/** Names of features, in order: https://kep.k8s.io/5328. */
function validateFeatures(features: readonly string[], path: FieldPath): readonly FieldError[] {
  return features.flatMap((feature, index) => [
    ...featureNameErrors(feature, path.index(index)),
    ...featureOrderErrors(feature, features[index + 1], path.index(index + 1)),
  ])
}

function featureNameErrors(feature: string, path: FieldPath): readonly FieldError[] {
  const problem =
    feature.length > featureNameLengthMax
      ? `must be no more than ${featureNameLengthMax} characters`
      : "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
  if (feature.length <= featureNameLengthMax && featureName.test(feature)) return []
  return [invalidField(path, feature, `invalid feature name "${feature}": ${problem}`)]
}

function featureOrderErrors(feature: string, next: string | undefined, path: FieldPath): readonly FieldError[] {
  if (next === undefined || feature < next) return []
  if (feature === next) return [duplicateField(path, next)]
  return [invalidField(path, next, 'list must be sorted alphabetically')]
}

/** What an update of a node, or of its status, may not do. */
export function validateNodeUpdate(node: Node, old: Node): readonly FieldError[] {
  const path = FieldPath.of('spec')
  const before = old.spec ?? {}
  const after = node.spec ?? {}
  const errors: FieldError[] = []
  const [beforeCidrs, afterCidrs] = [before.podCIDRs ?? [], after.podCIDRs ?? []]
  const isOfOtherLength = beforeCidrs.length > 0 && beforeCidrs.length !== afterCidrs.length
  const changed = isOfOtherLength ? ['all'] : beforeCidrs.filter((cidr, index) => cidr !== afterCidrs[index])
  for (const _each of changed) {
    const why = 'node updates may not change podCIDR except from "" to valid'
    errors.push(forbiddenField(path.field('podCIDRs'), why))
  }
  if (before.providerID && before.providerID !== after.providerID) {
    const why = 'node updates may not change providerID except from "" to valid'
    errors.push(forbiddenField(path.field('providerID'), why))
  }
  if ((before.externalID ?? '') !== (after.externalID ?? '')) {
    errors.push(forbiddenField(path.field('externalID'), 'may not be updated'))
  }
  addErrors(errors, configSourceErrors(after.configSource, path.field('configSource')))
  return [
    ...annotationErrors(node),
    ...duplicateAddresses(node.status?.addresses ?? [], FieldPath.of('status', 'addresses')),
    ...errors,
  ]
}

const avoidAnnotation = 'scheduler.alpha.kubernetes.io/preferAvoidPods'

const taintsAnnotation = 'scheduler.alpha.kubernetes.io/taints'
const annotationsPath = FieldPath.of('metadata', 'annotations')

const annotationErrors = ({ metadata: { annotations } }: Node): readonly FieldError[] =>
  annotations === undefined ? [] : [...taintErrors(annotations), ...avoidErrors(annotations)]

type Annotations = Readonly<Record<string, string>>

/** The JSON of an annotation, and what is wrong with it. */
function jsonOf(annotations: Annotations, name: string, path: FieldPath): readonly [unknown, readonly FieldError[]] {
  const text = annotations[name]
  try {
    return [text ? JSON.parse(text) : undefined, []]
  } catch {
    return [undefined, [invalidField(path, name, jsonSyntaxError(text ?? ''))]]
  }
}

/** Taints were once in an annotation. */
function taintErrors(annotations: Annotations): readonly FieldError[] {
  const [taints, errors] = jsonOf(annotations, taintsAnnotation, annotationsPath)
  const listed = (Array.isArray(taints) ? taints : []).filter(isJsonObject)
  const read = listed.map(({ key = '', value = '', effect = '' }) => ({ key, value, effect }) as Taint)
  return [...errors, ...validateTaints(read, annotationsPath.field(taintsAnnotation))]
}

/** Pods that a node would rather not have: those of a controller, which has to be one. */
function avoidErrors(annotations: Annotations): readonly FieldError[] {
  const path = annotationsPath
  const [avoided, errors] = jsonOf(annotations, avoidAnnotation, path.field('AvoidPods'))
  if (errors.length > 0) return errors
  const { preferAvoidPods } = (avoided ?? {}) as { readonly preferAvoidPods?: unknown }
  return (Array.isArray(preferAvoidPods) ? preferAvoidPods : []).flatMap((entry: AvoidedPods | null, index) => {
    const at = path.field(avoidAnnotation).index(index).field('PodSignature')
    const controller = entry?.podSignature?.podController
    if (controller === undefined || controller === null) return [requiredField(at)]
    if (controller.controller === true) return []
    return [invalidField(at.field('PodController').field('Controller'), false, 'must point to a controller')]
  })
}

interface AvoidedPods {
  readonly podSignature?: { readonly podController?: { readonly controller?: unknown } | null } | null
}

/** Upstream names the metadata here. */
function swapErrors(capacity: number | undefined): readonly FieldError[] {
  if (capacity === undefined || capacity > 0) return []
  return [invalidField(FieldPath.of('metadata', 'nodeSwapStatus', 'capacity'), capacity, 'must be greater than zero')]
}

/** What a node may be told of where its configuration is, which no node asks any more. */
function configSourceErrors(source: NodeConfigSource | undefined, path: FieldPath): readonly FieldError[] {
  if (source === undefined) return []
  const { configMap } = source
  if (configMap === undefined)
    return [
      invalidField(
        path,
        structValue('core.NodeConfigSource', source),
        'exactly one reference subfield must be non-nil',
      ),
    ]
  const at = path.field('configMap')
  const { namespace, name, kubeletConfigKey, uid, resourceVersion } = configMap
  const given = (format: StringFormat, value: string | undefined, where: FieldPath): readonly FieldError[] =>
    value ? checkFormat(format, value).map((why) => invalidField(where, value, why)) : []
  return [
    ...(uid ? [forbiddenField(at.field('uid'), 'uid must not be set in spec')] : []),
    ...(resourceVersion
      ? [forbiddenField(at.field('resourceVersion'), 'resourceVersion must not be set in spec')]
      : []),
    ...given('dns1123-label', namespace, at.field('namespace')),
    ...given('dns1123-subdomain', name, at.field('name')),
    ...given('config-map-key', kubeletConfigKey, at.field('kubeletConfigKey')),
  ]
}

function validateTaints(taints: readonly Taint[], path: FieldPath): readonly FieldError[] {
  const seen = new Set<string>()
  return taints.flatMap((taint, index) => {
    const at = path.index(index)
    const identity = `${taint.key}:${taint.effect}`
    const repeated = seen.has(identity)
    seen.add(identity)
    return [...validateTaint(taint, at), ...(repeated ? [duplicateTaint(taint, at)] : [])]
  })
}

function validateTaint({ key, value = '', effect }: Taint, path: FieldPath): readonly FieldError[] {
  const valueProblems = checkFormat('label-value', value)
  return [
    ...checkFormat('qualified-name', key).map((problem) => invalidField(path.field('key'), key, problem)),
    ...(valueProblems.length > 0 ? [invalidField(path.field('value'), value, valueProblems.join(';'))] : []),
    ...validateEffect(effect, path.field('effect')),
  ]
}

function validateEffect(effect: string, path: FieldPath): readonly FieldError[] {
  if (effect === '') return [requiredField(path)]
  return taintEffects.some((known) => known === effect) ? [] : [unsupportedField(path, effect, taintEffects)]
}

function duplicateTaint(taint: Taint, path: FieldPath): FieldError {
  return duplicateField(path, structValue('core.Taint', taint), 'taints must be unique by key and effect pair')
}

function duplicateAddresses(addresses: readonly NodeAddress[], path: FieldPath): readonly FieldError[] {
  const seen = new Set<string>()
  return addresses.flatMap((address, index) => {
    const identity = `${address.type}:${address.address}`
    if (seen.has(identity)) return [duplicateField(path.index(index), structValue('core.NodeAddress', address))]
    seen.add(identity)
    return []
  })
}

function validateAmounts(amounts: ResourceList, path: FieldPath): readonly FieldError[] {
  return Object.entries(amounts).flatMap(([resource, amount]) => {
    const at = path.field(resource)
    const { nanos } = parseQuantity(amount)
    const errors = nanos < 0n ? [invalidField(at, amount, 'must be greater than or equal to 0')] : []
    const isWhole = nanos % 1_000_000_000n === 0n
    return isWhole || !isCounted(resource) ? errors : [...errors, invalidField(at, amount, 'must be an integer')]
  })
}

/** Resources that come in whole numbers: objects, and whatever a vendor adds (core/v1/helper IsIntegerResourceName). */
const isCounted = (resource: string): boolean => isObjectCount(resource) || isExtended(resource)

function validatePodCidrs(cidrs: readonly string[], path: FieldPath): readonly FieldError[] {
  const errors = cidrs.flatMap((cidr, index) => checkStrictCidr(cidr, path.index(index)))
  if (cidrs.length < 2) return errors
  const families = cidrs.map(looseCidrFamily)
  const wrong = families.indexOf(0)
  if (wrong >= 0) {
    const problem = `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${wrong}]: <nil> (invalid CIDR address: ${cidrs[wrong] ?? ''})`
    errors.push(internalField(path, problem))
  }
  if (wrong < 0 && cidrs.length === 2 && families[0] !== families[1]) return errors
  return [...errors, invalidField(path, cidrs, 'may specify no more than one CIDR for each IP family')]
}
