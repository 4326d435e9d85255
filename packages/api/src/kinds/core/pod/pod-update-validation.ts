import { deepEqual } from '../../../equality.ts'
import { duplicateField, type FieldError, forbiddenField, invalidField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { describeChanges } from '../../changes-text.ts'
import type { NodeSelectorTerm } from '../common.ts'
import type { Affinity } from './affinity.ts'
import type { Container } from './container.ts'
import type { Pod } from './pod-schema.ts'
import type { PodSpec } from './pod-spec.ts'
import type { ContainerStatus, PodStatus } from './pod-status.ts'
import { mayRestartAll, restartsAfter } from './restart-rules.ts'
import type { PodSchedulingGate, Toleration } from './scheduling.ts'
import { checkRange, checkText, checkTextOrEmpty, int32Max } from './validation/checks.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')

/** What an update may change; upstream's list, word for word since people search for it. */
const updatableFields = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
]

/** What an update of a pod may not do (core/validation ValidatePodUpdate). */
export function validatePodUpdate(pod: Pod, old: Pod): FieldError[] {
  const [spec, oldSpec] = [pod.spec, old.spec]
  if (spec === oldSpec) return []
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list]?.length ?? 0) === (oldSpec[list]?.length ?? 0)) continue
    return [forbiddenField(specPath.field(list), 'pod updates may not add or remove containers')]
  }
  const deadline = deadlineErrors(spec.activeDeadlineSeconds, oldSpec.activeDeadlineSeconds)
  if (deadline.length > 0 && spec.activeDeadlineSeconds !== undefined) return deadline
  return [
    ...deadline,
    ...tolerationErrors(spec.tolerations ?? [], oldSpec.tolerations ?? []),
    ...gateErrors(spec.schedulingGates ?? [], oldSpec.schedulingGates ?? []),
    ...gatedPodErrors(spec, oldSpec),
    ...otherChanges(spec, oldSpec),
  ]
}

/** What an update of a pod's status may not do (core/validation ValidatePodStatusUpdate). */
export function validatePodStatusUpdate(pod: Pod, old: Pod): FieldError[] {
  const [status, oldStatus] = [pod.status ?? {}, old.status ?? {}]
  return [
    ...conditionErrors(status),
    ...(status.nominatedNodeName === oldStatus.nominatedNodeName
      ? []
      : checkText('dns1123-subdomain', status.nominatedNodeName, statusPath.field('nominatedNodeName'))),
    ...(['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const).flatMap((list) =>
      transitionErrors(status[list] ?? [], oldStatus[list] ?? [], list, old.spec),
    ),
    ...addressErrors(status.podIPs ?? [], statusPath.field('podIPs')),
    ...hostAddressErrors(status),
  ]
}

function deadlineErrors(seconds: number | undefined, old: number | undefined): FieldError[] {
  const path = specPath.field('activeDeadlineSeconds')
  const outOfRange = checkRange(seconds, 0, int32Max, path)
  if (outOfRange.length > 0 || old === undefined) return outOfRange
  if (seconds === undefined) return [invalidField(path, null, 'must not update from a positive integer to nil value')]
  return seconds > old ? [invalidField(path, seconds, 'must be less than or equal to previous value')] : []
}

function tolerationErrors(tolerations: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  const present = new Set(tolerations.map(tolerationIdentity))
  if (tolerations === old || old.every((before) => present.has(tolerationIdentity(before)))) return []
  const rule = 'existing toleration can not be modified except its tolerationSeconds'
  return [forbiddenField(specPath.field('tolerations'), rule)]
}

/** What tells tolerations apart, their seconds aside. */
const tolerationIdentity = ({ key = '', operator = '', value = '', effect = '' }: Toleration): string =>
  JSON.stringify([key, operator, value, effect])

function gateErrors(gates: readonly PodSchedulingGate[], old: readonly PodSchedulingGate[]): FieldError[] {
  const present = new Set(old.map(({ name }) => name))
  return gates.flatMap(({ name }, index) => {
    if (present.has(name)) return []
    const rule = `only deletion is allowed, but found new scheduling gate '${name}'`
    return [forbiddenField(specPath.field('schedulingGates').index(index).field('name'), rule)]
  })
}

/** While a pod is gated, where it may run can be narrowed: https://kep.k8s.io/3838. */
function gatedPodErrors(spec: PodSpec, old: PodSpec): FieldError[] {
  if (!isGated(old)) return []
  return [
    ...nodeSelectorErrors(spec, old),
    ...nodeAffinityErrors(spec.affinity?.nodeAffinity, old.affinity?.nodeAffinity),
  ]
}

const isGated = (spec: PodSpec): boolean => (spec.schedulingGates ?? []).length > 0

function nodeSelectorErrors({ nodeSelector = {} }: PodSpec, old: PodSpec): FieldError[] {
  const kept = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => nodeSelector[key] === value)
  if (kept) return []
  const rule = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
  return [invalidField(specPath.field('nodeSelector'), nodeSelector, rule)]
}

type NodeAffinity = Affinity['nodeAffinity']

