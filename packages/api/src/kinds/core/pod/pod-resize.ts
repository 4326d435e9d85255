import { deepEqual } from '../../../equality.ts'
import { describeFieldError, type FieldError, forbiddenField, invalidField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import type { ResourceList } from '../common.ts'
import { type Container, isSidecar } from './container.ts'
import { computeQos } from './pod-qos.ts'
import type { Pod } from './pod-schema.ts'
import { validatePod } from './pod-validation.ts'
import type { ResourceRequirements } from './resources.ts'
import { mirrorAnnotation } from './validation/annotations.ts'

const specPath = FieldPath.of('spec')
const lists = ['containers', 'initContainers'] as const

/**
 * The pod with the resources of another, its own and those of its containers: all that `pods/resize` changes. Containers that are
 * others are taken as they are, for validation to refuse.
 */
export function withResizedContainers(pod: Pod, { spec }: Pod): Pod {
  const resized = (list: (typeof lists)[number]): readonly Container[] | undefined => {
    const [old = [], written = []] = [pod.spec[list], spec[list]]
    const isSame = old.length === written.length && old.every(({ name }, index) => name === written[index]?.name)
    if (!isSame) return written
    return old.map((container, index) => withResources(container, written[index] ?? container))
  }
  const initContainers =
    pod.spec.initContainers === undefined && !spec.initContainers?.length ? undefined : resized('initContainers')
  const { resources: _resources, ...others } = pod.spec
  return {
    ...pod,
    spec: {
      ...others,
      ...(spec.resources === undefined ? {} : { resources: spec.resources }),
      containers: resized('containers') ?? [],
      ...(initContainers === undefined ? {} : { initContainers }),
    },
  }
}

function withResources(container: Container, { resources, resizePolicy }: Container): Container {
  const { resources: _resources, resizePolicy: _resizePolicy, ...rest } = container
  return {
    ...rest,
    ...(resources === undefined ? {} : { resources }),
    ...(resizePolicy === undefined ? {} : { resizePolicy }),
  } as Container
}

/** What a change of resources may not do (core/validation ValidatePodResize): it is of CPU and memory alone, and takes nothing away. */
export function validatePodResize(pod: Pod, old: Pod): readonly FieldError[] {
  const unresizable = unresizableBecause(old)
  if (unresizable !== undefined) return [forbiddenField(FieldPath.root.key(''), unresizable)]
  const errors = [
    ...newErrors(pod, old),
    ...classErrors(pod, old),
    ...supportErrors(old),
    ...podLevelErrors(pod, old),
    ...nodeClaimErrors(old),
  ]
  const others = lists.flatMap((list) => identityErrors(pod.spec[list] ?? [], old.spec[list] ?? [], list))
  if (others.length > 0) return [...errors, ...others]
  return [
    ...errors,
    ...lists.toReversed().flatMap((list) =>
      (old.spec[list] ?? []).flatMap((before, index) => {
        const path = specPath.field(list).index(index).field('resources')
        return removalErrors(pod.spec[list]?.[index]?.resources, before.resources, path, 'resource')
      }),
    ),
    ...pairs(pod, old, 'containers').flatMap(({ before, after }) =>
      isOfComputeAlone(after, before) ? [] : [forbiddenField(specPath, 'only cpu and memory resources are mutable')],
    ),
    ...pairs(pod, old, 'initContainers').flatMap(({ before, after, path }) => initErrors(after, before, path)),
  ]
}

/** What is wrong with the pod and was not before: a resize need not mend anything else. */
function newErrors(pod: Pod, old: Pod): readonly FieldError[] {
  const errors = validatePod(pod)
  if (errors.length === 0) return errors
  const known = new Set(validatePod(old).map(describeFieldError))
  return errors.filter((error) => !known.has(describeFieldError(error)))
}

/** Resources of the node that came by a claim stay as they are. */
const nodeClaimErrors = ({ status }: Pod): readonly FieldError[] =>
  status?.nodeAllocatableResourceClaimStatuses?.length
    ? [forbiddenField(specPath, 'pods with node allocatable resource claims cannot be resized')]
    : []

interface Pair {
  readonly before: Container
  readonly after: Container
  readonly path: FieldPath
}

function pairs(pod: Pod, old: Pod, list: (typeof lists)[number]): readonly Pair[] {
  return (old.spec[list] ?? []).flatMap((before, index) => {
    const after = pod.spec[list]?.[index]
    return after === undefined ? [] : [{ before, after, path: specPath.field(list).index(index) }]
  })
}

function unresizableBecause({ metadata, spec }: Pod): string | undefined {
  if (metadata.annotations?.[mirrorAnnotation] !== undefined) return 'static pods cannot be resized'
  return spec.os?.name === 'windows' ? 'windows pods cannot be resized' : undefined
}

function classErrors(pod: Pod, old: Pod): readonly FieldError[] {
  const before = old.status?.qosClass ?? computeQos(old.spec)
  if (before === computeQos(pod.spec)) return []
  return [invalidField(specPath, old.status?.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing')]
}

/** A node that does not say what its containers have been given cannot change it. */
function supportErrors({ status }: Pod): readonly FieldError[] {
  const running = status?.containerStatuses?.find(({ state }) => state?.running !== undefined)
  if (running === undefined || running.resources !== undefined) return []
  return [forbiddenField(specPath, 'Pod running on node without support for resize')]
}

/** Of the resources that a pod has as a whole. */
function podLevelErrors({ spec: { resources: after } }: Pod, { spec: { resources: before } }: Pod): FieldError[] {
  const path = specPath.field('resources')
  const isSet = [after, before].some((each) => Object.keys({ ...each?.requests, ...each?.limits }).length > 0)
  if (!isSet) return []
  if (before !== undefined && after === undefined)
    return [forbiddenField(path, 'pod-level resources cannot be removed')]
  const errors = removalErrors(after, before, path, 'pod-level resource')
  if (!deepEqual(withoutEmpty(withComputeOf(after, before)), withoutEmpty(before)))
    return [...errors, forbiddenField(specPath, 'only cpu and memory resources are mutable at pod-level')]
  return [...errors]
}

function initErrors(after: Container, before: Container, path: FieldPath): readonly FieldError[] {
  const errors = isOfComputeAlone(after, before)
    ? []
    : [forbiddenField(path, 'only cpu and memory resources for init or sidecar containers are mutable')]
  if (isSidecar(after) || deepEqual(after, before)) return errors
  const restarting = (before.resizePolicy ?? []).filter(({ restartPolicy }) => restartPolicy === 'RestartContainer')
  const rule = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'
  return [...errors, ...restarting.map(() => forbiddenField(path, rule))]
}

function identityErrors(
  containers: readonly Container[],
  old: readonly Container[],
  list: (typeof lists)[number],
): readonly FieldError[] {
  const path = specPath.field(list)
  if (containers.length !== old.length) return [forbiddenField(path, `${list} may not be added or removed on resize`)]
  return old.flatMap(({ name }, index) => {
    if (containers[index]?.name === name) return []
    return [forbiddenField(path.index(index).field('name'), `${list} may not be renamed or reordered on resize`)]
  })
}

function removalErrors(
  after: ResourceRequirements | undefined,
  before: ResourceRequirements | undefined,
  path: FieldPath,
  what: string,
): readonly FieldError[] {
  return (['requests', 'limits'] as const).flatMap((of) => {
    const isRemoved = Object.keys(before?.[of] ?? {}).some((name) => after?.[of]?.[name] === undefined)
    return isRemoved ? [forbiddenField(path.field(of), `${what} ${of} cannot be removed`)] : []
  })
}

/** Whether nothing but CPU and memory is different. */
function isOfComputeAlone(after: Container, before: Container): boolean {
  const { claims: _claims, ...kept } = withComputeOf(after.resources, before.resources)
  return deepEqual(
    { ...after, resources: withoutEmpty(kept) },
    { ...before, resources: withoutEmpty(before.resources) },
  )
}

/** Resources with the CPU and memory of others: what else differs is no resize. */
function withComputeOf(
  after: ResourceRequirements | undefined,
  before: ResourceRequirements | undefined,
): ResourceRequirements {
  const mixed = (list: ResourceList | undefined, old: ResourceList | undefined): ResourceList => {
    const { cpu: _cpu, memory: _memory, ...others } = list ?? {}
    const { cpu, memory } = old ?? {}
    return { ...others, ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) }
  }
  return {
    ...after,
    requests: mixed(after?.requests, before?.requests),
    limits: mixed(after?.limits, before?.limits),
  }
}

/** Nothing is the same as none. */
function withoutEmpty(resources: ResourceRequirements = {}): ResourceRequirements {
  return Object.fromEntries(Object.entries(resources).filter(([, value]) => Object.keys(value ?? {}).length > 0))
}
