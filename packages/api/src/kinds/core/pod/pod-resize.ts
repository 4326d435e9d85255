import { deepEqual } from '../../../equality.ts'
import { type FieldError, forbiddenField, invalidField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import type { ResourceList } from '../common.ts'
import type { Container } from './container.ts'
import { mirrorAnnotation } from './ephemeral-containers.ts'
import { computeQos } from './pod-qos.ts'
import type { Pod } from './pod-schema.ts'
import { validatePod } from './pod-validation.ts'
import type { ResourceRequirements } from './resources.ts'

const specPath = FieldPath.of('spec')
const lists = ['containers', 'initContainers'] as const

/**
 * The pod with the resources of another, and what these changes do to its containers: all that `pods/resize` changes. Containers that are
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
  return {
    ...pod,
    spec: {
      ...pod.spec,
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
  const others = lists.flatMap((list) => identityErrors(pod.spec[list] ?? [], old.spec[list] ?? [], list))
  if (others.length > 0) return [...validatePod(pod), ...others]
  const [qos, oldQos] = [computeQos(pod.spec), computeQos(old.spec)]
  return [
    ...validatePod(pod),
    ...old.spec.containers.flatMap((before, index) =>
      removalErrors(pod.spec.containers[index]?.resources, before.resources, specPath.field('containers').index(index)),
    ),
    ...(old.spec.initContainers ?? []).flatMap((before, index) => {
      const path = specPath.field('initContainers').index(index)
      const after = pod.spec.initContainers?.[index]
      if (before.restartPolicy === 'Always') return removalErrors(after?.resources, before.resources, path)
      if (deepEqual(after?.resources, before.resources)) return []
      return [forbiddenField(path.field('resources'), 'resources for non-sidecar init containers are immutable')]
    }),
    ...lists.flatMap((list) =>
      (old.spec[list] ?? []).flatMap((before, index) => {
        const after = pod.spec[list]?.[index]
        if (after === undefined || deepEqual(withComputeOf(after, before), before)) return []
        return [forbiddenField(specPath, 'only cpu and memory resources are mutable')]
      }),
    ),
    ...(qos === oldQos ? [] : [invalidField(specPath, qos, 'Pod QOS Class may not change as a result of resizing')]),
  ]
}

function unresizableBecause({ metadata, spec }: Pod): string | undefined {
  if (metadata.annotations?.[mirrorAnnotation] !== undefined) return 'static pods cannot be resized'
  if (spec.os?.name === 'windows') return 'windows pods cannot be resized'
  return spec.resources === undefined ? undefined : 'pods with pod-level resources cannot be resized'
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
): readonly FieldError[] {
  return (['requests', 'limits'] as const).flatMap((of) => {
    const isRemoved = Object.keys(before?.[of] ?? {}).some((name) => after?.[of]?.[name] === undefined)
    const rule = `resource ${of} cannot be removed`
    return isRemoved ? [forbiddenField(path.field('resources').field(of), rule)] : []
  })
}

/** A container with the CPU and memory of another: what else differs is no resize. */
function withComputeOf(container: Container, old: Container): Container {
  const mixed = (after: ResourceList | undefined, before: ResourceList | undefined): ResourceList | undefined => {
    const { cpu: _cpu, memory: _memory, ...others } = after ?? {}
    const { cpu, memory } = before ?? {}
    const all = { ...others, ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) }
    return Object.keys(all).length === 0 ? undefined : all
  }
  const requests = mixed(container.resources?.requests, old.resources?.requests)
  const limits = mixed(container.resources?.limits, old.resources?.limits)
  const { requests: _requests, limits: _limits, ...rest } = container.resources ?? {}
  const resources = {
    ...rest,
    ...(limits === undefined ? {} : { limits }),
    ...(requests === undefined ? {} : { requests }),
  }
  return {
    ...container,
    resources: old.resources === undefined && Object.keys(resources).length === 0 ? undefined : resources,
  } as Container
}
