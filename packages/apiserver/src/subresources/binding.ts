import {
  ApiError,
  type Binding,
  badRequest,
  bindings,
  conflict,
  describeFieldError,
  type FieldError,
  FieldPath,
  formatTime,
  type KubernetesObject,
  type Pod,
  type PodCondition,
  type PodSpec,
  requiredField,
  type Status,
  unsupportedField,
} from '@coracle/api'
import type { Environment } from '@coracle/environment'
import { decodeBody } from '../registry/body.ts'
import type { ChangedPart } from '../registry/changed-part.ts'
import { checkNamespace } from '../registry/object-metadata.ts'
import type { ResourceRegistry } from '../registry/resource-registry.ts'
import type { RegistryWriteOptions } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import type { Subresource, SubresourceResult } from './subresource.ts'

/** What is posted has been admitted: the pod itself follows from it. */
const boundPart: ChangedPart = { subresource: 'binding', rules: 'own', isAdmitted: true }

const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/** `pods/binding`: puts a pod on a node, once. What schedulers call. */
export function bindingSubresource(registry: ResourceRegistry, environment: Environment): Subresource {
  return {
    create: (context, namespace, name, body, options) =>
      bindPod(registry, environment, { context, namespace, name, body, options, to: 'subresource' }),
  }
}

/** A request that a pod be put on a node. */
export interface BindingRequest {
  readonly context: RequestContext
  readonly namespace: string
  /** Of the pod; the binding's own where it is left out. */
  readonly name?: string
  readonly body: unknown
  readonly options: RegistryWriteOptions
  /** Where it was posted: that is what admission sees. */
  readonly to: 'subresource' | 'bindings'
}

/** Puts a pod on a node where admission lets it. */
export async function bindPod(
  registry: ResourceRegistry,
  { clock }: Environment,
  { context, namespace, name: requestedName, body, options, to }: BindingRequest,
): Promise<SubresourceResult> {
  const { object, warnings } = await decodeBody(body, {
    clock,
    definition: bindings,
    fieldValidation: options.fieldValidation,
  })
  checkNamespace(object, namespace)
  const name = requestedName ?? object.metadata.name ?? ''
  const resource =
    to === 'bindings' ? { posted: bindings, subresource: '' } : { kind: bindings, subresource: 'binding' }
  const binding = (await registry.admitPosted(context, namespace, name, {
    ...resource,
    operation: 'CREATE',
    object,
    options,
    check: (admitted) => check(admitted as Binding, name),
  })) as Binding
  const { resourceVersion = '' } = binding.metadata
  await registry.change(context, namespace, name, boundPart, options, (old) => {
    registry.checkVersion(old, binding.metadata)
    const pod = bind(old.object as Pod, binding, clock.now())
    return { object: pod, warnings, repeatable: resourceVersion === '' }
  })
  return { code: 201, value: success, warnings }
}

function check(binding: Binding, name: string): void {
  const { name: own = '' } = binding.metadata
  if (own !== name) throw badRequest('name in URL does not match name in Binding object')
  const errors = bindingErrors(binding).map(describeFieldError)
  // Upstream makes no refusal of them.
  if (errors.length > 0) throw new ApiError(500, '', errors.length === 1 ? errors.join() : `[${errors.join(', ')}]`)
  if (name === '') throw badRequest('Name parameter required.')
}

function bindingErrors({ target }: Binding): readonly FieldError[] {
  const path = FieldPath.of('target')
  const { kind = '', name = '' } = target ?? {}
  const errors: FieldError[] = []
  if (kind !== '' && kind !== 'Node') errors.push(unsupportedField(path.field('kind'), kind, ['Node', '<empty>']))
  if (name === '') errors.push(requiredField(path.field('name')))
  return errors
}

/** The pod on its node. Throws a Conflict where it cannot be bound (any more). Pure. */
export function bind(pod: Pod, { metadata, target }: Binding, nowMs: number): KubernetesObject {
  const name = pod.metadata.name ?? ''
  const refuse = (why: string) => conflict({ group: '', plural: 'pods/binding' }, name, why)
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`)
  }
  if ((pod.spec.nodeName ?? '') !== '') {
    throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`)
  }
  if ((pod.spec.schedulingGates ?? []).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`)
  const { nominatedNodeName: _nominatedNodeName, ...status } = pod.status ?? {}
  return {
    ...pod,
    metadata: withMarks(pod.metadata, metadata),
    spec: onNode(pod.spec, target.name),
    status: { ...status, conditions: scheduledConditions(pod, nowMs) },
  } as Pod
}

/** What became of desired states when their pods were last put on a node. */
const lastOnNode = new WeakMap<PodSpec, PodSpec>()

/** Pods of one template that get to one node share their desired state after that as well: what is found out about it is known of all. */
function onNode(spec: PodSpec, nodeName: string | undefined): PodSpec {
  if (nodeName === undefined || !Object.isFrozen(spec)) return { ...spec, nodeName } as PodSpec
  const last = lastOnNode.get(spec)
  if (last?.nodeName === nodeName) return last
  const made = Object.freeze({ ...spec, nodeName })
  lastOnNode.set(spec, made)
  return made
}

/** What a binding says of itself its pod says from then on. */
function withMarks(metadata: Pod['metadata'], { annotations, labels }: Binding['metadata']): Pod['metadata'] {
  if (annotations === undefined && labels === undefined) return metadata
  return {
    ...metadata,
    ...(annotations === undefined ? {} : { annotations: { ...metadata.annotations, ...annotations } }),
    ...(labels === undefined ? {} : { labels: { ...metadata.labels, ...labels } }),
  }
}

function scheduledConditions(pod: Pod, nowMs: number): readonly PodCondition[] {
  const scheduled: PodCondition = {
    type: 'PodScheduled',
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
  }
  const conditions = pod.status?.conditions ?? []
  const at = conditions.findIndex(({ type }) => type === 'PodScheduled')
  return at < 0 ? [...conditions, scheduled] : conditions.with(at, scheduled)
}