function nodeAffinityErrors(affinity: NodeAffinity, old: NodeAffinity): FieldError[] {
  const oldTerms = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  if (oldTerms.length === 0) return []
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const path = specPath
    .field('affinity')
    .field('nodeAffinity')
    .field('requiredDuringSchedulingIgnoredDuringExecution')
    .field('nodeSelectorTerms')
  if (terms.length !== oldTerms.length) {
    return [invalidField(path, terms, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')]
  }
  return terms.flatMap((term, index) =>
    onlyAdds(term, oldTerms[index] ?? {})
      ? []
      : [invalidField(path.index(index), term, 'only additions are allowed (no mutations or deletions)')],
  )
}

/** An empty term matches nothing, so adding to it would widen it. */
function onlyAdds(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const
  if (lists.every((list) => (old[list] ?? []).length === 0)) return deepEqual(term, old)
  return lists.every((list) => (old[list] ?? []).every((before, index) => deepEqual(term[list]?.[index], before)))
}

/** Whatever differs once the changes that have rules of their own are set aside. */
function otherChanges(spec: PodSpec, old: PodSpec): FieldError[] {
  const comparable = withAllowedChanges(spec, old)
  if (deepEqual(comparable, old)) return []
  const changes = describeChanges(old, comparable)
  const rule = `pod updates may not change fields other than ${updatableFields.join(',')}`
  return [forbiddenField(specPath, [rule, ...changes].join('\n'))]
}

/** The new spec with everything that an update may change put back. */
function withAllowedChanges(spec: PodSpec, old: PodSpec): PodSpec {
  const graceMayEnd = (old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1
  return {
    ...spec,
    containers: withImagesOf(spec.containers, old.containers) ?? [],
    initContainers: withImagesOf(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
    ...(graceMayEnd ? { terminationGracePeriodSeconds: old.terminationGracePeriodSeconds } : {}),
    ...(isGated(old)
      ? { nodeSelector: old.nodeSelector, affinity: withNodeAffinityOf(spec.affinity, old.affinity) }
      : {}),
  }
}

const withImagesOf = (containers: readonly Container[] | undefined, old: readonly Container[] | undefined) =>
  containers?.map((container, index): Container => ({ ...container, image: old?.[index]?.image }))

function withNodeAffinityOf(affinity: Affinity | undefined, old: Affinity | undefined): Affinity | undefined {
  const mixed = { ...affinity, nodeAffinity: old?.nodeAffinity }
  const isEmpty = Object.values(mixed).every((each) => each === undefined)
  return isEmpty && old === undefined ? undefined : mixed
}

const systemConditions = ['PodScheduled', 'Ready', 'Initialized']

function conditionErrors({ conditions = [] }: PodStatus): FieldError[] {
  const path = FieldPath.of('metadata', 'conditions')
  return conditions.flatMap(({ type }, index) =>
    systemConditions.includes(type) ? [] : checkText('qualified-name', type, path.index(index).field('Condition')),
  )
}

const neverAgain = { restartPolicy: 'Never' } as const

type StatusList = 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses'

/** A container that has ended for good stays that way. */
function transitionErrors(
  statuses: readonly ContainerStatus[],
  old: readonly ContainerStatus[],
  list: StatusList,
  spec: PodSpec,
): FieldError[] {
  const listed = list === 'initContainerStatuses' ? spec.initContainers : spec.containers
  const containers = new Map((listed ?? []).toReversed().map((each) => [each.name, each]))
  if (list !== 'ephemeralContainerStatuses' && mayRestartAll(spec)) return []
  const running = new Set(statuses.filter(({ state }) => state?.terminated === undefined).map(({ name }) => name))
  return old.flatMap((before, index) => {
    const exitCode = before.state?.terminated?.exitCode
    if (exitCode === undefined) return []
    const container = list === 'ephemeralContainerStatuses' ? neverAgain : containers.get(before.name)
    if (restartsAfter(container ?? {}, spec, exitCode)) return []
    if (!running.has(before.name)) return []
    const path = statusPath.field(list).index(index).field('state')
    return [forbiddenField(path, 'may not be transitioned to non-terminated state')]
  })
}

interface Address {
  readonly ip: string
}

/** At most one address of each family. */
function addressErrors(addresses: readonly Address[], path: FieldPath): FieldError[] {
  const errors = addresses.flatMap(({ ip }, index) => checkTextOrEmpty('ip', ip ?? '', path.index(index)))
  if (addresses.length < 2) return errors
  const families = new Set(addresses.map(({ ip }) => (ip.includes(':') ? 6 : 4)))
  if (families.size < 2 || addresses.length > 2) {
    errors.push(invalidField(path, addresses, 'may specify no more than one IP for each IP family'))
  }
  const seen = new Set<string>()
  for (const [index, address] of addresses.entries()) {
    if (seen.has(address.ip)) errors.push(duplicateField(path.index(index), address))
    seen.add(address.ip)
  }
  return errors
}

function hostAddressErrors({ hostIP = '', hostIPs = [] }: PodStatus): FieldError[] {
  const path = statusPath.field('hostIPs')
  const [first] = hostIPs
  if (first === undefined) return []
  const errors =
    first.ip === hostIP ? [] : [invalidField(path.index(0).field('ip'), first.ip, 'must be equal to `hostIP`')]
  return [...errors, ...addressErrors(hostIPs, path)]
}
