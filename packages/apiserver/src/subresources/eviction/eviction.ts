import {
  badRequest,
  type Eviction,
  evictionSchema,
  FieldPath,
  invalid,
  type KubernetesObject,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  type Status,
  timeout,
  unsupportedField,
} from '@coracle/api'
import type { DeleteOptions } from '@coracle/client'
import type { Clock, Environment } from '@coracle/environment'
import type { WriteOrigin } from '../../causes/cause-note.ts'
import type { Registries } from '../../registries.ts'
import { type DecodedBody, decodeBody } from '../../registry/body.ts'
import { checkPreconditions, planDeletion } from '../../registry/deletion.ts'
import type { KindStorage } from '../../registry/kind-storage.ts'
import { alongsideLine, optimisticAttemptsMax } from '../../registry/object-change.ts'
import { checkNamespace } from '../../registry/object-metadata.ts'
import type { JointWrite } from '../../registry/object-writer.ts'
import type { ResourceRegistry } from '../../registry/resource-registry.ts'
import type { RegistryWriteOptions } from '../../registry-contract.ts'
import type { RequestContext } from '../../request.ts'
import { unfilteredSelection } from '../../watch-cache/selection.ts'
import type { StoredObject } from '../../watch-cache/stored-object.ts'
import type { Creatable } from '../subresource.ts'
import { asEvicted, budgetOf, grantEviction, needsNoBudget } from './plan.ts'

const evictionKind = { group: 'policy', version: 'v1', kind: 'Eviction', schema: evictionSchema }

const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/**
 * `pods/eviction`: deletes a pod if its disruption budget allows that. The pod is marked and the budget charged in one
 * transaction: neither happens without the other, whoever else evicts at the time.
 */
export function evictionSubresource(pods: ResourceRegistry, registries: Registries, { clock }: Environment): Creatable {
  return {
    async create(context, namespace, name, body, options) {
      const { object, warnings } = await decode(clock, body, options)
      checkNamespace(object, namespace)
      const admitted = await pods.admitPosted(context, namespace, name, {
        operation: 'CREATE',
        subresource: 'eviction',
        kind: evictionKind,
        object,
        options,
        check: ({ metadata }) => {
          if (metadata.name !== name) throw badRequest('name in URL does not match name in Eviction object')
        },
      })
      const deleteOptions = deleteOptionsOf(admitted as Eviction, options)
      await pods.current(namespace, name)
      const storages = { pods: pods.storage, budgets: registries.of(podDisruptionBudgets)?.storage }
      await evict(storages, namespace, name, deleteOptions, context, () => clock.now())
      return { code: 201, value: success, warnings }
    },
  }
}

/** Evictions of policy/v1beta1 say the same as those of policy/v1. */
async function decode(clock: Clock, body: unknown, { fieldValidation }: RegistryWriteOptions): Promise<DecodedBody> {
  const isBeta = (body as { readonly apiVersion?: unknown } | null)?.apiVersion === 'policy/v1beta1'
  const kind = isBeta ? { ...evictionKind, version: 'v1beta1' } : evictionKind
  const decoded = await decodeBody(body, { clock, definition: kind, fieldValidation })
  return isBeta ? { ...decoded, object: { ...decoded.object, apiVersion: 'policy/v1' } } : decoded
}

const policies: readonly string[] = ['Foreground', 'Background', 'Orphan']

/** A dry run may be asked for in the query and in the body, but not differently. */
function deleteOptionsOf({ deleteOptions = {} }: Eviction, { dryRun }: RegistryWriteOptions): DeleteOptions {
  const { gracePeriodSeconds, propagationPolicy, preconditions } = deleteOptions
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
      unsupportedField(FieldPath.of('propagationPolicy'), propagationPolicy, [...policies, 'nil']),
    ])
  }
  const isDry = dryRun || (deleteOptions.dryRun ?? []).length > 0
  // Whatever is absent there is absent here: the schema has checked the rest.
  return { gracePeriodSeconds, propagationPolicy, preconditions, dryRun: isDry } as DeleteOptions
}

interface Storages {
  readonly pods: KindStorage
  readonly budgets: KindStorage | undefined
}

async function evict(
  { pods, budgets }: Storages,
  namespace: string,
  name: string,
  options: DeleteOptions,
  context: RequestContext,
  now: () => number,
): Promise<void> {
  const { kind, cache, writer } = pods
  const key = cache.keyOf(namespace, name)
  const origin: WriteOrigin = { context, verb: 'delete', subresource: 'eviction', fieldManager: '' }
  // What this eviction itself has written. The budget is charged once, and the version it began with is its own to change.
  let marked: StoredObject | undefined
  const tryToEvict = async (): Promise<'done' | 'marked' | 'contended'> => {
    const old = pods.existing(namespace, name)
    const { resourceVersion: _changed, ...identity } = options.preconditions ?? {}
    checkPreconditions(kind, old.object.metadata, marked === undefined ? options.preconditions : identity)
    const charge = marked === undefined ? chargeOf(budgets, old.object as Pod, now()) : []
    if (options.dryRun === true) return 'done'
    const pod = asEvicted(old.object as Pod, now())
    const plan = planDeletion(kind, pod, options, now())
    if (plan.type === 'keep') return 'done'
    if (plan.type === 'remove' && marked !== undefined) {
      return (await writer.remove(key, old, origin)) === undefined ? 'contended' : 'done'
    }
    // Whoever watches the pod learns why it goes before it is gone.
    const stored = await writer.put(key, plan.object, old.owners, old.revision, origin, charge)
    if (stored === undefined) return 'contended'
    marked = stored
    return plan.type === 'mark' ? 'done' : 'marked'
  }
  const { turns } = pods
  const line = alongsideLine(namespace)
  let isContended = turns.isTaken(line)
  for (let attempt = 0; attempt < optimisticAttemptsMax; attempt += 1) {
    const outcome = await (isContended ? turns.take(line, tryToEvict) : tryToEvict())
    if (outcome === 'done') return
    if (outcome === 'contended') isContended = true
  }
  throw timeout(`couldn't update PodDisruptionBudget of pod ${JSON.stringify(name)} due to conflicts`, 10)
}

/** What granting an eviction changes: the budget of the pod, where it has one and counts in it. */
function chargeOf(budgets: KindStorage | undefined, pod: Pod, nowMs: number): readonly JointWrite[] {
  if (budgets === undefined || needsNoBudget(pod)) return []
  const { cache, writer } = budgets
  const { items } = cache.slice(unfilteredSelection(pod.metadata.namespace ?? ''), { limit: 0, afterKey: '' })
  const inNamespace = items.map(({ object }) => object as PodDisruptionBudget)
  const budget = budgetOf(pod, inNamespace)
  if (budget === undefined) return []
  const { namespace = '', name = '' } = budget.metadata
  const old = budgets.existing(namespace, name)
  const granted: KubernetesObject = grantEviction(budget, pod, nowMs)
  if (granted === budget) return []
  return [{ writer, key: cache.keyOf(namespace, name), old, object: granted }]
}
