import {
  apiVersionOf,
  deepEqual,
  describeStatusChange,
  hasReason,
  type KubernetesObject,
  type Resource,
} from '@coracle/api'
import { type DeleteOptions, metadataOf } from '@coracle/client'
import type { Action, ActionRecord, DeleteAction, Plan, RecordedObject, WriteEvents } from './plan.ts'
import type { ReconcileContext, Result } from './reconcile.ts'

/** The object as it is now; undefined where it was deleted, by this write or before it. */
type Written = KubernetesObject | undefined | 'gone already'

/** Actions under way at a time. Writes made together share one commit of the store, so this is generous. */
export const actionsParallelMax = 256

/** How much larger each batch of creations is than the one before, all of which succeeded. */
export const creationGrowth = 4

type WriteAction = Exclude<Action, { readonly type: 'event' }>

/**
 * Carries out a plan for `object`: the actions in order, then the status. Neighbouring actions of one type and resource
 * run together; after a group in which something failed the later groups are left out, because they may build on it, but for
 * chains of actions that nothing has failed in.
 * The status is written in any case unless the plan says otherwise, and what the plan waits for is waited for in any case: it may
 * have nothing to do with what failed, and be due before that is tried again. Rejects with what failed: one error as it is, several as an AggregateError.
 */
export async function performPlan<S, T extends KubernetesObject & { readonly status?: S | undefined }>(
  context: ReconcileContext<T>,
  object: T,
  plan: Plan<S>,
): Promise<Result> {
  const { actions, requeueAfterMs } = plan
  if (actions.length === 0 && plan.status === undefined)
    return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
  const performer = new Performer(context, object)
  for (const group of groupsOf(plan.actions)) {
    await performer.performGroup(group)
  }
  const isWritten = performer.errors.length === 0 || plan.isStatusOfSuccess !== true
  const hasStatus = plan.status !== undefined && isWritten
  if (hasStatus) await performer.writeStatus(plan.status, plan.annotations)
  if (performer.errors.length > 0 && plan.requeueAfterMs !== undefined) context.lookAgainAfter(plan.requeueAfterMs)
  throwErrors(performer.errors, plan.actions.length + (hasStatus ? 1 : 0))
  return plan.requeueAfterMs === undefined ? undefined : { requeueAfterMs: plan.requeueAfterMs }
}

class Performer<S, T extends KubernetesObject & { readonly status?: S | undefined }> {
  readonly errors: unknown[] = []
  /** Chains in which something has failed, or was left for the next time. */
  readonly #broken = new Set<string>()
  readonly #context: ReconcileContext<T>
  readonly #object: T
  /** The object after what the plan itself has changed about it: the status belongs to that version. */
  #latest: T

  constructor(context: ReconcileContext<T>, object: T) {
    this.#context = context
    this.#object = object
    this.#latest = object
  }

  async performGroup(all: readonly Action[]): Promise<void> {
    const group = this.errors.length === 0 ? all : all.filter(({ chain }) => this.#isWhole(chain))
    const errorsBefore = this.errors.length
    let batchMax = group[0]?.type === 'create' ? 1 : actionsParallelMax
    let from = 0
    while (from < group.length && this.errors.length === errorsBefore) {
      const batch = group.slice(from, from + Math.min(batchMax, actionsParallelMax))
      await Promise.all(batch.map((action) => this.#perform(action)))
      from += batch.length
      batchMax *= creationGrowth
    }
    for (const { chain } of group.slice(from)) this.#break(chain)
  }

  #isWhole(chain: string | undefined): boolean {
    return chain !== undefined && !this.#broken.has(chain)
  }

  #break(chain: string | undefined): void {
    if (chain !== undefined) this.#broken.add(chain)
  }

  async writeStatus(status: S, annotations: Plan<S>['annotations'] = {}): Promise<void> {
    const { annotations: present = {} } = this.#latest.metadata
    const isAnnotated = Object.entries(annotations).every(([key, value]) => present[key] === value)
    if (isAnnotated && deepEqual(this.#object.status ?? {}, status)) return
    const metadata = isAnnotated
      ? this.#latest.metadata
      : { ...this.#latest.metadata, annotations: { ...present, ...annotations } }
    const wanted = { ...this.#latest, metadata, status }
    const because = isAnnotated
      ? describeStatusChange(this.#object.status, status)
      : `annotations say what was observed: ${Object.keys(annotations).join(', ')}`
    await this.#attempt('status', this.#context.resource, this.#latest, because, () =>
      this.#context.client.update<T>(this.#context.resource, wanted, { subresource: 'status', because }),
    )
  }

  async #perform(action: Action): Promise<void> {
    if (action.type === 'event') {
      const { about = this.#object, eventType, reason, message, component } = action
      this.#context.recorder.event(about, eventType, reason, message, component === undefined ? {} : { component })
      return
    }
    const target = targetOf(action)
    const { type, resource, because, events } = action
    if (!(await this.#attempt(type, resource, target, because, () => this.#write(action), events)))
      this.#break(action.chain)
  }

  /** Does something, and says so: in the log, as an event where one is wanted, and in the causal record. Resolves to whether it is done. */
  async #attempt(
    type: ActionRecord['type'],
    resource: Resource,
    target: Pick<KubernetesObject, 'metadata'>,
    because: string,
    act: () => Promise<Written>,
    events: WriteEvents = {},
  ): Promise<boolean> {
    try {
      const written = await act()
      const isDone = written !== 'gone already'
      const shown = written === undefined || !isDone ? target : written
      this.#report(type, resource, shown, because, undefined)
      if (isDone) this.#emit(events.succeeded, 'Normal', shown, '')
      return true
    } catch (error) {
      // The object itself is gone: there is nothing left to write a status to.
      if (type === 'status' && hasReason(error, 'NotFound')) return false
      this.errors.push(error)
      this.#report(type, resource, target, because, error)
      // A namespace that is going takes all with it; telling of every object refused would only be noise.
      if (!isNamespaceTerminating(error)) {
        for (const event of [events.failed ?? []].flat()) {
          if (event.unless !== undefined && hasReason(error, event.unless)) continue
          this.#emit(event, 'Warning', target, messageOf(error))
        }
      }
      return false
    }
  }

  async #write(action: WriteAction): Promise<Written> {
    const { client } = this.#context
    const { because } = action
    switch (action.type) {
      case 'create':
        return client.create(action.resource, action.object, { because })
      case 'update':
        return this.#keep(await client.update(action.resource, action.object, { because, ...subresourceOf(action) }))
      case 'patch':
        return this.#keep(
          await client.patch(action.resource, action.key, action.patch, { because, ...subresourceOf(action) }),
        )
      case 'apply':
        return this.#keep(
          await client.apply(action.resource, action.object, {
            because,
            fieldManager: this.#context.controller,
            force: true,
            ...subresourceOf(action),
          }),
        )
      case 'delete':
        try {
          await client.delete(action.resource, action.key, {
            because,
            ...preconditionsOf(action),
            ...(action.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: action.gracePeriodSeconds }),
            ...(action.propagationPolicy === undefined ? {} : { propagationPolicy: action.propagationPolicy }),
          })
        } catch (error) {
          if (!hasReason(error, 'NotFound')) throw error
          return action.tellsIfGone === true ? undefined : 'gone already'
        }
        return undefined
    }
  }

  #keep(written: KubernetesObject): KubernetesObject {
    const isOwn = written.metadata.uid !== undefined && written.metadata.uid === this.#object.metadata.uid
    // Same identity, same kind; a scale has its object's identity but another kind.
    if (isOwn && written.kind === this.#object.kind) this.#latest = written as T
    return written
  }

  #report(
    type: ActionRecord['type'],
    resource: Resource,
    target: Pick<KubernetesObject, 'metadata'>,
    because: string,
    error: unknown,
  ): void {
    const { namespace, name, generateName, uid } = target.metadata
    const shownName = name ?? generateName ?? ''
    const fields = { kind: resource.kind, namespace, name: shownName, because }
    if (error === undefined) this.#context.logger.info(type, fields)
    else this.#context.logger.warn(`${type} failed`, { ...fields, error: messageOf(error) })
    this.#context.recordAction({
      time: this.#context.clock.now(),
      controller: this.#context.controller,
      object: recorded(this.#object, this.#context.resource),
      type,
      target: { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name: shownName, uid },
      because,
      ...(error === undefined ? {} : { error: messageOf(error) }),
    })
  }

  #emit(
    event: { readonly reason: string; readonly message: string } | undefined,
    type: 'Normal' | 'Warning',
    target: Pick<KubernetesObject, 'metadata'>,
    error: string,
  ): void {
    if (event === undefined) return
    const values: Readonly<Record<string, string>> = {
      name: target.metadata.name ?? target.metadata.generateName ?? '',
      error,
    }
    const message = event.message.replaceAll(/\{(name|error)\}/g, (_, field: string) => values[field] ?? '')
    this.#context.recorder.event(this.#object, type, event.reason, message)
  }
}

/** Neighbouring actions that may run together. */
function groupsOf(actions: readonly Action[]): readonly (readonly Action[])[] {
  const groups: Action[][] = []
  for (const action of actions) {
    const group = groups.at(-1)
    if (group?.[0] !== undefined && isAlike(group[0], action)) group.push(action)
    else groups.push([action])
  }
  return groups
}

function isAlike(a: Action, b: Action): boolean {
  if (a.type === 'event' || b.type === 'event') return a.type === b.type
  return a.type === b.type && a.resource.plural === b.resource.plural && a.resource.group === b.resource.group
}

function throwErrors(errors: readonly unknown[], actionCount: number): void {
  const [first] = errors
  if (errors.length === 0) return
  // Conflicts all mean the same, that the cache was old, and are expected as such by who runs this.
  if (errors.length === 1 || errors.every((error) => hasReason(error, 'Conflict'))) throw first
  throw new AggregateError(
    errors,
    `${errors.length} of ${actionCount} actions failed, the first with: ${messageOf(first)}`,
  )
}

function targetOf(action: WriteAction): Pick<KubernetesObject, 'metadata'> {
  switch (action.type) {
    case 'create':
    case 'update':
      return action.object
    case 'apply':
      return { metadata: metadataOf(action.object) }
    case 'patch':
      return { metadata: action.key }
    case 'delete':
      return { metadata: action.uid === undefined ? action.key : { ...action.key, uid: action.uid } }
  }
}

function recorded(object: KubernetesObject, resource: Resource): RecordedObject {
  const { namespace, name = '', uid } = object.metadata
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name, uid }
}

function preconditionsOf({ uid, resourceVersion }: DeleteAction): Pick<DeleteOptions, 'preconditions'> {
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  return Object.keys(preconditions).length === 0 ? {} : { preconditions }
}

const subresourceOf = ({ subresource }: { readonly subresource?: string | undefined }) =>
  subresource === undefined ? {} : { subresource }

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function isNamespaceTerminating(error: unknown): boolean {
  return (
    hasReason(error, 'Forbidden') &&
    error.status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true
  )
}
